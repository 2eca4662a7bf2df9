"""Greatest and least numbers that branches choose: ``if x > m: m = x``.

By then docc has written the comparison as a flag (`loopbook.sdfg.decided`)::

    v = x[k]; f = 0
    if (m < v) f = 1
    if (0 != f) m = x[k]

What is stored is what has been compared, a copy of the same element, or is computed once more in
the same way: ``if abs(x[k]) > m: m = abs(x[k])``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from loopbook.program import expr
from loopbook.program.accesses import accesses, symbols
from loopbook.program.dataflow import (
    Block,
    MathsCall,
    Memlet,
    Statement,
    Tasklet,
    container_at,
)
from loopbook.program.tree import Assignments, Branch, Program
from loopbook.program.types import Scalar
from loopbook.program.walk import Inner
from loopbook.sdfg.decided import asked_flag

_LESS = re.compile(r"\(?(\w+) <=? (\w+)\)?")


@dataclass(frozen=True)
class Chosen:
    """A number that a loop goes on from, in two branches only.

    Attributes:
        test, choice: the branches; the first sets a flag that the other one asks.
        best, value: the number, and the scalar that it is compared with.
        function: the one of C's that gives the same where nothing is a NaN.
        dtype: their type.
    """

    test: Branch
    choice: Branch
    best: str
    value: str
    function: str
    dtype: str


def chosen_extremes(
    body: Sequence[Inner], program: Program, private: frozenset[str]
) -> Iterator[Chosen]:
    """What a loop's body finds so, and does nothing else with.

    Args:
        private: scalars that carry nothing from one statement to another one.
    """
    types = program.containers
    for place, test in enumerate(body):
        compared, flag = flagged(test)
        choice = next_branch(body[place + 1 :]) if flag in private else None
        stored = None if choice is None else stored_where(choice, flag, private)
        if stored is None or choice is None or not isinstance(test, Branch):
            continue
        best, own = stored
        if best not in compared or compared[0] == compared[1]:
            continue
        value = compared[best == compared[0]]
        kind, other = types.get(best), types.get(value)
        if not isinstance(kind, Scalar) or kind != other or kind.dtype not in ("double", "float"):
            continue
        rest = [node for node in body if node is not test and node is not choice]
        if any({best, flag} & symbols(node) for node in rest):
            continue
        used = [access for node in rest for access in accesses(node)]
        written = [access.container for access in used if access.write]
        if any(access.container == best for access in used) or written.count(value) > 1:
            continue
        if any(own & names_in(node) for node in rest):
            continue
        again = [*rest, *choice.cases[0].body.children]
        made = Made(again, [*written, best, *own], value, private - {best})
        if made.stored((best, ())) == made.formula((value, ())):
            function = "fmax" if best == compared[0] else "fmin"
            yield Chosen(test, choice, best, value, function, kind.dtype)


def next_branch(nodes: Sequence[Inner]) -> Branch | None:
    """The first branch, if there is nothing but statements before."""
    for node in nodes:
        if isinstance(node, Branch):
            return node
        if type(node) is not Statement:
            return None
    return None


def flagged(node: Inner) -> tuple[tuple[str, str], str]:
    """What a branch compares to set a flag, the lesser one first; empty for other nodes."""
    if isinstance(node, Branch) and len(node.cases) == 1:
        (case,) = node.cases
        found = _LESS.fullmatch(case.condition.text)
        match case.body.children:
            case [Assignments(assignments=[only])] if found and only.expression.text == "1":
                return (found[1], found[2]), only.symbol
    return ("", ""), ""


Place = tuple[str, tuple[str, ...]]
"""A container and the indices of an element; a scalar has none."""


def names_in(node: Inner) -> set[str]:
    return {access.container for access in accesses(node)} | symbols(node)


def stored_where(
    node: Inner, flag: str, private: frozenset[str]
) -> tuple[str, frozenset[str]] | None:
    """The scalar that a branch gives a value where a flag holds, and what else it writes, which is
    for nobody else."""
    if not isinstance(node, Branch) or len(node.cases) != 1:
        return None
    (case,) = node.cases
    inside = case.body.children
    if asked_flag(case.condition) != flag or not all(type(one) is Statement for one in inside):
        return None
    written = [access for one in inside for access in accesses(one) if access.write]
    best = [access for access in written if access.container not in private]
    if len(best) != 1 or best[0].subset:
        return None
    return best[0].container, frozenset(one.container for one in written) - {best[0].container}


Formula = Place | tuple[str, tuple["Formula", ...]]
"""An element, or an operation and what it is of."""


@dataclass(frozen=True)
class Made:
    """How scalars are computed, as far as they are what they were computed of.

    Attributes:
        statements: in which they are.
        written: all that is written in the loop, once for each place.
        value: what is compared, which stays what it is until the end.
        own: scalars that are none of an earlier iteration's.
    """

    statements: Sequence[Inner]
    written: Sequence[str]
    value: str
    own: frozenset[str]

    def formula(self, place: Place) -> Formula:
        """What a scalar is computed of; itself if that may be something else by now."""
        if place[0] not in self.own or self.written.count(place[0]) != 1:
            return place
        return self.stored(place)

    def stored(self, place: Place) -> Formula:
        """What the only value that a scalar gets is computed of."""
        for node in self.statements:
            for made, op, sources in _made(node) if type(node) is Statement else ():
                parts = tuple(map(self._part, sources)) if made == place else (None,)
                if None not in parts:
                    return parts[0] if op == "assign" else (op, parts)  # type: ignore[return-value]
        return place

    def _part(self, source: Place) -> Formula | None:
        """What an operation is of; None if that may change."""
        found = self.formula(source)
        if found != source or source == (self.value, ()):
            return found
        names = {source[0]}.union(*map(expr.symbols, source[1]))
        return source if names.isdisjoint(self.written) else None


def _made(block: Block) -> Iterator[tuple[Place, str, list[Place]]]:
    """What a block gives a value, with which operation, and of what; no constants."""
    for task, operation in enumerate(block.nodes):
        if not isinstance(operation, Tasklet | MathsCall) or len(block.outputs[task]) != 1:
            continue
        (out,) = block.outputs[task]
        into = sorted(block.inputs[task], key=lambda memlet: memlet.target_connector)
        sources = [_place(block, memlet, memlet.source) for memlet in into]
        if all(name for name, _ in sources):
            kinds = {memlet.type.element for memlet in (*into, out)}
            op = operation.op if len(kinds) == 1 else f"{operation.op} to {out.type.element}"
            yield _place(block, out, out.target), op, sources


def _place(block: Block, memlet: Memlet, end: int) -> Place:
    return container_at(block, end), tuple(index.text for index in memlet.subset)
