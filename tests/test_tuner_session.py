"""Measuring, keeping and seeding on small real kernels, and what candidates may do to us."""

from __future__ import annotations

import dataclasses
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

import client_kit as kit
import pytest
from cli_kit import PRODUCT

from loopbook.errors import BookError, InputError, LoopbookError
from loopbook.recipes.book import Book
from loopbook.recipes.hardware import read
from loopbook.recipes.record import Record
from loopbook.recipes.step import Step
from loopbook.sdfg import program
from loopbook.sdfg.build import Built
from loopbook.sdfg.compiler import find_compiler
from loopbook.tuner import session as sessions
from loopbook.tuner.keep import Keeper
from loopbook.tuner.seed import Done, Job, jobs, seed, sizes_for
from loopbook.tuner.session import Session
from loopbook.tuner.subject import PythonSubject, SdfgSubject
from loopbook.tuner.tune import Settings, tune
from loopbook.workloads.workload import load_workload

VECTORISED = (
    Step("interchange", ("L0", "L1")),
    Step("interchange", ("L0", "L2")),
    Step("vectorize", ("L0",)),
)


def subject(folder: Path, name: str = "mine", text: str = PRODUCT) -> PythonSubject:
    path = folder / f"{name}.py"
    path.write_text(text)
    return PythonSubject(load_workload(path))


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    with Session(subject(tmp_path_factory.mktemp("session")), "S", "sequential") as opened:
        yield opened
    assert not opened.folder.exists()


def test_a_session_knows_its_program(session):
    assert [len(nest.loops) for nest in session.nests] == [3]
    assert session.shares == {0: 1.0}
    assert session.baseline_s > 0
    assert session.plain_s > 0


def test_a_right_candidate(session):
    outcome = session.measure({0: VECTORISED}, lenient=False)
    assert (outcome.status, outcome.message) == ("ok", "")
    assert outcome.recipes == {0: VECTORISED}
    assert outcome.nests[0] > 0
    assert outcome.speedup == outcome.reference_s / outcome.seconds
    again = session.measure({0: VECTORISED})
    assert again.message == "the same code as an earlier candidate"
    assert again.nests == outcome.nests
    assert list(session.folder.glob("c*")) == []


def test_steps_that_do_not_fit_are_left_out_or_illegal(session):
    steps = (Step("tile", ("L7", 4)), *VECTORISED)
    outcome = session.measure({0: steps}, lenient=False)
    assert (outcome.status, outcome.speedup, outcome.nests) == ("illegal", 0.0, {})
    assert outcome.message
    assert session.measure({0: steps}).recipes == {0: VECTORISED}


SABOTAGE = {
    "wrong": "C[0] += 1;",
    "crash": "*(volatile int *)8 = 1;",
    "hang": "for (volatile long n = 0;; n = n + 1);",
    "memory": "for (long size = 1l << 40;; size *= 2) *new char[size] = 1;",
}


@pytest.mark.parametrize("status", SABOTAGE)
def test_what_a_candidate_does_is_its_own_failure(session, monkeypatch, tmp_path, status):
    """A library that does damage takes the place of the one that was built."""
    document = json.loads(session.text)
    names = document["arguments"]
    arguments = ", ".join(
        f"double *{'C' if name == 'out' else name}" if not name.startswith("_s") else f"long {name}"
        for name in names
    )
    source, library = tmp_path / "bad.cpp", tmp_path / "bad.so"
    source.write_text(f'extern "C" void {document["name"]}({arguments}) {{ {SABOTAGE[status]} }}')
    command = [find_compiler().path, "-shared", "-fPIC", "-O0", source, "-o", library]
    subprocess.run(command, check=True)

    def sabotaged(*_: object, **__: object) -> Built:
        return Built(library, status, {}, {0: VECTORISED})

    monkeypatch.setattr(sessions, "build_tuned", sabotaged)
    monkeypatch.setattr(session, "_seconds_limit", 3.0 if status == "hang" else 60.0)
    outcome = session.measure({0: VECTORISED})
    assert outcome.status == status, outcome
    assert outcome.speedup == 0.0
    assert outcome.message
    assert "\n" not in outcome.message


def test_a_kernel_that_never_ends_is_noticed(tmp_path):
    endless = PRODUCT.replace("range(out.shape[1])", "range(10**15)")
    endless = endless.replace(
        "out[row, col] += left[row, mid] * right[mid, col]", "out[row, mid] += 0.5"
    )
    with pytest.raises(LoopbookError, match="did not end within 1 s"):
        Session(subject(tmp_path, text=endless), "S", "sequential", timeout=1.0)


