"""Elements that are computed again and again, some beside each other.

docc brings parallel loops to the outside, and with them what repeats a computation to the inside::

    for i: for step in range(n): x[i] = x[i] - f(x[i]) / g(x[i])

Each step waits there for the one before, as no other is near, and calls ``exp`` for one number.
So many elements as stay in a first cache take each step together, in vectors::

    for ii by 256: for step in range(n): for i in ii … ii + 256: x[i] = x[i] - f(x[i]) / g(x[i])

An iteration of the outer loop uses no element that another one stores into, so their order is free:
what is stored into is named in one way, which has the loop's variable in it. What a step has of its
own, such as a coefficient, is the same for all elements: else loops are sums, which have recipes.
Done last, to what is served: what the book knows are the loops in docc's order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from loopbook.dependence.scalars import live_out, surely_written, upward_exposed
from loopbook.errors import SdfgError
from loopbook.program import expr
from loopbook.program.accesses import accesses, written
from loopbook.program.dataflow import Statement
from loopbook.program.expr import Expr
from loopbook.program.tree import SEQUENTIAL, VECTORISED, Assignments, Branch, Case, Loop, Program
from loopbook.program.tree import Sequence as Nodes
from loopbook.program.types import Scalar
from loopbook.program.walk import Inner, children, preorder, with_children, with_new
from loopbook.sdfg.new_scalars import NewScalars

TOGETHER = 256
"""Elements that take a step together: 2 KiB of each array that is used."""

FEWEST = 8
"""That are worth it, where it is known how many there are."""

PREFIX = "together_"
"""Of the variables of loops over those."""


def with_elements_together(program: Program) -> Program:
    """A finished program in which elements that loops compute again and again take each step
    together; itself if there are none such."""
    work = _Work(program, NewScalars(program))
    body = with_new(program.body, [work.below(child) for child in program.body.children])
    if body is program.body:
        return program
    return replace(work.program, body=body).declaring(**work.new.made)


@dataclass
class _Work:
    """The program, whose loops are counted on the way, and the variables that it needs besides."""

    program: Program
    new: NewScalars

    def below(self, node: Inner) -> Inner:
        if isinstance(node, Loop) and self._are_repeated(node):
            return self._together(node)
        return with_new(node, [self.below(child) for child in children(node)])

    def _are_repeated(self, loop: Loop) -> bool:
        """Whether each iteration of a loop computes its own elements again and again."""
        steps = [node for node in children(loop) if isinstance(node, Loop)]
        if not steps or loop.kind == "reduce" or any(one.kind != "for" for one in steps):
            return False
        try:
            return _may_change_places(loop, steps) and self._are_apart(loop, steps)
        except SdfgError:
            return False

    def _are_apart(self, loop: Loop, steps: Sequence[Loop]) -> bool:
        """Whether no iteration of a loop uses what another one stores, all elements that it uses
        lie beside those of the next one, and no scalar goes from one part of it to another."""
        parts = _parts(loop)
        if not all(isinstance(n, STATEMENTS) for part in parts for n in preorder(part)):
            return False
        changed, types = written(loop), self.program.containers
        scalars = {name for name in changed if isinstance(types.get(name), Scalar)}
        carried = frozenset().union(*map(upward_exposed, parts), *map(_header, [loop, *steps]))
        left = {name for part in parts for name in scalars & written(part) - surely_written(part)}
        if scalars & carried or (left and left & live_out(self.program, loop)):
            return False
        counters = {one.variable for one in steps}
        stored: dict[str, set[tuple[str, ...]]] = {}
        for access in accesses(loop):
            if not access.subset:
                if not isinstance(types.get(access.container), Scalar):
                    return False
                continue
            used = frozenset[str]().union(*(index.symbols for index in access.subset))
            *outer, last = [expr.growth(one.polynomial, loop.variable) for one in access.subset]
            if used & changed or any(outer) or last not in ({}, {(): 1}):
                return False
            if last and used & counters:
                return False
            if access.container in changed:
                stored.setdefault(access.container, set()).add(tuple(i.text for i in access.subset))
                if not last:
                    return False
        again = frozenset[str]().union(*map(written, steps))
        return bool(again & stored.keys()) and all(len(ways) == 1 for ways in stored.values())

    def _together(self, loop: Loop) -> Loop:
        """Strips of a loop, inside of the loops that it holds."""
        kind = self.program.containers[loop.variable]
        assert isinstance(kind, Scalar)
        first = self.new.of(PREFIX, kind)
        ends = [expr.text(high) for high in loop.bounds.highs]
        last = expr.smallest([*ends, f"{first} + {TOGETHER}"])
        strip = replace(
            loop, init=Expr(first), condition=Expr(f"({loop.variable} < {last})"),
            kind="map", schedule=VECTORISED,
        )  # fmt: skip
        inside: list[Inner] = []
        for part in _parts(loop):
            strip = replace(strip, id=self._number(), body=part)
            inside.append(strip)
        steps = iter(node for node in children(loop) if isinstance(node, Loop))
        for place, node in enumerate(_groups(loop)):
            if isinstance(node, Loop):
                own = replace(next(steps), schedule=SEQUENTIAL)
                inside[place] = with_children(own, [inside[place]])
        outer = replace(
            loop, variable=first, condition=Expr(f"({first} < {expr.smallest(ends)})"),
            update=Expr(f"({first} + {TOGETHER})"),
        )  # fmt: skip
        return with_children(outer, inside)

    def _number(self) -> int:
        number = self.program.counter + 1
        self.program = replace(self.program, counter=number)
        return number


STATEMENTS = (Nodes, Statement, Assignments, Branch, Case)
"""What parts consist of."""


def _groups(loop: Loop) -> list[Loop | list[Inner]]:
    """The loops that a loop holds, and what stands between them."""
    found: list[Loop | list[Inner]] = []
    for node in children(loop):
        if isinstance(node, Loop):
            found.append(node)
        elif found and isinstance(found[-1], list):
            found[-1].append(node)
        else:
            found.append([node])
    return found


def _parts(loop: Loop) -> list[Nodes]:
    """The bodies of the loops that a loop holds, and what stands between them."""
    return [
        one.body if isinstance(one, Loop) else replace(loop.body, children=tuple(one), id=None)
        for one in _groups(loop)
    ]


def _may_change_places(loop: Loop, steps: Sequence[Loop]) -> bool:
    """Whether loops run equally often whatever the other's variable is, and the outer one as often
    as is worth it, as far as that is known."""
    bounds, trip = loop.bounds, loop.bounds.trip()
    if bounds.step != 1 or not bounds.highs or (trip is not None and trip < FEWEST):
        return False
    own = _header(loop)
    return all(loop.variable not in _header(one) and one.variable not in own for one in steps)


def _header(loop: Loop) -> frozenset[str]:
    found = loop.init.symbols | loop.condition.symbols | loop.update.symbols
    return found - {loop.variable}
