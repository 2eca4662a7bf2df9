"""Measuring, keeping and seeding on small real kernels, and what candidates may do to us."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import client_kit as kit
import pytest
from cli_kit import PRODUCT
from tuner_kit import VECTORISED, task

from loopbook.client.plan import plan_nests
from loopbook.errors import BookError, CompilerError, InputError, LoopbookError
from loopbook.program.load import load_json
from loopbook.recipes.book import Book
from loopbook.recipes.hardware import read
from loopbook.recipes.record import Record
from loopbook.sdfg.build import build_once
from loopbook.steps import Step
from loopbook.tuner import builders
from loopbook.tuner.keep import Keeper
from loopbook.tuner.log import TrialLog
from loopbook.tuner.neighbours import ported_neighbours
from loopbook.tuner.search import search
from loopbook.tuner.seed import Done, Job, jobs, seed, sizes_for
from loopbook.tuner.session import Session
from loopbook.tuner.settings import Settings
from loopbook.tuner.strategies import STRATEGIES, Problem
from loopbook.tuner.task import SdfgTask
from loopbook.tuner.tune import tune

TWICE = """\
    for row in range(out.shape[0]):
        for col in range(out.shape[1]):
            left[row, col] = 2.0 * out[col, row]
"""
"""Another nest, for the end of `PRODUCT`."""


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    with Session(task(tmp_path_factory.mktemp("session")), "S", "sequential") as opened:
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
    before, after = outcome.nests[0]
    assert before > 0 < after
    assert outcome.nest_speedup(0) == before / after
    assert outcome.nest_speedup(7) == 0.0
    assert outcome.speedup == outcome.reference_s / outcome.seconds
    again = session.measure({0: VECTORISED})
    assert again.message == "the same code as an earlier candidate"
    assert again.nests == outcome.nests
    assert list(session.folder.glob("c[0-9]*")) == []


def test_steps_that_do_not_fit_are_left_out_or_illegal(session):
    steps = (Step("tile", ("L7", 4)), *VECTORISED)
    outcome = session.measure({0: steps}, lenient=False)
    assert (outcome.status, outcome.speedup, outcome.nests) == ("illegal", 0.0, {})
    assert outcome.message
    assert session.measure({0: steps}).recipes == {0: VECTORISED}


def test_a_kernel_that_never_ends_is_noticed(tmp_path):
    endless = PRODUCT.replace("range(out.shape[1])", "range(10**15)")
    endless = endless.replace(
        "out[row, col] += left[row, mid] * right[mid, col]", "out[row, mid] += 0.5"
    )
    with pytest.raises(LoopbookError, match="did not end within 1 s"):
        Session(task(tmp_path, text=endless), "S", "sequential", timeout=1.0)


def test_an_sdfg_computes_what_its_function_does(session):
    given = SdfgTask("given", kit.text_of(kit.product), {"_s0": 20, "_s1": 21, "_s2": 22})
    with Session(given, "given", "sequential") as opened:
        arguments = given.arguments("given")
        names = load_json(kit.text_of(kit.product))["arguments"]
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


class Sizes:
    """A strategy that tiles by size after size, and notes what it is told."""

    def __init__(self, problem: Problem) -> None:
        self.asked = 0
        self.told: list[tuple[tuple[Step, ...], float | None]] = []

    def ask(self) -> tuple[Step, ...]:
        self.asked += 1
        return (Step("tile", ("L0", 1 + self.asked)),)

    def tell(self, steps: tuple[Step, ...], score: float | None) -> None:
        self.told.append((steps, score))


@pytest.fixture
def made(monkeypatch) -> list[Sizes]:
    """The strategies that searches by "sizes" make."""
    strategies: list[Sizes] = []

    def make(problem: Problem) -> Sizes:
        strategies.append(Sizes(problem))
        return strategies[-1]

    monkeypatch.setitem(STRATEGIES, "sizes", make)
    return strategies


def test_a_resumed_search_goes_on_where_it_stopped(session, made, tmp_path):
    """Several candidates are under way at a time, and logged as they are done."""

    def run(trials: int) -> list[dict]:
        log = TrialLog(tmp_path / "log", {})
        seen: list[tuple[int, int]] = []
        search(
            session,
            read(1),
            Settings(strategy="sizes", seed=3, trials=trials),
            log,
            progress=lambda done, total, line: seen.append((done, total)),
        )
        assert seen == [(n, trials) for n in range(trials - len(seen) + 1, trials + 1)]
        return log_of(tmp_path / "log")

    before = run(3)
    after = run(8)
    assert after[:3] == before
    assert sorted(trial["number"] for trial in after) == list(range(8))
    assert len({str(trial["recipe"]) for trial in after}) == 8
    first, second = made
    logged = [(trial["recipe"]["steps"], trial["speedup"]) for trial in after]
    told = [[([[s.op, *s.args] for s in steps], score) for steps, score in s.told] for s in made]
    assert told == [logged[:3], logged]
    assert (first.asked, second.asked) == (3, 8)


def test_a_candidate_that_fails_is_measured_nest_by_nest(made, tmp_path, monkeypatch):
    """One bad recipe does not spoil what is known of the other nests."""

    def build(text: str, target: str, recipes: Any, *args: Any) -> Any:
        if recipes.get(1):
            raise CompilerError("no such luck")
        return build_once(text, target, recipes, *args)

    monkeypatch.setattr(builders, "build_once", build)
    log = TrialLog(None, {})
    with Session(task(tmp_path, text=PRODUCT + TWICE), "M", "sequential") as opened:
        assert len(opened.nests) == 2
        opened.shares = dict.fromkeys(opened.shares, 0.5)
        search(opened, read(1), Settings(strategy="sizes", trials=2), log)
    assert sorted((t.number, t.nest, t.status) for t in log.trials) == [
        (0, 0, "ok"),
        (0, 1, "compiler"),
        (1, 0, "ok"),
        (1, 1, "compiler"),
    ]
    first, second = made
    assert all(score for _, score in first.told)
    assert [score for _, score in second.told] == [None, None]


class LayeredBook:
    """Keeps records in memory."""

    def __init__(self) -> None:
        self.records: list[Record] = []

    def known(self, job: Job) -> list[Record]:
        name = job.task.name
        return [r for r in self.records if (r.kernel, r.target) == (name, job.target)]

    def keep(self, records: Sequence[Record]) -> Sequence[Record]:
        self.records += records
        return records


def test_one_program_that_fails_does_not_stop_the_others(tmp_path):
    broken = PRODUCT.replace("    random =", "    raise OSError('no disk')\n    random =")
    todo = jobs([task(tmp_path, "broken", broken), task(tmp_path, "works")], ["sequential"], "S")
    layered = LayeredBook()

    def run(again: bool = False) -> list[Done]:
        return list(
            seed(
                todo,
                lambda target: read(1),
                Settings(trials=1),
                logs=tmp_path / "logs",
                known=layered.known,
                keep=layered.keep,
                again=again,
            )
        )

    failed, done = run()
    assert failed.tuned is None
    assert failed.error.endswith("initialize raised OSError: no disk")
    assert (done.error, done.skipped) == ("", False)
    assert [record.kernel for record in layered.records] == ["works"]
    assert [done.skipped for done in run()] == [False, True]
    assert len(layered.records) == 1


def test_sizes_to_search_and_confirm_at(tmp_path):
    small = task(tmp_path)
    assert sizes_for(Job(small, "sequential", "S")) == ("S", ("S",))
    assert sizes_for(Job(small, "sequential")) == ("M", ("S", "M")), "too quick to be told apart"


def test_an_sdfg_is_confirmed_at_every_size_that_it_was_asked_for(tmp_path):
    """However many there are: smaller ones to search at come with them."""
    names, asked = ("_s0", "_s1", "_s2"), (20, 21, 30, 40)
    given = SdfgTask("given", kit.text_of(kit.product), [dict.fromkeys(names, n) for n in asked])
    _, confirm = sizes_for(Job(given, "sequential"))
    assert [given.parameters[one]["_s0"] for one in confirm if one != given.CHECKED] == [*asked]


# -- the book --------------------------------------------------------------------------------------


def test_what_the_book_says_already_is_not_added(tmp_path):
    first = kit.record(kit.stencil, "", 1.0)
    later = dataclasses.replace(first.provenance, date="2031-01-01T00:00:00+00:00", trials=99)
    again = dataclasses.replace(first, provenance=later)
    newer = dataclasses.replace(again, provenance=dataclasses.replace(later, compiler="clang 99"))
    assert len({first.id, again.id, newer.id}) == 3
    with Book.open(tmp_path / "own.db") as book:
        keeper = Keeper(book, kit.encoder(), lambda _: first.hardware)
        assert keeper.keep([first]) == [first]
        assert keeper.keep([again]) == [first]
        assert keeper.keep([newer]) == [newer], "what another compiler makes of it is news"
        assert len(book) == 2


def test_a_programs_records_are_kept_all_or_none(tmp_path):
    good = kit.record(kit.product, kit.blocked())
    other = kit.record(kit.stencil, "", 1.0)
    job = Job(SdfgTask("product", "", {}), "sequential")
    with Book.open(tmp_path / "own.db") as book:
        keeper = Keeper(book, kit.encoder(), lambda _: good.hardware)
        assert keeper.known(job) == []
        bad = dataclasses.replace(good, nest_json="{}")
        with pytest.raises(InputError):
            keeper.keep([other, bad])
        assert len(book) == 0
        keeper.keep([good, other])
        assert [record.id for record in keeper.known(job)] == [good.id]
        assert set(book.info()["encoders"].values()) == {2}
        elsewhere = dataclasses.replace(good.hardware, l2_bytes=good.hardware.l2_bytes * 2)
        assert Keeper(book, kit.encoder(), lambda _: elsewhere).known(job) == []
    new = dataclasses.replace(good, nest="new:0")
    with Book.open(tmp_path / "own.db", readonly=True) as book, pytest.raises(BookError):
        Keeper(book, kit.encoder(), lambda _: good.hardware).keep([new])


SWEEPS = """\
import numpy as np

