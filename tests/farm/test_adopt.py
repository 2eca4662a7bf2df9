"""A book is made fit for this machine: real comparisons, and what goes wrong."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from cli_kit import surroundings, validator
from client_kit import fill, product, product_permuted, product_transposed, record
from hypothesis import given
from hypothesis import strategies as st

from loopbook.cli import main
from loopbook.client.hardware import local_profile
from loopbook.client.layered import LayeredBook
from loopbook.errors import InputError
from loopbook.farm.adopt.adoption import Adoption, Settings
from loopbook.farm.adopt.gains import (
    COMPARED,
    FAILED,
    SEARCHED,
    Outlook,
    carried_over,
    standing,
)
from loopbook.farm.adopt.journal import Journal, journal_of
from loopbook.farm.adopt.worklist import COMPARING, made_up
from loopbook.recipes.book import Book
from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.record import Measurement, Record

ELSEWHERE = HardwareProfile(cpu="another", isa="neon", vector_bits=128, l2_bytes=1 << 20)

FAST = "interchange L1 L2\nvectorize L2\n"

ENOUGH_S = 240.0
"""Nothing is left to do long before."""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the own book lies; nothing else is looked up in."""
    for name, value in surroundings(tmp_path).items():
        monkeypatch.setenv(name, value)
    return tmp_path / "own.db"


def known(kernel, recipe: str = FAST, speedup: float = 1.5, **changes) -> Record:
    """A record of another machine, with a size at which a run takes no time."""
    made = record(kernel, recipe, hardware=ELSEWHERE)
    trips: dict[str, int] = {f"L{place}": 40 for place in range(3)}
    measured = Measurement(0.001 * speedup, 0.001, 0.01, 5, {}, trips)
    return dataclasses.replace(made, measurements=(measured,), **changes)


def adoption(path: Path, *others: Path, trusted: bool = True, **options) -> Adoption:
    books = [Book.open(path), *(Book.open(one, readonly=True) for one in others)]
    names = [str(one) for one in (path, *others)] if trusted else [str(path)]
    hardware = {"sequential": local_profile(1)}
    journal = Journal(journal_of(path), "1")
    return Adoption(LayeredBook(books), names, hardware, journal, Settings(trials=1), **options)


def of_here(path: Path) -> list[Record]:
    with Book.open(path, readonly=True) as book:
        return [one for one in book.records() if one.hardware.key == local_profile(1).key]


@pytest.mark.long
def test_what_other_machines_know_is_measured_here_and_kept(own):
    fill(own, [known(product), known(product_permuted, "interchange L0 L2\nvectorize L0\n")])
    todo = adoption(own)
    before = todo.standing
    assert (before.nests, before.measured) == (2, 0)
    steps = list(todo.run(ENOUGH_S))
    assert {one.error for one in steps} == {""}
    assert sorted(one.entry.record.nest for one in steps if one.stage == COMPARED) == [
        "product:0",
        "product_permuted:0",
    ]
    found = of_here(own)
    assert {one.nest for one in found} == {"product:0", "product_permuted:0"}
    for one in found:
        assert one.hardware == local_profile(1)
        assert all(measured.runs > 0 for measured in one.measurements)
        # What was searched for as well was timed at all sizes of its task.
        assert {"L0": 40, "L1": 40, "L2": 40} in [measured.trips for measured in one.measurements]
        assert one.provenance.kernel == one.nest.partition(":")[0]
    assert [one.standing.measured for one in steps if one.stage == COMPARED] == [1, 2]
    again = adoption(own)
    assert again.standing == todo.standing
    assert [one for one in again.run(ENOUGH_S) if one.stage == COMPARED] == []
    assert len(of_here(own)) == len(found)


@pytest.mark.long
def test_what_can_not_be_measured_fails_alone_and_is_not_tried_again(own):
    broken = known(product_transposed, nest_json='{"nest": 1}', nest="broken:0")
    other = known(product, fingerprint="ab" * 16, nest="other:0")
    good = known(product_permuted, "interchange L0 L2\nvectorize L0\n")
    with Book.open(own) as book:
        book.add_many((one, []) for one in (broken, other, good))
    todo = adoption(own)
    steps = {one.entry.record.nest: one for one in todo.run(ENOUGH_S) if one.stage != SEARCHED}
    assert {name: one.stage for name, one in steps.items()} == {
        "broken:0": FAILED,
        "other:0": FAILED,
        "product_permuted:0": COMPARED,
    }
    assert "another one" in steps["other:0"].error
    assert todo.standing.failed == 2
    assert {one.nest for one in of_here(own)} == {"product_permuted:0"}
    again = adoption(own)
    assert again.standing == todo.standing
    assert list(again.run(ENOUGH_S)) == []


def test_a_recipe_that_does_not_fit_leaves_the_nest_to_docc(own):
    fill(own, [known(product, "vectorize L7\n", 1.05)])
    (step,) = adoption(own).run(ENOUGH_S)
    assert (step.stage, step.error) == (COMPARED, "")
    (found,) = of_here(own)
    assert len(found.recipe) == 0
    assert found.provenance.source == COMPARING


@pytest.mark.long
def test_where_it_falls_short_it_is_searched_for(own):
    fill(own, [known(product, "unroll_and_jam L0 2 L2\n", 1000.0)])
    steps = list(adoption(own).run(ENOUGH_S))
    assert [one.stage for one in steps] == [COMPARED, SEARCHED]
    assert steps[-1].standing.share == pytest.approx(1.0)
    assert steps[0].standing.share < 1.0
    assert adoption(own).standing.searched == 1


