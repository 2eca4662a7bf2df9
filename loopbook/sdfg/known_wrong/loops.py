"""Loops: variables that bodies change, steps that do not divide, bounds that change, ``break``."""

from __future__ import annotations

import ast
from collections.abc import Iterable

import numpy as np

from loopbook.sdfg.known_wrong.kinds import Kinds, assigned
from loopbook.sdfg.known_wrong.source import (
    BlockRewriter,
    base,
    expression,
    integer,
    without_minus,
)
from loopbook.syntax import mentioned, walk


class Loops(BlockRewriter):
    """docc counts a ``for`` with the loop's own variable, in a container of its own name.

    - What a body assigns to that variable, or an inner loop of the same name counts with it,
      changes how often docc's loop runs; and after the loop it is one step further than in Python.
      After: a counter of its own, and ``i = counter`` first in the body.
    - ``range(n - 1, 0, -3)``, and bounds whose difference is a constant: docc takes the number of
      iterations for the quotient rounded down. After: a loop over that number rounded up.
    - ``range(n)`` where the body changes n: docc asks again each time. Refused.
    - ``break`` in an inner loop: docc reorders the loops around it. In one beside another loop:
      docc joins the two if they have the same range. In one that is known to run once: docc keeps
      the ``break`` and drops the loop. After: a ``while``.
    - A step that is a variable: docc's loop only counts upwards. Refused.
    """

    def __init__(self, kinds: Kinds, ones: frozenset[tuple[str, int]]) -> None:
        """
        Args:
            ones: array arguments and dimensions of extent 1, which docc writes as a constant.
        """
        super().__init__(kinds.source)
        self.kinds = kinds
        self.ones = ones
        self.depth = 0
        self.leftovers = read_after(kinds.source.body)
        self.counters: set[str] = set()

    def visit_For(self, node: ast.For) -> ast.AST | list[ast.stmt]:
        self.depth += 1
        inner = self.block(node.body)
        self.depth -= 1
        node.body = inner
        counted = isinstance(node.iter, ast.Call) and isinstance(node.target, ast.Name)
        if not counted or node.orelse:
            return node  # docc says that it does not translate those
        self._check_bounds(node)
        if leaves(node.body) and self._loses_breaks(node):
            return self._as_while(node)
        self._step(node)
        return node

    def visit_While(self, node: ast.While) -> ast.AST:
        self.depth += 1
        node.body = self.block(node.body)
        self.depth -= 1
        return node

    def _loses_breaks(self, node: ast.For) -> bool:
        """Whether docc may take this loop's ``break`` for another's, or for nobody's."""
        assert isinstance(node.iter, ast.Call)
        if self.depth or returns(node.body) or self._has_others(node):
            return True
        return self._fixed(*node.iter.args)

    def _has_others(self, node: ast.For) -> bool:
        """Whether there are loops outside of one that lies in no other."""
        loops = sum(1 for part in self.source.walk() if isinstance(part, ast.For | ast.While))
        return loops > sum(1 for part in walk(node) if isinstance(part, ast.For | ast.While))

    def _check_bounds(self, node: ast.For) -> None:
        assert isinstance(node.iter, ast.Call)
        changed = {name for name, _ in assigned(node.body)} | {_target(node)}
        asked = {name for bound in node.iter.args for name in mentioned(bound)} & changed
        asked = {name for name in asked if self.kinds.of(ast.Name(id=name)).rank == 0}
        if asked:
            name = min(asked)
            self.source.refuse(
                node, f"asks for '{name}' again, which the loop changes", "copy it before the loop"
            )

    def _step(self, node: ast.For) -> None:
        """Give the loop a counter of its own where it needs one."""
        assert isinstance(node.iter, ast.Call)
        start, stop, step = self._range(node, node.iter.args)
        uneven = self._uneven(start, stop, step)
        name = _target(node)
        taken = name in {n for n, _ in assigned(node.body)} or id(node) in self.leftovers
        if not uneven and not taken:
            return
        counter = self._fresh("count")
        value: ast.expr = ast.copy_location(ast.Name(id=counter, ctx=ast.Load()), node)
        if uneven:
            self.source.mend(node, "count the iterations of a loop with a step")
            span = "b - a" if step > 0 else "a - b"
            trips = expression(f"({span} + {abs(step) - 1}) // {abs(step)}", node, a=start, b=stop)
            sign = "+" if step > 0 else "-"
            value = expression(f"a {sign} c * {abs(step)}", node, a=start, c=value)
            node.iter.args = [trips]
        else:
            self.source.mend(node, f"count the loop over '{name}' with a counter of its own")
        node.target = ast.copy_location(ast.Name(id=counter, ctx=ast.Store()), node)
        node.body = [_assign(name, value, node), *node.body]

    def _range(self, node: ast.For, given: list[ast.expr]) -> tuple[ast.expr, ast.expr, int]:
        """Start, stop and step of a loop over a range."""
        step = 1 if len(given) < 3 else integer(given[2], self.source.names)
        if step is None or step == 0:
            self.source.refuse(
                node, "counts upwards whatever the step is", "write the step as a number"
            )
        start = given[0] if len(given) > 1 else ast.copy_location(ast.Constant(value=0), node)
        return start, given[1] if len(given) > 1 else given[0], step

    def _uneven(self, start: ast.expr, stop: ast.expr, step: int) -> bool:
        """Whether docc may count this loop wrongly."""
        if abs(step) == 1:
            return False
        span = self._constant(stop, start)
        if span is not None:
            return bool(span % step)
        return step < 0 or self._fixed(start, stop)

    def _constant(self, stop: ast.expr, start: ast.expr) -> int | None:
        from loopbook.errors import LoopbookError
        from loopbook.program import expr

        try:
            form = expr.polynomial(f"({ast.unparse(stop)}) - ({ast.unparse(start)})")
        except (LoopbookError, ValueError, SyntaxError, TypeError, AttributeError, KeyError):
            return None
        rest = {monomial: factor for monomial, factor in form.items() if factor}
        if not rest:
            return 0
        return int(rest[()]) if set(rest) == {()} else None

    def _fixed(self, *bounds: ast.expr) -> bool:
        """Whether docc may know the bounds as numbers."""
        return not any(self._open(bound, frozenset()) for bound in bounds)

    def _open(self, bound: ast.expr, seen: frozenset[str]) -> bool:
        """Whether a bound needs something that docc has no number for."""
        for node in walk(bound):
            if isinstance(node, ast.Subscript):
                if not self._is_one(node):
                    return True
            elif isinstance(node, ast.Name) and self.kinds.of(node).rank == 0:
                if node.id in self.kinds.parameters:
                    return True
                given = [v for n, v in assigned(self.source.body) if n == node.id]
                for value in given if node.id not in seen else ():
                    if isinstance(value, ast.For) or self._open(value, seen | {node.id}):
                        return True
        return False

    def _is_one(self, node: ast.expr) -> bool:
        """Whether this is the extent of a dimension of one element."""
        if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Attribute):
            return False
        return node.value.attr == "shape" and (base(node), integer(node.slice)) in self.ones

    def _as_while(self, node: ast.For) -> list[ast.stmt]:
        assert isinstance(node.iter, ast.Call)
        start, stop, step = self._range(node, node.iter.args)
        self.source.mend(node, "write a loop that is left early as a while")
        counter, last = self._fresh("count"), self._fresh("last")
        here = ast.copy_location(ast.Name(id=counter, ctx=ast.Load()), node)
        end = ast.copy_location(ast.Name(id=last, ctx=ast.Load()), node)
        test = expression("c < e" if step > 0 else "c > e", node, c=here, e=end)
        further = expression(f"c + {step}" if step > 0 else f"c - {-step}", node, c=here)
        body = [_assign(_target(node), here, node), _assign(counter, further, node), *node.body]
        loop = ast.copy_location(ast.While(test=test, body=body, orelse=[]), node)
        if self._is_one(stop):  # docc cannot assign such an extent
            stop = ast.copy_location(ast.Constant(value=1), node)
        ends = (counter, without_minus(start)), (last, without_minus(stop))
        return [*(_assign(name, value, node) for name, value in ends), loop]

    def _fresh(self, stem: str) -> str:
        number = len(self.counters)
        while (name := f"lb_{stem}_{number}") in self.counters or name in self.source.names:
            number += 1
        self.counters.add(name)
        return name