PARAMETERS = {"S": {"N": 24}, "M": {"N": 40}}


def initialize(N):
    random = np.random.default_rng(N)
    return {"A": random.random((N, N)), "T": np.zeros((N, N)), "B": np.zeros((N, N))}


def kernel(A, T, B):
    for i in range(1, A.shape[0] - 1):
        for j in range(A.shape[1]):
            T[i, j] = A[i - 1, j] + A[i, j] + A[i + 1, j]
    for i in range(2, A.shape[0] - 1):
        for j in range(A.shape[1]):
            A[i, j] = T[i, j] * T[i - 1, j] + B[i, j]
"""


def test_regions_are_tuned_by_themselves(tmp_path):
    mine = task(tmp_path, "sweeps", SWEEPS)
    rolled = Step("roll", ("L1", 1))
    with Session(mine, "S", "sequential", regions=True) as opened:
        assert [len(nest.loops) for nest in opened.tuned] == [5]
        outcome = opened.measure({0: (rolled,)}, lenient=False)
        assert (outcome.status, outcome.recipes) == ("ok", {0: (rolled,)})
        assert opened.measure({0: (Step("fuse", ("L1", "L3")),)}, lenient=False).status == "illegal"
    hardware = kit.record(kit.product, "").hardware
    found = {}
    with Book.open(tmp_path / "book.db") as book:
        keeper = Keeper(book, kit.encoder(), lambda target: hardware)
        for regions in (False, True):
            settings = Settings(trials=3, refine=0, confirm=("S",), regions=regions)
            keeper.keep(tune(mine, "S", hardware, settings).records)
            found[regions] = keeper.known(Job(mine, "sequential", "S", regions))
    assert [len(found[regions]) for regions in (False, True)] == [2, 1]
    assert {one.fingerprint for one in found[True]}.isdisjoint(
        one.fingerprint for one in found[False]
    )


def test_what_neighbours_give_a_region_is_for_all_of_it(tmp_path):
    mine = task(tmp_path, "sweeps", SWEEPS)
    with (
        Session(mine, "S", "sequential", regions=True) as opened,
        kit.layered(tmp_path, kit.record(kit.stencil, "tile L1 8", 9.0)) as books,
    ):
        (region,) = opened.tuned
        for recipe in ported_neighbours(books, region, "sequential"):
            assert set(recipe.base_loops()) <= {loop.name for loop in region.loops}


def test_a_search_begins_with_what_books_would_serve(tmp_path):
    mine = task(tmp_path)
    with (
        Session(mine, "S", "sequential") as opened,
        kit.layered(tmp_path, kit.record(kit.product, kit.blocked(), 9.0)) as books,
    ):
        (nest,) = opened.nests
        plan = plan_nests(opened.nests, opened.text, "sequential", books)
        assert plan.recipes
        assert ported_neighbours(books, nest, "sequential")[0] == plan.recipes[nest.position]
