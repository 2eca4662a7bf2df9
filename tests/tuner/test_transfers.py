"""Transfers: which recipes are tried, what is kept of it, and that a kill loses next to nothing."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from random import Random

import client_kit as kit
import numpy as np
import pytest
from cli_kit import Shell, make_shell
from hypothesis import given
from hypothesis import strategies as st
from tuner_kit import task

from loopbook.errors import CorpusError, DeadlineError, KernelError, LoopbookError, WrongResultError
from loopbook.program.load import load_json
from loopbook.program.nests import read_nests
from loopbook.recipes.hardware import read
from loopbook.recipes.recipe import Recipe
from loopbook.steps import Step
from loopbook.tuner.parquet import rows_of
from loopbook.tuner.transfers import corpus
from loopbook.tuner.transfers.donors import MISFITS, SHARES, Donor, Donors, family_of
from loopbook.tuner.transfers.log import TransferLog
from loopbook.tuner.transfers.measure import Done, Job, Plan, claimed, left_out, measure
from loopbook.tuner.transfers.rows import OWN, Pair, Place, Unit, failure_of, outcome_of

UNIT = Unit("gemm", "polybench", "gemm", "SMALL", {"N": 9}, "sequential", 0, "p1", "d", "c", "l")
MACHINE = read(1)


def pair(number: int = 0, **changes) -> Pair:
    made = Pair(
        nest=0,
        fingerprint="target",
        donor=f"other:{number}",
        donor_fingerprint=f"fp{number}",
        record=f"record{number}",
        donor_hardware="avx2-1t-00000000",
        drawn="near",
        recipe="tile L0 4",
        ported="tile L1 4",
        dropped="",
        hardware="avx2-1t-00000000",
        isa="avx2",
        threads=1,
        cpu="Some CPU",
        outcome="faster",
        speedup=2.0,
        baseline_s=0.2,
        tuned_s=0.1,
        runs=5,
        date="2026-01-01T00:00:00+00:00",
    )
    return replace(made, **changes)


def folder_of(path: Path, *pairs: Pair, unit: Unit = UNIT) -> Path:
    log = TransferLog(path / f"{unit.program}.jsonl")
    log.begin(unit)
    log.place(Place(0, "target", 1.0, {"L0": 9}), "{}")
    log.pairs(pairs)
    return path


# Donors


@pytest.fixture(scope="module")
def donors() -> Donors:
    """Of five nests, some with several recipes."""
    made = []
    for kernel in (kit.product, kit.product_permuted, kit.product_transposed, kit.stencil):
        for size in (2, 4, 8):
            made.append(_donor(kit.record(kernel, f"tile L0 {size}")))
    made.append(_donor(kit.record(kit.chain, kit.SIMPLE, position=1)))
    return Donors(made)


def _donor(record) -> Donor:
    nest = read_nests(load_json(record.nest_json))[0]
    return Donor(record, nest, kit.encoder().encode(nest))


def draw(donors: Donors, count: int, seed: int = 0, fits=lambda donor: True):
    (nest,) = kit.nests_of(kit.product_renamed)
    embedding = kit.encoder().encode(nest)
    return nest, donors.draw(nest, embedding, "mine", count, Random(seed), fits)


def test_nobody_donates_to_the_same_nest(donors):
    nest, drawn = draw(donors, 100)
    assert len(drawn) == len(donors) - 3  # `product` is the same nest with other names
    assert all(donor.record.fingerprint != nest.fingerprint for _, donor in drawn)
    assert {donor.record.kernel for donor in donors.own(nest)} == {"product"}
    assert {why for why, _ in drawn} <= set(SHARES)


def test_nobody_is_drawn_twice_and_seeds_decide(donors):
    _, drawn = draw(donors, 6)
    ids = [donor.record.id for _, donor in drawn]
    assert len(set(ids)) == len(ids) == 6
    assert drawn == draw(donors, 6)[1]
    assert any(draw(donors, 6, seed)[1] != drawn for seed in range(1, 5))


def test_the_nearest_and_the_rarest_kinds_are_among_the_drawn(donors):
    nest, drawn = draw(donors, 5)
    here = kit.encoder().encode(nest).nest

    def away(donor: Donor) -> float:
        return float(np.linalg.norm(donor.embedding.nest - here))

    everybody = [donor for _, donor in draw(donors, 100)[1]]
    near = [away(donor) for why, donor in drawn if why == "near"]
    assert sorted(near) == pytest.approx(sorted(map(away, everybody))[:2])
    assert any("vectorize" in donor.record.recipe.text() for _, donor in drawn)


def test_few_are_drawn_whose_recipes_cannot_be_ported(donors):
    _, drawn = draw(donors, 6, fits=lambda donor: donor.record.kernel != "stencil")
    assert sum(donor.record.kernel == "stencil" for _, donor in drawn) == MISFITS
    assert len(drawn) == 6 + MISFITS


def test_families_are_those_of_synthetic_programs():
    assert family_of("stencil.1.star.4.field") == "stencil"
    assert family_of("gemm") == "gemm"
    assert family_of("unheard.of") == "unheard.of"


# Rows


def test_outcomes():
    assert [outcome_of(gain) for gain in (0.5, 0.95, 1.0, 1.04, 1.05, 9.0)] == [
        "slower", "slower", "same", "same", "faster", "faster",
    ]  # fmt: skip
    kinds = {WrongResultError: "wrong", DeadlineError: "hang", KernelError: "crash"}
    assert {kind: failure_of(kind("x")) for kind in kinds} == kinds
    assert failure_of(LoopbookError("x")) == "error"


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=8))
def test_what_was_left_out_is_what_is_missing(chosen):
    steps = [Step("tile", (f"L{number}", 2)) for number, _ in enumerate(chosen)]
    kept = [step for step, (_, keep) in zip(steps, chosen, strict=True) if keep]
    assert [*left_out(steps, kept)] == [step for step in steps if step not in kept]


# Logs


def test_a_torn_line_is_skipped(tmp_path):
    log = TransferLog(folder_of(tmp_path, pair(0)) / "gemm.jsonl")
    with log.path.open("a") as file:
        file.write('{"pair": {"nest": 0, "hardw')
    again = TransferLog(log.path)
    assert again.measured(0, "avx2-1t-00000000")
    assert not again.measured(1, "avx2-1t-00000000")
    again.pairs([pair(1, nest=1)])
    assert TransferLog(log.path).measured(1, "avx2-1t-00000000")
    assert corpus.pack([tmp_path], tmp_path / "out").added == 2


def test_a_log_is_done_only_for_the_machines_it_says(tmp_path):
    log = TransferLog(folder_of(tmp_path) / "gemm.jsonl")
    assert not log.done(["a"])
    log.finish(["a", "b"])
    again = TransferLog(log.path)
    assert again.done(["a"])
    assert not again.done(["a", "c"])


# The corpus


def test_pairs_come_back_as_they_were(tmp_path):
    failed = pair(
        1, outcome="wrong", speedup=None, baseline_s=None, tuned_s=None, runs=0, message="why"
    )
    logs = folder_of(tmp_path / "logs", pair(0), failed)
    packed = corpus.pack([logs], tmp_path / "out")
    assert packed == corpus.Packed(2, 0)
    table = corpus.load(tmp_path / "out")
    expected = [asdict(UNIT) | asdict(one) for one in (pair(0), failed)]
    assert sorted(rows_of(table), key=lambda row: row["record"]) == expected
    assert corpus.pack([logs], tmp_path / "out") == corpus.Packed(0, 2)
    assert corpus.load(tmp_path / "out").equals(table)
    assert corpus.load(tmp_path / "out", outcome="wrong").num_rows == 1
    (group,) = corpus.summary(table)
    assert (group.pairs, group.outcomes) == (2, {"faster": 1, "wrong": 1})
    assert (group.programs, group.nests, group.donors) == (1, 1, 2)


def test_the_best_of_a_place_is_the_best_of_pairs_and_own_records(tmp_path):
    logs = folder_of(tmp_path / "logs", pair(0), pair(1, speedup=1.5))
    corpus.pack([logs], tmp_path / "out")
    (place,) = rows_of(corpus.side("places", tmp_path / "out"))
    assert (place["best"], place["best_from"], place["best_steps"]) == (2.0, "pair", "tile L1 4")
    assert (place["baseline_s"], place["trips"]) == (0.2, {"L0": 9})
    log = TransferLog(logs / "gemm.jsonl")
    log.pairs([pair(2, drawn=OWN, speedup=3.0, ported="vectorize L0")])
    corpus.pack([logs], tmp_path / "out")
    (place,) = rows_of(corpus.side("places", tmp_path / "out"))
    assert (place["best"], place["best_from"], place["best_steps"]) == (3.0, OWN, "vectorize L0")
    assert corpus.load(tmp_path / "out").num_rows == 2
    assert corpus.load(tmp_path / "out", own=True).num_rows == 1


def test_where_nothing_is_faster_docc_is_best(tmp_path):
    corpus.pack([folder_of(tmp_path / "logs", pair(0, speedup=0.5))], tmp_path / "out")
    (place,) = rows_of(corpus.side("places", tmp_path / "out"))
    assert (place["best"], place["best_from"], place["best_steps"]) == (1.0, "docc", "")


def test_mistakes_are_one_line(tmp_path):
    with pytest.raises(CorpusError, match="there are no transfers at"):
        corpus.load(tmp_path)
    with pytest.raises(CorpusError, match="there are no logs of transfers in"):
        corpus.pack([tmp_path / "none"], tmp_path / "out")
    corpus.pack([folder_of(tmp_path / "logs", pair(0))], tmp_path / "out")
    (file,) = (tmp_path / "out").glob("pairs-*")
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(CorpusError, match="is damaged"):
        corpus.load(tmp_path / "out")


def test_the_transfers_in_the_repository_are_whole():
    table = corpus.load()
    groups = corpus.summary(table)
    assert {group.hardware.partition("-")[0] for group in groups} == {"sse2", "avx2", "avx512"}
    places = {(r["program"], r["nest"]) for r in rows_of(corpus.side("places"))}
    nests = {row["fingerprint"] for row in rows_of(corpus.side("nests"))}
    donors = {row["record"] for row in rows_of(corpus.side("donors"))}
    for row in rows_of(table):
        assert (row["program"], row["nest"]) in places
        assert {row["fingerprint"], row["donor_fingerprint"]} <= nests
        assert row["fingerprint"] != row["donor_fingerprint"]
        assert row["record"] in donors
        assert (row["speedup"] is None) == (row["outcome"] not in ("faster", "same", "slower"))
    size = sum(path.stat().st_size for path in corpus.FOLDER.parent.rglob("*.parquet"))
    assert size < 40e6


# Measuring


@pytest.fixture(scope="module")
def job(tmp_path_factory) -> Job:
    return Job(task(tmp_path_factory.mktemp("job"), name="mine"), "test", ("S", "M"), 0.0)


@pytest.fixture(scope="module")
def givers() -> Donors:
    """Two recipes that suit the product, one that docc refuses, and one that cannot be ported."""
    return Donors(
        [
            _donor(kit.record(kit.product, kit.SIMPLE)),
            _donor(kit.record(kit.product_permuted, "interchange L1 L2\nvectorize L2")),
            _donor(kit.record(kit.product_transposed, "tile L0 4\nfuse L0 L1")),
            _donor(kit.record(kit.stencil, "tile L1 8\ninterchange L1 L2\ntile L3 8\ntile L4 8")),
        ]
    )


@pytest.fixture(scope="module")
def measured(job, givers, tmp_path_factory) -> tuple[Path, Done]:
    logs = tmp_path_factory.mktemp("logs")
    (done,) = run(job, givers, logs)
    return logs, done


def run(job: Job, givers: Donors, logs: Path) -> list[Done]:
    machines = {"native": MACHINE, "x86-64-v2": replace(MACHINE, isa="sse2", vector_bits=128)}
    plan = Plan("sequential", machines, givers, kit.encoder(), logs, 5, 0)
    return list(measure([job], plan))


def test_pairs_are_measured_on_all_machines(measured):
    logs, done = measured
    assert not done.error
    assert len({one.hardware for one in done.pairs}) == 2
    assert len([*logs.glob("mine*")]) == 2  # one for each size
    by_donor: dict[str, set[str]] = {}
    for one in done.pairs:
        by_donor.setdefault(one.donor.partition(":")[0], set()).add(one.outcome)
        assert (one.speedup is not None) == (one.outcome in ("faster", "same", "slower"))
        assert one.donor_fingerprint != one.fingerprint
    assert by_donor["stencil"] == {"no match"}
    assert by_donor["product_transposed"] == {"illegal"}
    assert by_donor["product_permuted"] <= {"faster", "same", "slower"}


def test_what_is_done_is_not_done_again(measured, job, givers):
    logs, _ = measured
    before = {path: path.read_bytes() for path in logs.glob("mine*")}
    (done,) = run(job, givers, logs)
    assert done.skipped
    assert {path: path.read_bytes() for path in logs.glob("mine*")} == before


def test_a_stopped_program_goes_on(measured, job, givers, tmp_path):
    logs, done = measured
    first = next(one.hardware for one in done.pairs)
    for path in logs.glob("mine*"):
        kept = [line for line in path.read_text().splitlines() if '"done"' not in line]
        kept = [line for line in kept if '"pair"' not in line or f'"hardware": "{first}"' in line]
        (tmp_path / path.name).write_text("\n".join(kept))
    (again,) = run(job, givers, tmp_path)
    assert {one.hardware for one in again.pairs} == {one.hardware for one in done.pairs} - {first}


def test_what_another_process_works_on_is_left_to_it(job, givers, tmp_path):
    with claimed(tmp_path / ".mine-sequential-1t.lock") as mine:
        assert mine
        (done,) = run(job, givers, tmp_path)
    assert done.skipped
    assert [*tmp_path.glob("mine*")] == []
    assert not run(job, givers, tmp_path)[0].skipped


def test_logs_are_all_that_packing_needs(measured, tmp_path):
    logs, done = measured
    corpus.pack([logs], tmp_path)
    rows = [*rows_of(corpus.load(tmp_path))]
    assert len(rows) == len(done.pairs)
    nests = {
        row["fingerprint"]: row["nest_json"] for row in rows_of(corpus.side("nests", tmp_path))
    }
    for row in rows:
        for fingerprint in (row["fingerprint"], row["donor_fingerprint"]):
            (nest,) = read_nests(load_json(nests[fingerprint]))
            assert nest.fingerprint == fingerprint
        assert Recipe.parse(row["ported"]).text() == row["ported"]
    records = {row["record"] for row in rows_of(corpus.side("donors", tmp_path))}
    assert records == {row["record"] for row in rows}
    machines = {row["hardware"] for row in rows_of(corpus.side("profiles", tmp_path))}
    assert machines == {row["hardware"] for row in rows}


# The command line


@pytest.fixture
def shell(tmp_path, monkeypatch, capfd) -> Shell:
    return make_shell(tmp_path, monkeypatch, capfd)


def test_the_command_line_packs_and_sums_up(shell):
    logs, out = folder_of(shell.folder / "logs", pair(0)), shell.folder / "out"
    said = shell("transfers", "pack", logs, "--corpus", out).good().out
    assert said == "1 pairs added, 0 were there already\n"
    told = shell("transfers", "summary", "--corpus", out, "--json").good().document
    assert told["pairs"] == told["groups"][0]["pairs"] == 1
    text = shell("transfers", "summary", "--corpus", out).good().out
    assert text.endswith("1 pairs: 1 faster\n")
    gone = shell("transfers", "summary", "--corpus", shell.folder / "gone").refusal()
    assert "packages come without" in gone
    assert "loopbook transfers measure" in gone
    assert "no transfers" in shell("transfers", "summary", "--corpus", shell.folder).refusal()


def test_measuring_needs_a_book(shell):
    message = shell("transfers", "measure", shell.folder / "logs", "--programs", 0).refusal()
    assert message == "there is no starter book: name a book with --book"
    message = shell("transfers", "measure", shell.folder / "logs", "--core", 9999).refusal()
    assert "may not use core 9999" in message
