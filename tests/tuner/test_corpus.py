"""The corpus: what logs tell is kept once, comes back the same, and survives accidents."""

from __future__ import annotations

import contextlib
import dataclasses
import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest
from cli_kit import Shell, make_shell
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from recipes_samples import AVX2, json_values, recipes

from loopbook.errors import CorpusError
from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.recipe import Recipe
from loopbook.tuner import corpus
from loopbook.tuner.corpus import Packed, load, pack, samples, summary
from loopbook.tuner.log import Trial, TrialLog
from loopbook.tuner.samples import MAX_MESSAGE, read_logs
from loopbook.workloads import polybench

HEADER = {
    "kernel": "gemm",
    "preset": "SMALL",
    "sizes": {"NI": 60, "NJ": 70, "NK": 80},
    "target": "sequential",
    "strategy": "evolution",
    "seed": 3,
    "hardware": AVX2.key,
}
RECIPE = Recipe.parse("tile L0 4\nvectorize L1*")


def trial(number: int, *, nest: int = 0, status: str = "ok", speedup: float = 1.5) -> Trial:
    ok = status == "ok"
    recipe = Recipe.parse(f"tile L0 {number + 2}\nvectorize L1*")
    return Trial(
        number,
        nest,
        f"fp{nest}",
        recipe,
        status,
        speedup if ok else 0.0,
        0.25 if ok else 0.0,
        "" if ok else "why",
    )


def log(path: Path, *trials: Trial, **header: object) -> Path:
    TrialLog(path, HEADER | header).add(*trials)
    return path


def lines(path: Path, *entries: object) -> Path:
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    return path


def entry(**changes: object) -> dict[str, object]:
    told = {
        "number": 0,
        "nest": 0,
        "fingerprint": "fp",
        "recipe": RECIPE.to_json(),
        "status": "ok",
        "speedup": 2.0,
        "seconds": 0.5,
    }
    return {**told, **changes}


def test_what_a_log_tells_comes_back(tmp_path):
    source = log(tmp_path / "gemm.jsonl", trial(0), trial(1, nest=1, status="crash"))
    packed = pack([source], tmp_path / "corpus", profiles={AVX2.key: AVX2})
    assert packed == Packed(added=2, known=0, skipped=0)
    first, second = samples(load(tmp_path / "corpus"))
    assert (first.kernel, first.nest, first.fingerprint) == ("gemm", 0, "fp0")
    assert (first.target, first.hardware, first.preset) == ("sequential", AVX2.key, "SMALL")
    assert HardwareProfile.from_json(json.loads(first.profile)) == AVX2
    assert (first.sizes, first.strategy, first.seed) == (HEADER["sizes"], "evolution", 3)
    assert first.recipe == trial(0).recipe
    assert (first.status, first.speedup, first.program_s) == ("ok", 1.5, 0.25)
    assert (second.status, second.message) == ("crash", "why")
    assert (second.speedup, second.before_s, second.after_s, second.program_s) == (None,) * 4


def test_what_newer_logs_tell_besides_is_kept(tmp_path):
    versions = {"docc": "0.8.1", "compiler": "clang 19", "loopbook": "0.1.0"}
    header = HEADER | {"versions": versions, "date": "2026-01-01", "profile": AVX2.to_json()}
    own = entry(number=1, before_s=0.4, after_s=0.2, code="c0de", date="2026-01-02")
    source = lines(tmp_path / "gemm.jsonl", header, entry(), own)
    pack([source], tmp_path / "corpus")
    first, second = samples(load(tmp_path / "corpus"))
    assert (first.docc, first.compiler, first.loopbook) == ("0.8.1", "clang 19", "0.1.0")
    assert (first.date, second.date) == ("2026-01-01", "2026-01-02")
    assert (second.before_s, second.after_s, second.code) == (0.4, 0.2, "c0de")
    assert json.loads(second.profile) == AVX2.to_json()


