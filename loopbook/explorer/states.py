"""A record's nest before its recipe and after each step: as text, and as C++."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import pairwise

from loopbook.errors import BookError, LoopbookError, SdfgError
from loopbook.explorer.documents import Code, State
from loopbook.explorer.listing import listing
from loopbook.program.load import load_json
from loopbook.program.nest import Nest
from loopbook.program.nests import nests as nests_of
from loopbook.program.read import read
from loopbook.program.signed import sign_counters
from loopbook.program.tree import Program
from loopbook.recipes.record import Record
from loopbook.sdfg import program, transformed
from loopbook.steps.workbench import Transformed, Workbench

QUICK_SECONDS = 0.12
"""For the steps of a page that is waited for; the others come with the C++."""

CODE_SECONDS = 20.0
"""For the C++ of all states; those before any step and after all come first."""

MOST_CODE = 200_000
"""Characters of one state's C++."""

QUICK_STEPS = 20


class Walk:
    """A record's nest, walked through step by step.

    Raises:
        BookError: the nest cannot be read.
    """

    def __init__(self, record: Record) -> None:
        self._record = record
        try:
            self._tree = sign_counters(read(load_json(record.nest_json)))
            (self.nest,) = nests_of(self._tree)
        except (SdfgError, ValueError, LookupError, TypeError, RecursionError) as error:
            raise BookError(f"the nest in record {record.id} is damaged: {error}") from None

    def states(self, seconds: float = QUICK_SECONDS) -> list[State]:
        """The nest before any step, and after each; those that cannot be had in time are pending.
        Long recipes have some that take long, which nothing can stop: of these all are."""
        quick = len(self._record.recipe) <= QUICK_STEPS
        return [state for state, _ in self._states(seconds if quick else 0.0)]

    def code(self) -> Code:
        """The states with their C++, as docc writes it with its own schedule for what the recipe
        leaves. docc may crash of it: to be called in a child process."""
        end = time.monotonic() + CODE_SECONDS
        found = [*self._states(CODE_SECONDS / 2)]
        problem = None
        last = len(found) - 1
        for place in dict.fromkeys((0, last, *range(1, last))):
            state, tree = found[place]
            if time.monotonic() > end:
                problem = f"the C++ of all steps takes longer than {CODE_SECONDS:g} s"
                break
            if tree is not None:
                try:
                    state.cpp = self._cpp(tree if place else None)
                except LoopbookError as error:
                    problem = str(error)
        for (before, _), (state, tree) in pairwise(found):
            if tree is None:
                state.cpp = before.cpp
        return Code(self._record.id, [state for state, _ in found], problem)

    def _states(self, seconds: float) -> Iterator[tuple[State, Program | None]]:
        """States, and the program at each; None where a step was refused."""
        bench = Workbench(self._tree, self.nest)
        text = listing(bench.transformed, self.nest)
        yield State(None, "the nest as it was recorded", text), bench.program
        end = time.monotonic() + seconds
        for position, step in enumerate(self._record.recipe):
            refused, pending = None, time.monotonic() > end
            if not pending:
                try:
                    bench.apply(*step, position)
                    text = listing(bench.transformed, self.nest)
                except LoopbookError as error:
                    refused = str(error)
            state = State(step.text(), type(step).summary(), text, refused=refused, pending=pending)
            yield state, None if refused or pending else bench.program

    def _cpp(self, tree: Program | None) -> str:
        target = self._record.target
        if tree is None:
            text = program.baseline(self._record.nest_json, target).to_cpp()
        else:
            text = transformed.cpp_of(tree, target)
        return text if len(text) <= MOST_CODE else text[:MOST_CODE] + "\n…\n"


def loops(nest: Nest) -> str:
    """A nest of a program before any step."""
    return listing(Transformed.of(nest), nest)
