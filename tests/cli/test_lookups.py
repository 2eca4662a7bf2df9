"""nearest, explain, optimize, bench, hardware and workloads on small programs."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time

import client_kit as kit
import pytest
from cli_kit import ATTENTION, PRODUCT, Shell, make_shell, run_program

from loopbook.cli import main, style
from loopbook.cli.benching import remarks
from loopbook.recipes.book import Book
from loopbook.sdfg import program
from loopbook.toolchain.blas import has_tuned_blas


@pytest.fixture
def shell(tmp_path, monkeypatch, capfd) -> Shell:
    """The user's book knows a blocked matrix product and a stencil."""
    shell = make_shell(tmp_path, monkeypatch, capfd)
    records = [
        kit.record(kit.product, kit.blocked(), 20.0),
        kit.record(kit.stencil, "", 1.0),
    ]
    kit.fill(tmp_path / "own.db", records)
    return shell


def test_nearest_finds_the_product_for_an_sdfg_and_for_a_workload(shell):
    sdfg = shell.file("renamed.json", kit.text_of(kit.product_renamed))
    told = shell("nearest", sdfg, "--json").good().document
    assert told["program"] == "renamed"
    near = told["nests"][0]["neighbours"][0]
    assert (near["kernel"], near["distance"], near["speedup"]) == ("product", 0.0, 20.0)
    assert near["recipe"].startswith("tile L0 4\n")

    workload = shell.file("bad_order.py", PRODUCT)
    told = shell("nearest", workload, "--json", "-k", "2").good().document
    near, far = told["nests"][0]["neighbours"]
    assert (near["kernel"], far["kernel"]) == ("product", "stencil")
    assert near["distance"] == 0, "it does the same in another order"
    assert far["distance"] > 0.2


def test_nearest_for_people(shell):
    sdfg = shell.file("renamed.json", kit.text_of(kit.product_renamed))
    lines = shell("nearest", sdfg).good().out.splitlines()
    assert lines[0].startswith("nest 0  loops ")
    assert lines[1].split() == ["record", "nest", "away", "machine", "gain", "recipe"]
    record, nest, away, *_ = lines[3].split()
    assert (nest, away) == ("product:0", "0.000")
    assert "▲ 20.00×" in lines[3]
    assert max(map(len, lines)) <= 80
    with Book.open(shell.folder / "own.db", readonly=True) as book:
        assert book.record_like(record).nest == "product:0"


def test_records_that_say_the_same_are_shown_once(shell):
    same = kit.record(kit.product, kit.blocked(), 10.0)
    kit.fill(shell.folder / "own.db", [same])
    sdfg = shell.file("renamed.json", kit.text_of(kit.product_renamed))
    near = shell("nearest", sdfg, "--json").good().document["nests"][0]["neighbours"]
    recipes = [one["recipe"] for one in near if one["distance"] == 0]
    lines = shell("nearest", sdfg).good().out.splitlines()
    assert len([line for line in lines if "product:0" in line]) == len(set(recipes))


def test_excluded_kernels_and_other_targets_are_not_found(shell):
    sdfg = shell.file("renamed.json", kit.text_of(kit.product_renamed))
    told = shell("nearest", sdfg, "--exclude", "product", "--json").good().document
    kernels = {near["kernel"] for near in told["nests"][0]["neighbours"]}
    assert "product" not in kernels
    assert "stencil" in kernels
    told = shell("nearest", sdfg, "--target", "openmp", "--json").good().document
    kernels = {near["kernel"] for near in told["nests"][0]["neighbours"]}
    assert not kernels & {"product", "stencil"}


def test_explain_shows_neighbour_steps_and_code(shell):
    workload = shell.file("bad_order.py", PRODUCT)
    told = shell("explain", workload, "--json").good().document
    (nest,) = told["nests"]
    assert (nest["tier"], nest["neighbour"]) == ("near", "product:0")
    assert "tile " in nest["recipe"]
    assert told["before"] != told["after"]

    assert (told["line"], told["sizes"], nest["line"]) == (11, {"N": 40}, 12)
    text = shell("explain", workload).good().out
    assert text.startswith("bad_order  M (N=40), sequential\n")
    assert f"{workload}:11" in text.replace("\n", "")
    assert "ported from product:0 at distance" in text
    tried = f"'bench' measures recipes before it takes one ({nest['choices']} for nest 0)"
    assert tried in " ".join(text.split())
    assert "--- docc +++ loopbook" in text
    assert re.search(r"… \d+ lines that stay", text)
    assert re.search(r"… \d+ more lines \(--full shows them", text)
    assert len(text.splitlines()) <= style.LINES
    assert max(map(len, text.splitlines())) <= style.WIDTH
    full = shell("explain", workload, "--full").good().out
    assert len(full.splitlines()) > style.LINES
    assert "more lines" not in full
    text = shell("explain", workload, "--no-code").good().out
    assert "+++" not in text