def test_one_file_for_each_hardware_and_target(tmp_path):
    folder = tmp_path / "logs"
    log(folder / "a.jsonl", trial(0))
    log(folder / "b.jsonl", trial(0), target="openmp")
    log(folder / "c.jsonl", trial(0), hardware="neon-4t-0123abcd")
    log(folder / "d.jsonl", trial(0), kernel="atax")
    assert pack([folder], tmp_path / "corpus").added == 4
    assert sorted(path.name for path in (tmp_path / "corpus").iterdir()) == [
        f"{AVX2.key}-openmp.parquet",
        f"{AVX2.key}-sequential.parquet",
        "neon-4t-0123abcd-sequential.parquet",
    ]


def test_packing_again_adds_what_is_new_and_nothing_else(tmp_path):
    source = log(tmp_path / "gemm.jsonl", trial(0))
    where = tmp_path / "corpus"
    assert pack([source, source], where) == Packed(1, 1, 0)
    file = next(where.iterdir())
    before = file.read_bytes()
    assert pack([source], where) == Packed(0, 1, 0)
    assert file.read_bytes() == before
    log(source, trial(1))
    assert pack([source], where) == Packed(1, 1, 0)
    assert load(where).num_rows == 2


def test_a_known_trial_gains_what_is_told_later_and_loses_nothing(tmp_path):
    source, where = log(tmp_path / "gemm.jsonl", trial(0)), tmp_path / "corpus"
    pack([source], where)
    assert next(samples(load(where))).profile == ""
    assert pack([source], where, profiles={AVX2.key: AVX2}) == Packed(0, 1, 0)
    pack([source], where)
    (sample,) = samples(load(where))
    assert json.loads(sample.profile) == AVX2.to_json()


def test_the_order_of_packing_does_not_matter(tmp_path):
    a = log(tmp_path / "a.jsonl", trial(0), trial(1))
    b = log(tmp_path / "b.jsonl", trial(0), trial(2), kernel="atax")
    pack([a, b], tmp_path / "ab")
    pack([b], tmp_path / "ba")
    pack([a], tmp_path / "ba")
    one, other = (next((tmp_path / name).iterdir()).read_bytes() for name in ("ab", "ba"))
    assert one == other


def test_filters_choose_rows(tmp_path):
    folder = tmp_path / "logs"
    log(folder / "a.jsonl", trial(0), trial(1, status="wrong"))
    log(folder / "b.jsonl", trial(0), kernel="atax", target="openmp")
    where = tmp_path / "corpus"
    pack([folder], where)
    assert load(where).num_rows == 3
    assert load(where, kernel="atax")["target"].to_pylist() == ["openmp"]
    assert load(where, target="sequential").num_rows == 2
    assert load(where, hardware=AVX2.key).num_rows == 3
    assert load(where, status=["wrong", "crash"]).num_rows == 1
    assert load(where, kernel="atax", status="wrong").num_rows == 0
    assert load(where, kernel=[]).num_rows == 0


def test_the_summary_counts_by_kernel_target_and_status(tmp_path):
    source = log(
        tmp_path / "gemm.jsonl",
        trial(0, speedup=3.0),
        trial(0, nest=1, speedup=9.0),
        dataclasses.replace(trial(0, speedup=2.0), number=7),  # the first one's recipe
        trial(1, status="hang"),
    )
    other = log(tmp_path / "atax.jsonl", trial(0, status="wrong"), kernel="atax")
    pack([source, other], tmp_path / "corpus")
    atax, gemm = summary(load(tmp_path / "corpus"))
    assert gemm.statuses == {"ok": 3, "hang": 1}
    assert (gemm.samples, gemm.nests, gemm.recipes, gemm.best) == (4, 2, 2, 9.0)
    assert (atax.statuses, atax.recipes, atax.best) == ({"wrong": 1}, 0, None)
    assert summary(load(tmp_path / "corpus", kernel="none")) == []


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(
            recipes,
            st.integers(1, 2**31 - 1),
            st.sampled_from(["ok", "illegal", "memory"]),
            st.floats(1e-9, 1e9),
            st.text(max_size=MAX_MESSAGE),
        ),
        max_size=4,
        unique_by=lambda told: told[1],  # a search numbers its trials
    )
)
def test_any_trials_come_back_as_they_were(tmp_path_factory, trials):
    folder = tmp_path_factory.mktemp("any")
    told = [
        Trial(number, number % 7, "fp", recipe, status, value, value / 3, text)
        for recipe, number, status, value, text in trials
    ]
    source = log(folder / "gemm.jsonl", trial(0), *told)
    pack([source], folder / "corpus")
    expected = {sample.key: sample for sample in read_logs([source], {}).samples}
    assert len(expected) >= 1
    assert {sample.key: sample for sample in samples(load(folder / "corpus"))} == expected