@pytest.mark.long
def test_a_strangers_nest_is_measured_in_a_jail_or_not_at_all(own, tmp_path):
    Book.open(own).close()
    theirs = fill(tmp_path / "theirs.db", [known(product, speedup=1.05)])
    assert adoption(own, theirs, trusted=False, jails=False).entries == {}
    todo = adoption(own, theirs, trusted=False)
    assert [one.strange for one in todo.entries.values()] == [True]
    (step,) = todo.run(ENOUGH_S)
    assert (step.stage, step.error) == (COMPARED, "")
    assert [one.nest for one in of_here(own)] == ["product:0"]


@pytest.mark.long
def test_what_was_done_before_a_kill_is_kept(own, tmp_path):
    fill(own, [known(product), known(product_permuted, "interchange L0 L2\nvectorize L0\n")])
    command = [sys.executable, "-m", "loopbook", "adopt", "--target", "sequential"]
    command += ["--trials", "1"]
    first = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert first.stdout is not None
    try:
        line = first.stdout.readline()
        os.killpg(first.pid, signal.SIGKILL)
    finally:
        first.kill()
        first.wait()
    kept = of_here(own)
    fingerprints = {one.nest: one.fingerprint for one in kept}
    done = line.split()[0]
    assert done in fingerprints, line
    todo = adoption(own)
    compared = [one.entry.record for one in todo.run(ENOUGH_S) if one.stage == COMPARED]
    assert fingerprints[done] not in {one.fingerprint for one in compared}
    assert todo.standing.measured == 2
    assert {one.id for one in kept} <= {one.id for one in of_here(own)}


def test_without_time_nothing_is_begun(own, capsys):
    fill(own, [known(product)])
    words = ["adopt", "--minutes", "0", "--target", "sequential", "--json"]
    assert main(words) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["nests"], told["measured"], told.pop("steps")) == (1, 0, [])
    validator("adopt").validate(told)
    assert of_here(own) == []
    assert main([*words, "--status"]) == 0
    assert json.loads(capsys.readouterr().out) == told


def test_a_status_makes_no_book(own, capsys):
    assert main(["adopt", "--status", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["nests"] == 0
    assert not own.exists()


def test_two_at_a_time_would_disturb_each_other(own, capsys):
    fill(own, [known(product)])
    with Journal(journal_of(own), "1").alone():
        assert main(["adopt", "--minutes", "0"]) == 2
    assert "being done already" in capsys.readouterr().err


def test_a_book_that_cannot_be_written_is_not_adopted_into(own, tmp_path):
    fill(own, [known(product)])
    layered = LayeredBook([Book.open(own, readonly=True)])
    hardware = {"sequential": local_profile(1)}
    todo = Adoption(layered, [str(own)], hardware, Journal(journal_of(own), "1"))
    with pytest.raises(InputError, match="can be written"):
        list(todo.run(1.0))


def test_a_journal_that_was_cut_short_is_read_as_far_as_it_goes(tmp_path):
    path = tmp_path / "book-adopted.jsonl"
    keys = [("a", "sequential", "here"), ("b", "sequential", "here")]
    Journal(path, "1").note(keys[0], FAILED, "why")
    path.write_text(path.read_text() + '{"nest": "b", "targ')
    Journal(path, "1").note(keys[1], FAILED, "why")
    assert [Journal(path, "1").stage(key) for key in keys] == [FAILED, FAILED]
    assert Journal(path, "2").stage(keys[0]) == ""


def test_programs_that_were_made_to_learn_from_are_told_from_others():
    assert made_up("stencil.2.star.1.one.add.copied.ji.zero.given.f4.apart")
    assert made_up("arrays.17")
    assert not made_up("gemm")
    assert not made_up("stencil")


gains = st.floats(0.0, 6.0)
outlooks = st.lists(
    st.builds(
        Outlook,
        weight=st.floats(0.0, 100.0),
        there=gains,
        away=st.floats(0.0, 3.0),
        here=gains,
        stage=st.sampled_from([COMPARED, SEARCHED]),
    )
    | st.builds(
        Outlook,
        weight=st.floats(0.0, 100.0),
        there=gains,
        away=st.floats(0.0, 3.0),
        stage=st.sampled_from(["", FAILED]),
    ),
    max_size=12,
)


@given(outlooks)
def test_the_share_is_what_is_there_of_what_is_expected(several):
    told = standing(several)
    assert 0.0 <= told.share <= 1.0
    assert told.nests == len(several)
    assert told.measured == sum(one.here is not None for one in several)
    carried = carried_over(several)
    assert 0.0 <= carried <= 1.0
    now = math.fsum(one.weight * one.now for one in several)
    best = math.fsum(one.weight * one.best(carried) for one in several)
    assert told.share * best == pytest.approx(now)
    for one in several:
        assert 0.0 <= one.now <= one.best(carried)
        assert one.missing(carried) <= one.best(carried) - one.now
    assert standing([*reversed(several)]) == told
    doubled = [dataclasses.replace(one, weight=2 * one.weight) for one in several]
    assert standing(doubled).share == pytest.approx(told.share)


@given(outlooks)
def test_all_is_there_when_all_was_searched_for(several):
    done = [dataclasses.replace(one, here=one.now, stage=SEARCHED) for one in several]
    assert standing(done).share == pytest.approx(1.0)