def test_explain_colours_what_changes(shell, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    text = shell("explain", shell.file("bad_order.py", PRODUCT)).good().out
    assert "\x1b[32m+ " in text
    assert "\x1b[31m- " in text


def test_explain_writes_a_page_that_needs_nothing_else(shell):
    workload, page = shell.file("bad_order.py", PRODUCT), shell.folder / "out.html"
    shell("explain", workload, "--html", page).good()
    text = page.read_text()
    assert "bad_order" in text
    assert "ported from product:0" in text
    assert 'class="diff_add"' in text
    assert "http" not in text
    message = shell("explain", workload, "--html", shell.folder).refusal()
    assert message == f"cannot write {shell.folder}: it is a folder"


def test_explain_without_a_neighbour_says_that_docc_decides(shell):
    workload = shell.file("bad_order.py", PRODUCT)
    answer = shell("explain", workload, "--exclude", "product", "--exclude", "stencil").good()
    assert "docc's own" in answer.out
    assert "the generated C++ is docc's own" in answer.out


def test_optimize_writes_an_sdfg_that_docc_reads(shell):
    sdfg = shell.file("renamed.json", kit.text_of(kit.product_renamed))
    out = shell.folder / "out.json"
    told = shell("optimize", sdfg, "--out", out, "--json").good().document
    assert [nest["tier"] for nest in told["nests"]] == ["exact"]
    program.parse(out.read_text())
    assert json.loads(out.read_text()) != json.loads(sdfg.read_text())
    assert sorted(p.name for p in shell.folder.glob("*.partial*")) == []

    lines = shell("optimize", sdfg, "--out", out).good().out.splitlines()
    assert lines[0].split() == ["nest", "recipe", "expected", "of"]
    assert re.match(r"0 +tile L0 4; .* more +▲ 20.00× +product:0$", lines[2])
    assert lines[3] == f"written: {out}"


def test_optimize_without_a_file_says_that_nothing_is_written(shell):
    sdfg = shell.file("renamed.json", kit.text_of(kit.product_renamed))
    answer = shell("optimize", sdfg)
    assert answer.code == 0
    assert answer.err == "nothing was written: name a file with --out\n"


def test_bench_prints_one_object_for_each_kernel(shell):
    workload = shell.file("bad_order.py", PRODUCT)
    words = ["bench", workload, "mvt", "--seconds", "0.05", "--no-measure", "--size", "N=20"]
    first, second = shell(*words, "--json").good().document
    assert list(first) == [
        "kernel",
        "preset",
        "target",
        "baseline_s",
        "optimized_s",
        "speedup",
        "correct",
        "nests",
        "reference",
        "reference_preset",
        "reference_sizes",
        "docc_wrong",
        "lowered",
        "baseline",
        "python_s",
        "python_speedup",
        "fastest",
    ]
    assert (first["kernel"], first["preset"], first["target"]) == ("bad_order", "M", "sequential")
    assert (second["kernel"], second["preset"]) == ("mvt", "MEDIUM")
    assert first["correct"] is second["correct"] is True
    assert (first["reference"], first["reference_sizes"]["N"]) == ("python", 20)
    assert first["docc_wrong"] is second["docc_wrong"] is False
    assert first["speedup"] == pytest.approx(first["baseline_s"] / first["optimized_s"])
    (nest,) = first["nests"]
    assert (nest["tier"], nest["neighbour"]) == ("near", "product:0")
    assert len(second["nests"]) == 2


def test_bench_for_people_measuring_on_the_spot(shell):
    workload = shell.file("bad_order.py", PRODUCT)
    answer = shell("bench", workload, "--preset", "S", "--seconds", "0.05").good()
    heads, line, *more = answer.out.splitlines()
    assert heads.split() == ["kernel", "size", "docc", "Python", "loopbook", "gain", "numbers"]
    assert line.split()[:2] == ["bad_order", "S"]
    assert line.endswith("✓ right")
    assert max(map(len, (heads, line, *more))) <= style.WIDTH


def test_arrays_are_looked_up_and_benched_as_loops(shell, monkeypatch):
    monkeypatch.delenv("LOOPBOOK_LIBRARIES")
    arrays = PRODUCT[: PRODUCT.index("    for col")] + "    out[:] = left @ right\n"
    workload = shell.file("arrays.py", arrays)
    told = shell("nearest", workload, "--json").good().document
    near = [nest["neighbours"][0] for nest in told["nests"]]
    assert ("product", 0.0) in [(one["kernel"], one["distance"]) for one in near]
    told = shell("explain", workload, "--json").good().document
    assert (told["lowered"], told["not_lowered"]) == (True, "")
    product = next(nest for nest in told["nests"] if len(nest["loops"]) == 3)
    assert product["tier"] == ("library" if has_tuned_blas() else "exact")
    assert "as explicit loops" in shell("explain", workload, "--no-code").good().out

    attention = shell.file("attention.py", ATTENTION)
    words = ["bench", attention, "--seconds", "0.05", "--no-measure", "--preset", "S"]
    lines = shell(*words).good().out.splitlines()
    assert lines[1].split()[:2] == ["attention", "S"]
    assert lines[1].endswith("✓ right")
    said = " ".join(" ".join(lines).split())
    assert (
        "docc is wrong here, Python says, at S: attention.py:12: docc loses the transpose" in said
    )
    assert "compared with docc's schedule of the same loops" in said


def test_bench_says_when_python_is_the_fastest():
    told = {"fastest": "python", "docc_wrong": False, "correct": True, "baseline": "docc"}
    assert [*remarks(told)] == ["Python (NumPy) itself is the fastest here"]
    assert [*remarks(told | {"fastest": "docc"})] == []


def test_what_has_neither_loops_nor_docc_is_refused_in_one_line(shell):
    arrays = PRODUCT[: PRODUCT.index("    for col")] + "    out[:] = np.linalg.svd(left)[0]\n"
    workload = shell.file("svd.py", arrays)
    for words in (["explain"], ["nearest"], ["tune", "--trials", "1"]):
        message = shell(words[0], workload, *words[1:]).refusal()
        assert message.startswith("docc cannot parse kernel: ")
        assert "svd.py:12: np.linalg.svd()" in message


def test_bench_times_python_where_nothing_else_can_be_served(shell):
    arrays = PRODUCT[: PRODUCT.index("    for col")]
    foreign = shell.file("svd.py", arrays + "    out[:] = np.linalg.svd(left)[0]\n")
    words = ["--preset", "S", "--seconds", "0.05"]
    told = shell("bench", foreign, *words, "--json").good().document
    assert (told["baseline"], told["fastest"], told["speedup"]) == ("python", "python", 1.0)
    assert told["optimized_s"] == told["python_s"] > 0
    assert "svd.py:12: np.linalg.svd()" in told["not_lowered"]
    said = " ".join(shell("bench", foreign, *words).good().out.split())
    assert "it runs as Python: " in said

    raises = shell.file("raises.py", arrays + "    np.linalg.svd(left[:0, 0])\n")
    assert "raises fails as Python: LinAlgError" in shell("bench", raises, *words).refusal()


def test_bench_tells_its_stages_and_keeps_nothing_when_it_is_stopped(shell, capfd):
    """What is said on stderr while Python sleeps in the kernel, and after Ctrl-C."""
    slow = PRODUCT.replace("    for col", "    np.linalg.svd(left)\n    time.sleep(9)\n    for col")
    workload = shell.file("slow.py", "import time\n" + slow)
    interrupts = signal.signal(signal.SIGINT, signal.default_int_handler)

    def interrupt() -> None:
        time.sleep(3)
        os.kill(os.getpid(), signal.SIGINT)

    user = threading.Thread(target=interrupt)
    user.start()
    try:
        code = main(["bench", str(workload), "--preset", "S", "--json"])
    finally:
        user.join()
        signal.signal(signal.SIGINT, interrupts)
    out, err = capfd.readouterr()
    assert (code, out) == (130, "")
    *stages, last = err.splitlines()
    assert any("slow S sequential, 1 of " in stage for stage in stages), err
    assert last == "loopbook: stopped"


def test_bench_goes_on_after_a_kernel_that_fails(shell):
    broken = shell.file("broken.py", PRODUCT.replace("+= left[row, mid]", "+= str(mid)"))
    works = shell.file("works.py", PRODUCT)
    answer = shell("bench", broken, works, "--seconds", "0.05", "--no-measure", "--json")
    assert answer.code == 1
    assert [told["kernel"] for told in answer.document] == ["works"]
    assert answer.err.startswith("loopbook: broken: ")
    assert answer.err.count("\n") == 1


def test_hardware(shell):
    told = shell("hardware", "--json", "--no-measured").good().document
    assert told["threads"] == 1
    assert told["cores"] >= 1
    assert "clang" in told["compiler"]
    assert "compiler" in shell("hardware", "--no-measured").good().out


def test_workloads(shell):
    words = ["workloads", "mvt", "--target", "sequential"]
    told = shell(*words, "--json").good().document
    assert told == [{"kernel": "mvt", "target": "sequential", "ok": True, "reason": ""}]
    heads, _, row, _, last = shell(*words).good().out.splitlines()
    assert (heads.split(), row.split()) == (["kernel", "sequential"], ["mvt", "✓"])
    assert last == "✓ 1 of 1 are right"


def test_the_program_and_the_module_are_the_same_command(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "loopbook", "--help"], capture_output=True, text=True, check=True
    )
    for command in ("tune", "seed", "nearest", "optimize", "bench", "explain", "book", "hardware"):
        assert command in done.stdout
    sdfg = tmp_path / "renamed.json"
    sdfg.write_text(kit.text_of(kit.product_renamed))
    kit.fill(tmp_path / "own.db", [kit.record(kit.product, kit.blocked(), 20.0)])
    told = run_program(tmp_path, ["nearest", sdfg, "--json"]).good().document
    assert told["nests"][0]["neighbours"][0]["kernel"] == "product"