# Accidents and strangers


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        json_values
        | st.builds(
            lambda key, value: entry(**{key: value}), st.sampled_from(sorted(entry())), json_values
        ),
        max_size=5,
    )
)
def test_damaged_lines_are_counted_and_skipped(tmp_path_factory, middle):
    folder = tmp_path_factory.mktemp("damaged")
    damaged = [line for line in middle if not isinstance(line, dict) or "number" in line]
    source = lines(folder / "gemm.jsonl", HEADER, entry(), *damaged, entry(number=99, nest=99))
    harvest = read_logs([source], {})
    assert len(harvest.samples) + harvest.skipped == len(damaged) + 2
    pack([source], folder / "corpus")
    numbers = [sample.number for sample in samples(load(folder / "corpus")) if sample.nest == 99]
    assert 99 in numbers


def test_a_torn_line_is_skipped(tmp_path):
    source = log(tmp_path / "gemm.jsonl", trial(0), trial(1))
    source.write_bytes(source.read_bytes()[:-30])
    assert pack([source], tmp_path / "corpus") == Packed(1, 0, 1)


@pytest.mark.parametrize(
    "changes",
    [
        {"hardware": "../../etc/passwd"},
        {"hardware": "avx2/1t"},
        {"hardware": ""},
        {"target": "cuda"},
        {"sizes": {"N": 1.5}},
        {"sizes": [1]},
        {"profile": {"isa": "none"}},
        {"seed": -1},
    ],
)
def test_trials_of_a_damaged_header_are_nobodys(tmp_path, changes):
    source = lines(
        tmp_path / "a.jsonl", HEADER, entry(), {**HEADER, **changes}, entry(number=1), entry()
    )
    where = tmp_path / "corpus"
    assert pack([source], where) == Packed(1, 0, 3)
    assert [path.suffix for path in where.iterdir()] == [".parquet"]


def test_trials_after_a_torn_header_are_not_the_last_searchs(tmp_path):
    source = lines(tmp_path / "a.jsonl", HEADER, entry())
    with source.open("a") as file:
        file.write(json.dumps(HEADER | {"kernel": "atax"})[:50] + "\n")
        file.write(json.dumps(entry(number=1)) + "\n")
    assert pack([source], tmp_path / "corpus") == Packed(1, 0, 2)


