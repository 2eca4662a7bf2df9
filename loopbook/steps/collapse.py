from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from loopbook.errors import IllegalStepError, SdfgError
from loopbook.program.accesses import own_accesses, own_symbols
from loopbook.program.dataflow import Statement
from loopbook.program.expr import ONE, Expr, Polynomial, mentioned, product, text
from loopbook.program.tree import Loop as TreeLoop
from loopbook.program.tree import Node
from loopbook.program.walk import band, preorder
from loopbook.steps.arguments import MAX_COLLAPSE, Integer, Loop
from loopbook.steps.base import Step
from loopbook.steps.editor import Editor, assignments
from loopbook.steps.region import known_bounds, put_for, serial


class Collapse(Step):
    """One loop over all iterations of several loops in each other.

    Before ``collapse L0 2``::

        for i in 0 … n:
            for j in 0 … m: S(i, j)

    and after it, ``L0.flat``::

        for k in 0 … n * m: S(k / m, k % m)

    or, where only elements that follow each other in memory are touched, ``i * m + j``, without a
    division::

        for k in 0 … n * m: S(k)
    """

    name = "collapse"
    textbook = "loop collapsing, coalescing"
    source = "Polychronopoulos, ICPP 1987"
    example = "collapse L0 2"
    makes = ("{loop}.flat",)
    refines = True
    traits = {"threads": 0.3}

    loop = Loop()
    loops_together = Integer(2, MAX_COLLAPSE, label="count")

    def apply(self, editor: Editor) -> None:
        """Legal for loops from 0 on that are all that the one around them holds, and whose ends do
        not depend on each other. Iterations stay in their order; those that are to be told from
        their number by divisions have to be parallel."""
        top = editor.loop(self.loop)
        loops = band(top)[: self.loops_together]
        if len(loops) < self.loops_together:
            raise IllegalStepError(f"{self.loop} does not hold so many loops in each other")
        ends = ends_of(loops)
        variable = editor.variable(f"{top.variable}_flat", top.variable)
        count = "*".join(f"max(0, {text(end)})" for end in ends)  # two may be below zero
        if follow_each_other(loops, ends):
            values = {loop.variable: "0" for loop in loops[:-1]} | {loops[-1].variable: variable}
            body = tuple(put_for(node, values) for node in loops[-1].body.children)
        elif all(loop.kind == "map" for loop in loops):
            body = _told_by_divisions(loops, ends, variable)
        else:
            raise IllegalStepError("not all of the loops are parallel")
        flat = editor.new_loop(f"{self.loop}.flat", variable, "0", count, body)
        alike = len({(loop.kind, loop.reductions) for loop in loops}) == 1
        like = loops[-1] if alike else serial(loops[-1])
        editor.put(self.loop, replace(flat, kind=like.kind, reductions=like.reductions))


def ends_of(loops: Sequence[TreeLoop]) -> list[Polynomial]:
    """Where the loops of a band end.

    Raises:
        IllegalStepError: they are not such as can be collapsed.
    """
    return [_end(loop, loops) for loop in loops]


def _end(loop: TreeLoop, loops: Sequence[TreeLoop]) -> Polynomial:
    bounds = known_bounds(loop)
    counted = {other.variable for other in loops}
    if (
        bounds.step != 1
        or bounds.lows != ({},)
        or len(bounds.highs) != 1
        or not counted.isdisjoint(mentioned(bounds.highs[0]))
    ):
        raise IllegalStepError(f"the loop over {loop.variable} is none from 0 to an end")
    return bounds.highs[0]


def _told_by_divisions(
    loops: Sequence[TreeLoop], ends: Sequence[Polynomial], variable: str
) -> tuple[Node, ...]:
    """The body behind assignments to the loops' variables."""
    values: list[tuple[str, str]] = []
    rest = variable
    for loop, end in zip(loops[:0:-1], ends[:0:-1], strict=True):
        values.append((loop.variable, f"imod({rest}, {text(end)})"))
        rest = f"idiv({rest}, {text(end)})"
    return assignments([*values, (loops[0].variable, rest)]), *loops[-1].body.children


def follow_each_other(loops: Sequence[TreeLoop], ends: Sequence[Polynomial]) -> bool:
    """Whether the loops' variables are used in indices alone, and there only for the number of the
    iteration."""
    counted = {loop.variable for loop in loops}
    for node in preorder(loops[-1].body):
        if any(access.container in counted for access in own_accesses(node)):
            return False
        indices = []
        if type(node) is Statement:
            indices = [index for memlet in node.memlets for index in memlet.subset]
        elif counted & own_symbols(node):
            return False
        try:
            if not all(_is_of_number(index, loops, ends) for index in indices):
                return False
        except SdfgError:
            return False
    return True


def _is_of_number(index: Expr, loops: Sequence[TreeLoop], ends: Sequence[Polynomial]) -> bool:
    """Whether an index grows by the same amount from each iteration to the next one."""
    terms = index.polynomial
    if any("(" in symbol for monomial in terms for symbol in monomial):
        return False
    beside = _factor(terms, loops[-1].variable)
    width = ONE
    for loop, end in zip(reversed(loops), reversed(ends), strict=True):
        if _factor(terms, loop.variable) != product(beside, width):
            return False
        width = product(width, end)
    return True


def _factor(terms: Polynomial, variable: str) -> Polynomial:
    """What a variable is multiplied with.

    Raises:
        SdfgError: it has a power.
    """
    found = {}
    for monomial, factor in terms.items():
        if variable in monomial:
            rest = [*monomial]
            rest.remove(variable)
            if variable in rest:
                raise SdfgError(f"{variable} has a power")
            found[tuple(rest)] = factor
    return found
