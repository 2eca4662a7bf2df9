"""Distances between the array accesses of a nest, for rewritings that move whole loops."""

from __future__ import annotations

from loopbook.dependence import Distances, Meeting
from loopbook.errors import IllegalStepError
from loopbook.program import expr
from loopbook.program.nest import Access, Loop, Nest
from loopbook.sdfg.accesstree import AccessTree
from loopbook.sdfg.looptree import Statement, Touch

Placed = tuple[Statement, Touch]


class Conflicts:
    """The accesses inside a loop of a nest to arrays that it writes.

    Attributes:
        accesses: in program order.
    """

    def __init__(self, nest: Nest, loop: Loop) -> None:
        tree = AccessTree.of(nest, loop)
        written = {touch.container for _, _, touch in tree.placed if touch.write}
        self.accesses: list[tuple[Access, Placed]] = [
            (access, (statement, touch))
            for access, statement, touch in tree.placed
            if touch.container in written
        ]
        self._distances = Distances([tree.loop], tree.around)

    def distance(self, a: Placed, b: Placed, place: str | int, other: str | int) -> int | Meeting:
        """How far apart two iterations are that touch the same element.

        Args:
            place, other: the loop variable around `a`, and that around `b`, that is asked for; a
                number for a statement that always runs at one place.

        Returns:
            ``other - place`` where the accesses may meet, if that is one number.
        """
        return self._distances.between((*a, place), (*b, other))


def check_plain(nest: Nest, loop: Loop) -> None:
    """Refuse loops with jumps, library calls, pointers, or bounds and indices that they compute.

    Raises:
        IllegalStepError: if there are any.
    """
    texts = [text for access in nest.accesses for text in access.subset]
    texts += [branch.condition for branch in nest.branches]
    texts += [text for other in nest.loops for text in (other.init, other.condition, other.update)]
    used = {symbol for text in texts for symbol in expr.symbols(text)}
    if computed := sorted(used & {c.data for c in nest.containers if c.written}):
        raise IllegalStepError(f"an index or bound depends on {computed[0]}, which the nest writes")
    for operation in nest.operations:
        if loop in nest.ancestry(nest.blocks[operation.block].parent) and (
            operation.op in ("break", "continue", "return", "reference", "symbol")
            or operation.op.startswith("lib:")
        ):
            raise IllegalStepError(f"{loop.name} holds an operation '{operation.op}'")


def plus(a: expr.Polynomial, b: expr.Polynomial, factor: int = 1) -> expr.Polynomial:
    """``a + factor*b``."""
    total = dict(a)
    for monomial, value in b.items():
        total[monomial] = total.get(monomial, 0) + factor * value
    return {monomial: value for monomial, value in total.items() if value}