def leaves(body: Iterable[ast.stmt]) -> bool:
    """Whether a loop's body has a ``break`` for it, or a ``return``."""
    for part in body:
        if isinstance(part, ast.Break | ast.Return):
            return True
        if isinstance(part, ast.If) and (leaves(part.body) or leaves(part.orelse)):
            return True
        if isinstance(part, ast.For | ast.While) and returns(part.body):
            return True
    return False


def returns(body: Iterable[ast.stmt]) -> bool:
    """Whether there is a ``return`` anywhere inside."""
    return any(isinstance(n, ast.Return) for part in body for n in walk(part))


def read_after(body: list[ast.stmt]) -> set[int]:
    """The loops (by `id`) whose variable is read after they have ended."""
    found: set[int] = set()
    _flow(body, {}, found)
    return found


Live = dict[str, frozenset[int]]
"""Variable to the loops that have ended and may have left it where it is."""


def _flow(body: list[ast.stmt], live: Live, found: set[int]) -> Live:
    for part in body:
        if isinstance(part, ast.For):
            _read(part.iter, live, found)
            name = _target(part)
            inner = _without(live, name)
            for _ in range(2):
                before = inner
                inner = _merged(inner, _flow(part.body, _without(inner, name), found))
                if inner == before:  # looking again would take twice as long for each loop around
                    break
            live = _merged(live, inner)
            live[name] = live.get(name, frozenset()) | {id(part)}
        elif isinstance(part, ast.While):
            for _ in range(2):
                before = live
                _read(part.test, live, found)
                live = _merged(live, _flow(part.body, dict(live), found))
                if live == before:
                    break
        elif isinstance(part, ast.If):
            _read(part.test, live, found)
            live = _merged(
                _flow(part.body, dict(live), found), _flow(part.orelse, dict(live), found)
            )
        elif isinstance(part, ast.Assign):
            _read(part.value, live, found)
            for target in part.targets:
                if isinstance(target, ast.Name):
                    live = _without(live, target.id)
                else:
                    _read(target, live, found)
        else:
            _read(part, live, found)
    return live


def _read(node: ast.AST, live: Live, found: set[int]) -> None:
    for name in mentioned(node):
        found.update(live.get(name, ()))


def _without(live: Live, name: str) -> Live:
    return {n: loops for n, loops in live.items() if n != name}


def _merged(one: Live, other: Live) -> Live:
    return {n: one.get(n, frozenset()) | other.get(n, frozenset()) for n in {*one, *other}}


def extents_of_one(arguments: Iterable[tuple[str, object]]) -> frozenset[tuple[str, int]]:
    """The array arguments and their dimensions that have one element, counted from both ends."""
    return frozenset(
        (name, place)
        for name, value in arguments
        if isinstance(value, np.ndarray)
        for axis, extent in enumerate(value.shape)
        if extent == 1
        for place in (axis, axis - value.ndim)
    )


def _target(node: ast.For) -> str:
    return node.target.id if isinstance(node.target, ast.Name) else ""


def _assign(name: str, value: ast.expr, at: ast.AST) -> ast.stmt:
    target = ast.Name(id=name, ctx=ast.Store())
    return ast.fix_missing_locations(
        ast.copy_location(ast.Assign(targets=[target], value=value), at)
    )
