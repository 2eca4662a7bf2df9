"""Greatest and least numbers that branches choose: ``if x > m: m = x``.

By then docc has written the comparison as a flag (`loopbook.sdfg.decided`)::

    v = x[k]; f = 0
    if (m < v) f = 1
    if (0 != f) m = x[k]

What is stored is what has been compared, or a copy of the same element.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from loopbook.program import expr
from loopbook.program.accesses import accesses, symbols
from loopbook.program.dataflow import Block, Memlet, Statement, Tasklet, container_at
from loopbook.program.tree import Assignments, Branch, Program
from loopbook.program.types import Scalar
from loopbook.program.walk import Inner

_LESS = re.compile(r"\(?(\w+) <=? (\w+)\)?")

_HOLDS = re.compile(r"\(?0 != (\w+)\)?")


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
        compared, flag = _flagged(test)
        choice = _next_branch(body[place + 1 :]) if flag in private else None
        stored = None if choice is None else _stored(choice, flag)
        if stored is None or choice is None or not isinstance(test, Branch):
            continue
        best, source = stored
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
        if _origin((value, ()), rest, written) == _origin(source, rest, written):
            function = "fmax" if best == compared[0] else "fmin"
            yield Chosen(test, choice, best, value, function, kind.dtype)


def _next_branch(nodes: Sequence[Inner]) -> Branch | None:
    """The first branch, if there is nothing but statements before."""
    for node in nodes:
        if isinstance(node, Branch):
            return node
        if type(node) is not Statement:
            return None
    return None


def _flagged(node: Inner) -> tuple[tuple[str, str], str]:
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


def _stored(node: Inner, flag: str) -> tuple[str, Place] | None:
    """The scalar that a branch gives a value where a flag holds, and what it does get."""
    if not isinstance(node, Branch) or len(node.cases) != 1:
        return None
    (case,) = node.cases
    holds = _HOLDS.fullmatch(case.condition.text)
    if holds is None or holds[1] != flag:
        return None
    match case.body.children:
        case [Statement() as only]:
            copied = _copied(only)
            return None if copied is None or copied[0][1] else (copied[0][0], copied[1])
    return None


def _copied(block: Block) -> tuple[Place, Place] | None:
    """What a block that does nothing else assigns to, and what."""
    match block.nodes, block.by_age:
        case nodes, [_, _] if len(nodes) == 3:
            task = next((n for n, one in enumerate(nodes) if isinstance(one, Tasklet)), -1)
            if task < 0 or getattr(nodes[task], "code", "") != "assign":
                return None
            ways = [(m, m.target) for m in block.outputs[task]]
            ways += [(m, m.source) for m in block.inputs[task]]
            target, source = (_place(block, memlet, end) for memlet, end in ways)
            return (target, source) if target[0] and source[0] else None
    return None


def _place(block: Block, memlet: Memlet, end: int) -> Place:
    return container_at(block, end), tuple(index.text for index in memlet.subset)


def _origin(place: Place, rest: Sequence[Inner], written: list[str]) -> Place:
    """The element that a scalar is a copy of, if nothing changes either; itself otherwise."""
    if place[1] or written.count(place[0]) != 1:
        return place
    for node in rest:
        copied = _copied(node) if type(node) is Statement else None
        if copied is None or copied[0] != place:
            continue
        container, indices = copied[1]
        if {container}.union(*map(expr.symbols, indices)).isdisjoint(written):
            return copied[1]
    return place
