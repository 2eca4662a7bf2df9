"""Applies a recipe's steps to a nest of a program.

Steps speak of loops by name; `loopbook.steps.naming` says what loops are called that steps make.
A trailing star, ``L0*``, means the loop and all its ``.rest`` and ``.part`` copies.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from loopbook.dependence.missed import is_left_early, serialised, unordered
from loopbook.errors import IllegalStepError, RecipeError
from loopbook.program.accesses import names
from loopbook.program.nest import Nest
from loopbook.program.signed import unsigned
from loopbook.program.standing import loops
from loopbook.program.tree import Program, Sequence
from loopbook.program.types import Pointer, Scalar, Type
from loopbook.steps.base import Step
from loopbook.steps.editor import Editor
from loopbook.steps.grammar import checked
from loopbook.steps.naming import LoopNames

Args = tuple[str | int, ...]
StepPair = tuple[str, Args]
S = TypeVar("S", bound=Step)

MOST_LOOPS = 1000
"""Of a nest while steps are applied to it: those that copy loops could go on for ever."""


@dataclass(frozen=True)
class Transformed:
    """A nest as it stands in a program, before any step or after some.

    Attributes:
        names: name to docc's number of each loop of the nest that recipes can name.
        foreign: numbers of the program's other loops.
    """

    program: Program
    names: Mapping[str, int]
    foreign: Collection[int] = ()

    @classmethod
    def of(cls, nest: Nest) -> Transformed:
        """A nest before any step, in a program that does nothing else."""
        types: dict[str, Type] = dict.fromkeys(names(nest.loop), Scalar("int64"))
        for container in nest.containers:
            scalar = Scalar(container.dtype)
            types[container.data] = Pointer(to=scalar) if container.is_array else scalar
        ids = {loop.name: loop.element_id for loop in nest.loops}
        arrays = tuple(container.data for container in nest.arrays)
        body = Sequence((nest.loop,))
        return cls(Program("", types, arrays, body, counter=max(ids.values())), ids)


def transformed(nest: Nest, steps: Iterable[Step]) -> tuple[Transformed, list[Step]]:
    """The nest after those of the steps that are legal for it by itself, and the others."""
    bench = Workbench(Transformed.of(nest).program, nest)
    refused: list[Step] = []
    for position, step in enumerate(steps):
        try:
            bench.apply(*step, position)
        except IllegalStepError:
            refused.append(step)
    return bench.transformed, refused


class Workbench:
    """One nest while steps are applied to it. A shallow copy goes its own way.

    Args:
        program: its loops count in signed numbers (`loopbook.program.signed`). It is left as it
            is.

    Attributes:
        program: as it is now.
    """

    def __init__(self, program: Program, nest: Nest) -> None:
        own = {loop.element_id for loop in nest.loops}
        wrong = {nest.loops[number].element_id for number in unordered(nest)}
        self.program = serialised(program, wrong)
        self._foreign = self._loops(own).keys()
        self._data = {c.name: c.data for c in nest.containers}
        self._left_early = {loop.name for loop in nest.loops if is_left_early(nest, loop)}
        self._position = 0
        self._buffers: dict[str, bool] = {}
        ids = {loop.name: loop.element_id for loop in nest.loops}
        self._names = LoopNames(ids, self._loops(self._foreign))

    def _loops(self, without: Collection[int]) -> dict[int, str]:
        """Number to variable of the program's loops, but for those of some numbers, in preorder."""
        return {
            one.id: one.variable
            for one in loops(self.program)
            if one.id is not None and one.id not in without
        }

    @property
    def transformed(self) -> Transformed:
        """The nest as it stands now."""
        return Transformed(self.program, self.names, self._foreign)

    @property
    def names(self) -> dict[str, int]:
        """Name to docc's number of every loop, in preorder."""
        return self._names.ids

    def apply(self, op: str, args: Args, position: int = 0) -> None:
        """Apply one step.

        A starred step is applied to the copies that allow it, and refused if none does. One that
        stands for several steps is done in whole or not at all.

        Raises:
            IllegalStepError: if it names an unknown loop or container, or is not legal here.
        """
        self._position = position
        before = self.program, self._buffers, self._names
        try:
            for step in self._well_formed(op, args).expansion():
                done = self._done(step)
                if len(self.names) + len(done.made) > MOST_LOOPS:
                    raise self.refusal(f"'{step.op}' would make more than {MOST_LOOPS} loops")
                self.program, self._buffers = done.program, done.buffers
                self._names = self._names.changed(self._loops(self._foreign), done.made)
        except IllegalStepError:
            self.program, self._buffers, self._names = before
            raise

    def _well_formed(self, op: str, args: Args) -> Step:
        try:
            step = checked(op, args)
        except RecipeError as error:
            raise self.refusal(str(error)) from None
        left = {name.rstrip("*").partition(".")[0] for name in step.loops} & self._left_early
        if left:  # a break would leave one tile only
            raise self.refusal(f"{min(left)} may be left early")
        return step

    def _done(self, step: Step) -> Editor:
        """The program with one more step."""
        if not unsigned(self.program.containers).keys().isdisjoint(self._names.variables):
            raise self.refusal(f"'{step.op}' may give unsigned loops an end below zero")
        editor = Editor(self.program, self.names, self._data, self._buffers)
        refusals = [editor.tried(one) for one in self._each(step)]
        if all(refusals):
            refusal = refusals[-1]
            raise self.refusal(f"'{step.text()}' is not known to be legal: {refusal}") from refusal
        return editor

    def _each(self, step: S) -> list[S]:
        """The step once for each loop that a starred name stands for."""
        stars = [n for n, a in enumerate(step.args) if isinstance(a, str) and a.endswith("*")]
        if not stars:
            return [step]
        if len(stars) > 1:
            raise self.refusal("only one name of a step may carry a star")
        place = stars[0]
        base = str(step.args[place])[:-1]
        copies = self._names.copies(base)
        if not copies:
            raise self.refusal(f"there is no loop {base}, only {', '.join(self.names)}")
        before, after = step.args[:place], step.args[place + 1 :]
        return [type(step)._make((step.op, (*before, name, *after))) for name in copies]

    def refusal(self, message: str) -> IllegalStepError:
        """The error that says why a step is not legal here."""
        return IllegalStepError(f"step {self._position + 1}: {message}", self._position)
