"""The part of an SDFG that a rewriting changes: one loop, its siblings, and the loops around."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from loopbook.dependence import domain, holds
from loopbook.errors import IllegalStepError
from loopbook.program import expr
from loopbook.sdfg import affine
from loopbook.sdfg.affine import Linear
from loopbook.sdfg.document import Types
from loopbook.sdfg.looptree import (
    Json,
    LoopNode,
    make_serial,
    private_scalars,
    read_header,
    read_loop,
    write_loop,
)
from loopbook.sdfg.names import UNTOUCHED
from loopbook.sdfg.rewrites.document import Draft


@dataclass
class Region:
    """A loop in its place.

    Attributes:
        siblings: the list of elements that holds it.
        around: the loops around it, outermost first, without what is in them. What the branches
            around it say is not used.
    """

    draft: Draft
    siblings: list[Json]
    around: list[LoopNode]

    @classmethod
    def of(cls, draft: Draft, element_id: int) -> Region:
        """The region of the loop with an element id.

        Raises:
            IllegalStepError: it is inside of a loop that is not affine.
        """
        found = _search(draft.document["root"]["children"], element_id, [])
        if found is None:
            raise IllegalStepError("the loop is gone")
        siblings, path = found
        around: list[LoopNode] = []
        for element in path:
            if "indvar" not in element:
                raise IllegalStepError("the loop stands in a loop without a counter")
            around.append(read_header(element, frozenset(loop.variable for loop in around)))
        return cls(draft, siblings, around)

    def tree(self, element_id: int) -> LoopNode:
        """The loop tree of one of the siblings."""
        element = self.siblings[self.place(element_id)]
        variables = frozenset(loop.variable for loop in self.around)
        document = self.draft.document
        types = Types(document["containers"])
        return read_loop(element, variables, private_scalars(document), types)

    def place(self, element_id: int) -> int:
        for place, element in enumerate(self.siblings):
            if element["element_id"] == element_id:
                return place
        raise IllegalStepError("the loops are not neighbours")

    def tighten(self, tree: LoopNode) -> None:
        """Drop bounds of a loop, and of those inside of it, that others make needless."""
        self._tighten(tree, self.around)

    def _tighten(self, tree: LoopNode, around: list[LoopNode]) -> None:
        known = domain(around)
        tree.lows = _decisive(tree.lows, known, 1)
        tree.highs = _decisive(tree.highs, known, -1)
        for child in tree.children:
            if isinstance(child, LoopNode):
                self._tighten(child, [*around, tree])

    def put(self, place: int, count: int, trees: list[LoopNode]) -> None:
        """Write `trees` in the place of `count` siblings, as ordinary serial loops."""
        self.siblings[place : place + count] = [write_loop(tree) for tree in trees]


def serialise(*loops: LoopNode) -> None:
    """Make loops ordinary ones whose new order docc has not looked at."""
    for loop in loops:
        make_serial(loop.element)


def _decisive(bounds: list[Linear], known: list[Linear], sign: int) -> list[Linear]:
    """The bounds without those that others make needless.

    Args:
        known: what holds for the variables.
        sign: 1 if the greatest of the bounds counts (lower bounds), -1 if the least.
    """
    kept: list[Linear] = []
    for number, bound in enumerate(bounds):
        others = [*kept, *bounds[number + 1 :]]
        gaps = (affine.minus(other, bound) for other in others)
        beyond = ({name: sign * f for name, f in gap.items()} for gap in gaps)
        if not any(holds(known, gap) for gap in beyond):
            kept.append(bound)
    return kept


def child_loop(parent: LoopNode, element_id: int) -> LoopNode:
    """A loop directly inside of another one.

    Raises:
        IllegalStepError: it is elsewhere.
    """
    for child in parent.children:
        if isinstance(child, LoopNode) and child.element["element_id"] == element_id:
            return child
    raise IllegalStepError("the second loop is not directly inside the first one")


def put_for(elements: Iterable[Json], values: Mapping[str, str]) -> None:
    """Write expressions for loop variables, in place and all at once.

    Raises:
        IllegalStepError: a variable is data of a computation, where no expression can stand.
    """
    waiting: list[Any] = list(elements)
    while waiting:
        part = waiting.pop()
        items = part.items() if isinstance(part, dict) else enumerate(part)
        for key, value in list(items):
            if isinstance(value, str) and key not in UNTOUCHED:
                if value in values and key == "data" and not values[value].isidentifier():
                    raise IllegalStepError(f"{value} is used as a number")
                part[key] = expr.substitute(value, values)
            elif isinstance(value, dict | list) and key not in UNTOUCHED:
                waiting.append(value)


def _search(
    siblings: list[Json], element_id: int, path: list[Json]
) -> tuple[list[Json], list[Json]] | None:
    for element in siblings:
        if element["element_id"] == element_id:
            return siblings, path
        inner = [case["root"]["children"] for case in element.get("branches", ())]
        outer = path
        if "root" in element:
            inner, outer = [element["root"]["children"]], [*path, element]
        for children in inner:
            if found := _search(children, element_id, outer):
                return found
    return None
