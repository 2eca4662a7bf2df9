"""Applies many recipes to one nest."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy

from loopbook.errors import IllegalStepError
from loopbook.program.nest import Nest
from loopbook.steps.base import Step
from loopbook.steps.workbench import Transformed, Workbench

MOST = 4096
"""Nests after some steps that are remembered; then it begins anew."""


class Transformer:
    """`loopbook.steps.workbench.transformed` for one nest: a recipe that begins as an earlier one
    did goes on from there. What a search proposes mostly does, and whether a step is legal takes
    longer to find out than all else about a proposal."""

    def __init__(self, nest: Nest) -> None:
        self._nest = nest
        self._known: dict[tuple[Step, ...], Workbench | None] = {}

    def __call__(self, steps: Iterable[Step]) -> tuple[Transformed, list[Step]]:
        """The nest after those of the steps that are legal for it by itself, and the others."""
        if len(self._known) > MOST:
            self._known.clear()
        bench = self._known.get(()) or Workbench(Transformed.of(self._nest).program, self._nest)
        self._known[()] = bench
        done: tuple[Step, ...] = ()
        refused: list[Step] = []
        for step in steps:
            longer = (*done, step)
            if longer not in self._known:
                self._known[longer] = _after(bench, step)
            after = self._known[longer]
            if after is None:
                refused.append(step)
            else:
                bench, done = after, longer
        return bench.transformed, refused


def _after(bench: Workbench, step: Step) -> Workbench | None:
    """Another bench, with one more step; none where that is not legal."""
    after = copy(bench)
    try:
        after.apply(*step)
    except IllegalStepError:
        return None
    return after