def test_a_compressed_log_is_read_up_to_where_it_is_cut(tmp_path):
    whole = log(tmp_path / "gemm.jsonl", *[trial(number) for number in range(60)]).read_bytes()
    source = tmp_path / "gemm.jsonl.gz"
    source.write_bytes(gzip.compress(whole))
    assert pack([source], tmp_path / "corpus") == Packed(60, 0, 0)
    source.write_bytes(source.read_bytes()[:-9])
    packed = pack([source], tmp_path / "cut")
    assert packed.skipped >= 1
    assert packed.added + packed.skipped <= 61


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", b'{"some": "thing"}\n', "is no log of trials"),
        ("a.jsonl", b"\x7fELF\x00\x01", "is no log of trials"),
        ("a.jsonl.gz", b"plain", "not compressed by gzip"),
    ],
)
def test_what_is_no_log_is_refused(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(CorpusError, match=message):
        pack([tmp_path / name], tmp_path / "corpus")
    with pytest.raises(CorpusError, match=r"^cannot read .*: No such file or directory$"):
        pack([tmp_path / "none.jsonl"], tmp_path / "corpus")


def test_an_empty_log_holds_nothing(tmp_path):
    (tmp_path / "a.jsonl").touch()
    assert pack([tmp_path / "a.jsonl"], tmp_path / "corpus") == Packed(0, 0, 0)


def test_no_corpus_is_one_line(tmp_path):
    with pytest.raises(CorpusError, match="there is no corpus at"):
        load(tmp_path)


@pytest.fixture(scope="module")
def good(tmp_path_factory) -> bytes:
    folder = tmp_path_factory.mktemp("good")
    source = log(folder / "gemm.jsonl", *[trial(number) for number in range(20)])
    pack([source], folder / "corpus")
    return next((folder / "corpus").iterdir()).read_bytes()


def test_a_truncated_file_is_one_line_and_is_not_overwritten(tmp_path, good):
    source = log(tmp_path / "gemm.jsonl", trial(0))
    pack([source], tmp_path / "corpus")
    (file,) = (tmp_path / "corpus").iterdir()
    for length in (0, 3, len(good) // 2, len(good) - 1):
        file.write_bytes(good[:length])
        with pytest.raises(CorpusError, match="is damaged: restore it") as caught:
            load(file.parent)
        assert "\n" not in str(caught.value)
        with pytest.raises(CorpusError):
            pack([source], file.parent)
        assert file.read_bytes() == good[:length]


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(place=st.floats(0, 1, exclude_max=True), bits=st.integers(1, 255))
def test_a_flipped_bit_is_found_or_harmless(tmp_path, good, place, bits):
    """Pages have checksums; in the footer, a flip may hit what nobody reads."""
    spoilt = bytearray(good)
    spoilt[int(place * len(good))] ^= bits
    (tmp_path / "good.parquet").write_bytes(good)
    expected = load(tmp_path)
    (tmp_path / "good.parquet").write_bytes(spoilt)
    found = None
    with contextlib.suppress(CorpusError):
        found = load(tmp_path)
    assert found is None or found.equals(expected)


def test_parquet_of_another_make_is_refused(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"kernel": ["gemm"]}), tmp_path / "a.parquet")
    with pytest.raises(CorpusError, match="is no file of a corpus"):
        load(tmp_path)
    marked = corpus.schema().with_metadata({b"loopbook.corpus": b"0"})
    pq.write_table(marked.empty_table(), tmp_path / "a.parquet")
    with pytest.raises(CorpusError, match="another version"):
        load(tmp_path)


def test_a_full_disk_leaves_the_old_file(tmp_path):
    pack([log(tmp_path / "a.jsonl", trial(0))], tmp_path / "corpus")
    (file,) = (tmp_path / "corpus").iterdir()
    before = file.read_bytes()
    more = log(tmp_path / "b.jsonl", *[trial(number) for number in range(50)], kernel="atax")
    code = (
        "import resource, sys\nfrom pathlib import Path\n"
        "from loopbook.errors import CorpusError\n"
        "from loopbook.tuner.corpus import pack\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))\n"
        "try: pack([Path(sys.argv[1])], Path(sys.argv[2]))\n"
        "except CorpusError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, more, file.parent], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"cannot write {file}: File too large\n"
    assert [path.read_bytes() for path in file.parent.iterdir()] == [before]


def test_what_a_kill_left_half_written_is_no_part_of_the_corpus(tmp_path, good):
    source = log(tmp_path / "a.jsonl", trial(0))
    pack([source], tmp_path / "corpus")
    (file,) = (tmp_path / "corpus").iterdir()
    (file.parent / f".{file.name}.new").write_bytes(good[:99])
    assert load(file.parent).num_rows == 1
    assert pack([log(source, trial(1))], file.parent).added == 1
    assert load(file.parent).num_rows == 2


def test_two_that_pack_at_once_lose_nothing(tmp_path):
    logs = [log(tmp_path / f"{n}.jsonl", *[trial(i) for i in range(20)], seed=n) for n in range(4)]
    code = (
        "import sys\nfrom pathlib import Path\nfrom loopbook.tuner.corpus import pack\n"
        "pack([Path(sys.argv[1])], Path(sys.argv[2]))\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", code, source, tmp_path / "corpus"])
        for source in logs
    ]
    assert [one.wait(600) for one in running] == [0] * 4
    assert load(tmp_path / "corpus").num_rows == 80


