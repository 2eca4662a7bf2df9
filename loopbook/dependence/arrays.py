"""What loops do to arrays: what is asked where whole loops move, or look as if they could.

Everything counts as done that a branch may do, and bounds that are not understood as if there were
none. Which of a loop's accesses comes first is not kept.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product

from loopbook.dependence import model
from loopbook.dependence.body import Statement, read_header
from loopbook.dependence.distances import Distances, Meeting
from loopbook.dependence.model import Linear
from loopbook.dependence.touches import Touch
from loopbook.errors import IllegalStepError
from loopbook.program import tree
from loopbook.program.accesses import Access, own_accesses
from loopbook.program.dataflow import AccessNode, Block
from loopbook.program.tree import Loop, While
from loopbook.program.walk import children


@dataclass(eq=False)
class ArrayLoop:
    """A loop with what it does to arrays.

    Attributes:
        variable: a name of its own for a loop that counts nothing: that has iterations, too.
        lows, highs: none where they are not understood.
        children: the loops inside, then one statement for all accesses that stand in no other loop.
    """

    variable: str
    lows: list[Linear] = field(default_factory=list)
    highs: list[Linear] = field(default_factory=list)
    step: int = 1
    children: list[ArrayLoop | Statement] = field(default_factory=list)
    rooms: tuple[Linear, ...] = ()


def read_arrays(
    loop: Loop | While,
    arrays: Collection[str],
    around: Sequence[ArrayLoop] = (),
    *,
    bounded: bool = True,
) -> ArrayLoop:
    """A loop with what it does to arrays.

    Args:
        arrays: the names of all arrays.
        around: the loops around it, outermost first.
        bounded: whether to read the loops' bounds.
    """
    node = _header(loop, around, bounded)
    own = Statement([])
    _read(loop, node, own, arrays, around, bounded)
    if own.touches:
        node.children.append(own)
    return node


def _read(
    node: tree.Node | tree.Case,
    loop: ArrayLoop,
    own: Statement,
    arrays: Collection[str],
    around: Sequence[ArrayLoop],
    bounded: bool,
) -> None:
    for child in children(node):
        if isinstance(child, Loop | While):
            loop.children.append(read_arrays(child, arrays, [*around, loop], bounded=bounded))
            continue
        for access in own_accesses(child):
            if access.container in arrays:
                subset = () if _is_pointer(child, access) else access.subset
                own.touches.append(Touch(access.container, subset, access.write))
        _read(child, loop, own, arrays, around, bounded)


def _is_pointer(node: tree.Node | tree.Case, access: Access) -> bool:
    """Whether it is the pointer that is written, not what it points at."""
    if not (access.write and access.memlet and isinstance(node, Block)):
        return False
    return isinstance(node.nodes[access.memlet.source], AccessNode)


def _header(loop: Loop | While, around: Sequence[ArrayLoop], bounded: bool) -> ArrayLoop:
    if isinstance(loop, While):
        return ArrayLoop(f"{loop.id or id(loop)}'")
    if bounded:
        try:
            found = read_header(loop, [outer.variable for outer in around])
            return ArrayLoop(found.variable, found.lows, found.highs, found.step)
        except IllegalStepError:
            pass
    return ArrayLoop(loop.variable)


def loops_in(loop: ArrayLoop) -> Iterator[ArrayLoop]:
    """A loop and those inside of it, in program order, each before those that it holds."""
    yield loop
    for child in loop.children:
        if isinstance(child, ArrayLoop):
            yield from loops_in(child)


Placed = tuple[model.Statement, model.Access]
"""An access, and the statement that it is one of."""


class Conflicts:
    """Where the iterations inside of a loop touch what others of them write.

    Args:
        loop: that holds all of them.
        around: the loops around it, outermost first; the iterations are in the same one of these.
        arrays: the names of all arrays.

    Attributes:
        loop: what it does to arrays.
    """

    def __init__(self, loop: Loop, around: Sequence[Loop | While], arrays: Collection[str]) -> None:
        outer: list[ArrayLoop] = []
        for other in around:
            outer.append(_header(other, outer, True))
        self.loop = read_arrays(loop, arrays, outer)
        self._distances = Distances([self.loop], outer)

    def pairs(self) -> Iterator[tuple[Placed, Placed]]:
        """Every two accesses to one array, in both orders, of which one at least writes."""
        placed: dict[str, list[Placed]] = {}
        for statement, _ in model.statements(self.loop):
            for touch in dict.fromkeys(statement.touches):
                placed.setdefault(touch.container, []).append((statement, touch))
        for found in placed.values():
            for one, two in product(found, found):
                if one[1].write or two[1].write:
                    yield one, two

    def distance(
        self, one: Placed, two: Placed, place: str | Linear, other: str | Linear
    ) -> int | Meeting:
        """How far apart two iterations are that touch the same element.

        Args:
            place, other: the loop variable around `one`, and that around `two`, that is asked for;
                the place of a statement that always runs at one, which no loop changes.

        Returns:
            ``other - place`` where the accesses may meet, if that is one number.
        """
        return self._distances.between((*one, place), (*two, other))