def test_an_sdfg_computes_what_its_function_does(session):
    given = SdfgSubject("given", kit.text_of(kit.product), {"_s0": 20, "_s1": 21, "_s2": 22})
    with Session(given, "given", "sequential") as opened:
        arguments = given.arguments("given")
        names = program.load_json(kit.text_of(kit.product))["arguments"]
        values = dict(zip(names, arguments, strict=True))
        sizes = {"A": (20, 21), "B": (21, 22), "C": (20, 22)}
        A, B, C = (
            values[name][: shape[0] * shape[1]].reshape(shape) for name, shape in sizes.items()
        )
        kit.product(A, B, C)
        result = opened.expected[[n for n in names if n in sizes].index("C")]
        assert abs(result[: C.size].reshape(C.shape) - C).max() < 1e-9


# -- whole searches --------------------------------------------------------------------------------


def log_of(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()[1:]]


def test_a_resumed_search_goes_on_as_if_it_had_not_been_stopped(tmp_path):
    mine, hardware = subject(tmp_path), read(1)
    whole, parts = tmp_path / "whole.jsonl", tmp_path / "parts.jsonl"
    tune(mine, "S", hardware, Settings(trials=5, seed=3), log=whole)
    tune(mine, "S", hardware, Settings(trials=3, seed=3), log=parts)
    before = log_of(parts)
    tuned = tune(mine, "S", hardware, Settings(trials=5, seed=3), log=parts)
    assert log_of(parts)[: len(before)] == before
    assert [t["number"] for t in log_of(parts)] == [0, 1, 2, 3, 4]
    assert [t["recipe"] for t in log_of(parts)] == [t["recipe"] for t in log_of(whole)]
    (record,) = tuned.records
    assert (record.kernel, record.provenance.trials) == ("mine", 5)

    bigger = PythonSubject(mine.workload, {"N": 25})
    tune(bigger, "S", hardware, Settings(trials=1, seed=3), log=parts)
    assert [t["number"] for t in log_of(parts)] == [0], "another size is another search"
    assert len(log_of(tmp_path / "parts.old1.jsonl")) == 5


class Shelf:
    """Keeps records in memory."""

    def __init__(self) -> None:
        self.records: list[Record] = []

    def known(self, job: Job) -> list[Record]:
        name = job.subject.name
        return [r for r in self.records if (r.kernel, r.target) == (name, job.target)]

    def keep(self, records: Sequence[Record]) -> None:
        self.records += records


def test_one_program_that_fails_does_not_stop_the_others(tmp_path):
    broken = PRODUCT.replace("    random =", "    raise OSError('no disk')\n    random =")
    todo = jobs(
        [subject(tmp_path, "broken", broken), subject(tmp_path, "works")], ["sequential"], "S"
    )
    shelf = Shelf()

    def run(again: bool = False) -> list[Done]:
        return list(
            seed(
                todo,
                lambda target: read(1),
                Settings(trials=1),
                logs=tmp_path / "logs",
                known=shelf.known,
                keep=shelf.keep,
                again=again,
            )
        )

    failed, done = run()
    assert failed.tuned is None
    assert failed.error.endswith("initialize raised OSError: no disk")
    assert (done.error, done.skipped) == ("", False)
    assert [record.kernel for record in shelf.records] == ["works"]
    assert [done.skipped for done in run()] == [False, True]
    assert len(shelf.records) == 1


def test_sizes_to_search_and_confirm_at(tmp_path):
    small = subject(tmp_path)
    assert sizes_for(Job(small, "sequential", "S")) == ("S", ("S",))
    assert sizes_for(Job(small, "sequential")) == ("M", ("S", "M")), "too quick to be told apart"


# -- the book --------------------------------------------------------------------------------------


def test_a_programs_records_are_kept_all_or_none(tmp_path):
    good = kit.record(kit.product, kit.blocked())
    other = kit.record(kit.stencil, "", 1.0)
    job = Job(SdfgSubject("product", "", {}), "sequential")
    with Book.open(tmp_path / "own.db") as book:
        keeper = Keeper(book, kit.encoder())
        assert keeper.known(job) == []
        bad = dataclasses.replace(good, nest_json="{}")
        with pytest.raises(InputError):
            keeper.keep([other, bad])
        assert len(book) == 0
        keeper.keep([good, other])
        assert [record.id for record in keeper.known(job)] == [good.id]
        assert set(book.info()["encoders"].values()) == {2}
    with Book.open(tmp_path / "own.db", readonly=True) as book, pytest.raises(BookError):
        Keeper(book, kit.encoder()).keep([good])