# The corpus that comes with the repository, and the command line


def test_the_corpus_in_the_repository_is_whole():
    table = load()
    assert table.num_rows >= 1000
    groups = summary(table)
    assert {group.kernel for group in groups} >= set(polybench.names())
    assert {group.target for group in groups} == {"sequential", "openmp"}
    assert sum(path.stat().st_size for path in corpus.CORPUS.iterdir()) < 40e6
    for sample in samples(table.slice(0, 500)):
        assert sample.recipe.text() == sample.steps
        assert HardwareProfile.from_json(json.loads(sample.profile)).key == sample.hardware


@pytest.fixture
def shell(tmp_path, monkeypatch, capfd) -> Shell:
    return make_shell(tmp_path, monkeypatch, capfd)


def test_the_logs_beside_the_book_are_packed_with_its_hardware(shell):
    import client_kit as kit

    kit.fill(shell.folder / "own.db", [kit.record(kit.product, kit.SIMPLE, hardware=AVX2)])
    log(shell.folder / "own-trials" / "gemm-sequential.jsonl", trial(0), trial(1, status="wrong"))
    where = shell.folder / "corpus"
    told = shell("corpus", "pack", where).good().out
    assert told == "2 candidates added, 0 were there already\n"
    told = shell("corpus", "pack", where, "--json").good().document
    assert told == {"added": 0, "known": 2, "skipped": 0}
    told = shell("corpus", "info", "--corpus", where, "--json").good().document
    assert (told["samples"], told["statuses"]) == (2, {"ok": 1, "wrong": 1})
    assert told["groups"][0]["best"] == 1.5
    text = shell("corpus", "info", "--corpus", where).good().out
    assert "gemm" not in text
    assert "all  2 candidates of 1 kernels (1 ok, 1 wrong)\n" in text
    assert "gemm" in shell("corpus", "info", "--corpus", where, "--kernel", "gemm").good().out
    assert json.loads(next(samples(load(where))).profile) == AVX2.to_json()


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz"])
def test_an_export_has_a_line_for_each_candidate(shell, name):
    where = shell.folder / "corpus"
    source = log(shell.folder / "gemm.jsonl", trial(0), trial(1, status="wrong"))
    shell("corpus", "pack", where, source).good()
    out = shell.folder / name
    words = ["corpus", "export", out, "--corpus", where, "--status", "ok"]
    assert shell(*words).good().out == "1 candidates exported\n"
    content = gzip.decompress(out.read_bytes()) if out.suffix == ".gz" else out.read_bytes()
    (line,) = content.splitlines()
    assert json.loads(line) == dataclasses.asdict(next(samples(load(where, status="ok"))))


def test_mistakes_on_the_command_line_are_one_line(shell):
    assert "there is no corpus at" in shell("corpus", "info", "--corpus", shell.folder).refusal()
    assert "cannot read" in shell("corpus", "pack", shell.folder / "corpus").refusal()
    missing = shell.folder / "none.db"
    message = shell("corpus", "pack", shell.folder / "c", "--book", missing).refusal()
    assert message == f"there is no book at {missing}"
    out = shell.folder / "no" / "folder.jsonl"
    assert "cannot write" in shell("corpus", "export", out).refusal()
