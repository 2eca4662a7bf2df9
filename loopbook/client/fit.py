"""Tries recipes on a nest and keeps the steps that are legal there."""

from __future__ import annotations

import copy
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from loopbook.client.thresholds import FIT_SECONDS
from loopbook.errors import IllegalStepError, RunError
from loopbook.program.load import load_json
from loopbook.program.nest import Nest
from loopbook.program.read import read
from loopbook.program.tree import Program
from loopbook.recipes.recipe import Recipe
from loopbook.steps import Step
from loopbook.steps.workbench import Transformed, Workbench


@dataclass(frozen=True)
class Fit:
    """What is legal of a recipe.

    Attributes:
        recipe: the steps that are legal.
        dropped: optional steps that are not.
        after: the nest as the recipe leaves it.
        tried: the program and the nest in it that it was tried on. Others that are alike get the
            same answer, but not `after`.
    """

    recipe: Recipe
    dropped: tuple[Step, ...] = ()
    after: Transformed | None = field(default=None, compare=False, repr=False)
    tried: tuple[Program, Nest] | None = field(default=None, compare=False, repr=False)

    def result(self, program: Program, nest: Nest) -> Transformed | None:
        """`after`, if it was this very nest of this very program that the recipe was tried on."""
        own, its = self.tried or (None, None)
        return self.after if own is program and its is nest else None


@dataclass(frozen=True)
class Refusal:
    """Why a recipe does not fit.

    Attributes:
        position: index of the step that is refused, of the last one where there was no answer; None
            if it is not a single one.
        ordered: loops that were to have threads, but may not.
    """

    reason: str
    position: int | None = None
    ordered: frozenset[str] = frozenset()


Shape = tuple[tuple[str, ...], ...]
"""Steps without their sizes."""


class Refusals:
    """What has been refused of one nest, so that its like need not be asked about: a step after the
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


class Trials:
    """A prepared SDFG to try recipes on, nest by nest, each as if it were the only one.

    Recipes that are tried on one nest after the other often begin alike: what they share is done
    once, which costs nothing to keep since programs share what they have in common.

    Args:
        prepared: the SDFG's text.
        tree: what it says, where it has been read.
    """

    def __init__(self, prepared: str, tree: Program | None = None) -> None:
        self._text, self._tree = prepared, tree
        self._nest: Nest | None = None
        self._reached: dict[tuple[Step, ...], _Reached] = {}

    def fit(self, nest: Nest, steps: Iterable[Step]) -> Fit:
        """The legal part of `steps` for `nest`.

        Raises:
            IllegalStepError: a step that is not optional is refused.
            RunError: that is not known within `FIT_SECONDS`.
        """
        begun = time.thread_time()
        wanted = tuple(steps)
        count, now = self._furthest(nest, wanted)
        for position, step in enumerate(wanted[count:], start=count):
            if time.thread_time() - begun > FIT_SECONDS:
                raise RunError(f"the first {position} steps took longer than {FIT_SECONDS:g} s")
            now = now.after(step, position)
            self._reached[wanted[: position + 1]] = now
        tried = self._program, nest
        return Fit(Recipe(now.kept), now.dropped, now.bench.transformed, tried)

    def answer(self, nest: Nest, recipe: Recipe) -> Fit | Refusal:
        """The legal part of a recipe, unless too little of it is left, or why there is none."""
        try:
            fit = self.fit(nest, recipe)
        except IllegalStepError as error:
            return Refusal(str(error), error.position)
        except RunError as error:  # the same steps with other sizes are no better, most likely
            return Refusal(str(error), len(recipe) - 1 if len(recipe) else None)
        if len(recipe) and 2 * len(fit.dropped) > len(recipe):
            return Refusal("most steps are refused")
        ordered = {str(step.args[0]) for step in fit.dropped if step.op == "parallel"}
        if ordered:
            # docc would give threads to whatever loop is left.
            return Refusal("its threads are refused", ordered=frozenset(ordered))
        return fit

    def _furthest(self, nest: Nest, steps: tuple[Step, ...]) -> tuple[int, _Reached]:
        """How many of the steps were tried on the nest before, and where they led."""
        if nest is not self._nest:
            self._nest = nest
            self._reached = {(): _Reached(Workbench(self._program, nest))}
        count = next(n for n in range(len(steps), -1, -1) if steps[:n] in self._reached)
        return count, self._reached[steps[:count]]

    @cached_property
    def _program(self) -> Program:
        return self._tree or read(load_json(self._text))


@dataclass(frozen=True)
class _Reached:
    """A nest after the first steps of a recipe."""

    bench: Workbench
    kept: tuple[Step, ...] = ()
    dropped: tuple[Step, ...] = ()

    def after(self, step: Step, position: int) -> _Reached:
        """The nest after one more step, or without it where that is optional and refused.

        Raises:
            IllegalStepError: a step that is not optional is refused.
        """
        bench = copy.copy(self.bench)
        try:
            bench.apply(*step, position)
        except IllegalStepError:
            if not step.refines:
                raise
            return _Reached(self.bench, self.kept, (*self.dropped, step))
        return _Reached(bench, (*self.kept, step), self.dropped)
