"""Tries recipes on a nest with docc and keeps the steps that are legal there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from loopbook.errors import IllegalStepError
from loopbook.program.nest import Nest
from loopbook.program.read import read
from loopbook.program.tree import Program
from loopbook.recipes.recipe import Recipe
from loopbook.sdfg import program
from loopbook.sdfg.apply import Workbench
from loopbook.steps import Step
from loopbook.toolchain.worker import Worker

FIT_SECONDS = 5.0
"""How long docc may take over a recipe. It finds most legal or not within milliseconds, but looks
for dependences for hours where loops over tiles of triangles are nested deep."""


@dataclass(frozen=True)
class Fit:
    """What docc accepts of a recipe.

    Attributes:
        recipe: the steps that docc accepts.
        dropped: optional steps that it refuses.
    """

    recipe: Recipe
    dropped: tuple[Step, ...] = ()


@dataclass(frozen=True)
class Refusal:
    """Why a recipe does not fit.

    Attributes:
        position: index of the step that docc refuses, of the last one where it gave no answer; None
            if it is not a single one.
        ordered: loops that were to have threads, but may not.
    """

    reason: str
    position: int | None = None
    ordered: frozenset[str] = frozenset()


Shape = tuple[tuple[str, ...], ...]
"""Steps without their sizes."""


class Refusals:
    """What docc has refused of one nest, so that its like need not be asked about: a step after the
    same steps with other sizes, and threads for the same loop."""

    def __init__(self) -> None:
        self._shapes: set[Shape] = set()
        self._ordered: set[str] = set()

    def add(self, steps: Sequence[Step], refusal: Refusal) -> None:
        if refusal.position is not None:
            self._shapes.add(_shapes(steps)[refusal.position])
        if not _proves(steps):
            self._ordered |= refusal.ordered

    def cover(self, steps: Sequence[Step]) -> bool:
        """Whether a recipe would most likely be refused, too."""
        shared = {str(step.args[0]) for step in steps if step.op == "parallel"}
        alike = not self._shapes.isdisjoint(_shapes(steps))
        return alike or not (_proves(steps) or shared.isdisjoint(self._ordered))


def _proves(steps: Iterable[Step]) -> bool:
    return any(step.frees for step in steps)


def _shapes(steps: Iterable[Step]) -> list[Shape]:
    """The shape of the first step, of the first two…"""
    words = [(step.op, *(arg for arg in step.args if isinstance(arg, str))) for step in steps]
    return [tuple(words[: count + 1]) for count in range(len(words))]


class Trial:
    """A prepared SDFG to try recipes on, nest by nest, each as if it were the only one."""

    def __init__(self, prepared: str) -> None:
        self._text = prepared

    def fit(self, nest: Nest, steps: Iterable[Step]) -> Fit:
        """The legal part of `steps` for `nest`.

        Raises:
            IllegalStepError: docc refuses a step that is not optional.
        """
        bench = Workbench(self._program, nest)
        kept: list[Step] = []
        dropped: list[Step] = []
        for position, step in enumerate(steps):
            try:
                bench.apply(*step, position)
            except IllegalStepError:
                if not step.refines:
                    raise
                dropped.append(step)
            else:
                kept.append(step)
        return Fit(Recipe(tuple(kept)), tuple(dropped))

    @cached_property
    def _program(self) -> Program:
        return read(program.load_json(self._text))


class Trials:
    """A `Trial` in a child process, where docc may crash or never end. Use as a context manager.

    The child is there from the first recipe on, and another one after it has died. It has the
    nests from its parent, and is only told which one.

    Args:
        nests: the SDFG's.
    """

    def __init__(self, prepared: str, nests: Iterable[Nest]) -> None:
        trial = Trial(prepared)
        known = {nest.position: nest for nest in nests}
        self._worker = Worker(lambda place, steps: trial.fit(known[place], steps), what="docc")

    def __enter__(self) -> Trials:
        return self

    def __exit__(self, *_: object) -> None:
        self._worker.close()

    def fit(self, nest: Nest, steps: Iterable[Step]) -> Fit:
        """The legal part of `steps` for `nest`.

        Raises:
            IllegalStepError: as in `Trial.fit`.
            RunError: docc crashed, or did not end within `FIT_SECONDS`.
        """
        self._worker.send(nest.position, tuple(steps), seconds=FIT_SECONDS)
        return self._worker.receive()
