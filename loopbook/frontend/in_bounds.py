"""Calls in which the loops of a function leave an array, found before it is called.

Python raises `IndexError` there; compiled code reads or writes other memory. What is found happens
for certain: at indices that sizes, whole numbers among the arguments and the variables of counted
loops give, where nothing but these decides whether the statement runs.

Before::

    def kernel(x, y, n):
        for i in range(x.shape[0]):
            if i < n:
                y[i] = x[i]
        y[n] = 0.0

After: a condition for calls, of the function's arguments::

    not (n - y.shape[0] >= 0) and not (-n - 1 >= 0)
    and not (x.shape[0] - y.shape[0] - 1 >= 0 and n - y.shape[0] - 1 >= 0)

Nothing is said of indices that elements of arrays give, nor of what runs behind a break or an early
return.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from loopbook.frontend.elimination import always, eliminated
from loopbook.frontend.liveness import stores
from loopbook.frontend.symbols import ONE, ZERO, Int

LEAVING = (ast.Break, ast.Continue, ast.Return, ast.Raise, ast.Assert, ast.Yield, ast.YieldFrom)
"""What may keep statements behind it from running."""

WHOLE = frozenset((bool, int, np.int32, np.int64))
"""Numbers that are reckoned with; narrower ones may overflow."""

MOST_ASKED = 1000
"""Indices of one function that are looked at: each takes a tenth of a millisecond or two."""

Rows = Sequence[Int] | None

Shapes = Mapping[str, Sequence[Int]]
"""Arrays by name."""

Outside = tuple[tuple[Int, ...], frozenset[str]]
"""Forms that are 0 or more, and texts that are true, where an index is outside of its array."""


def in_bounds(node: ast.FunctionDef, given: Mapping[str, Any], same: Mapping[str, str]) -> str:
    """A condition on arguments, as Python text, for all indices of which it can be told to be
    within their arrays; nothing if they always are.

    Args:
        given: the arguments of one call, by name; their types and ranks count.
        same: sizes that are another one, or a number, as texts: ``y.shape[0]`` is ``x.shape[0]``.
    """
    changed = stores(node.body)
    arrays = {
        name: [_size(f"{name}.shape[{axis}]", same) for axis in range(value.ndim)]
        for name, value in given.items()
        if isinstance(value, np.ndarray) and name not in changed
    }
    whole = [name for name, value in given.items() if type(value) in WHOLE]
    walk = _Walk(arrays, {name: Int.atom(name) for name in whole})
    walk.block(node.body, _When())
    return " and ".join(map(_none_of, _without_implied(walk.outside)))


def as_test(condition: str, names: Iterable[str]) -> Callable[..., bool]:
    """A condition on arguments with these names, as a function of them. A division by 0 in it,
    which the loops would come to as well, counts as no."""
    text = (
        f"def test({', '.join(names)}):\n    try:\n        return {condition}\n"
        "    except ArithmeticError:\n        return False\n"
    )
    made: dict[str, Any] = {}
    exec(compile(text, "<loopbook in_bounds>", "exec"), made)
    return made["test"]


def _size(text: str, same: Mapping[str, str]) -> Int:
    known = same.get(text, text)
    return Int.of(int(known)) if known.isdigit() else Int.atom(known)


def _none_of(found: Outside) -> str:
    rows, texts = found
    parts = [*(f"{row.text} >= 0" for row in rows), *sorted(texts)]
    return f"not ({' and '.join(parts) or True})"


def _without_implied(found: Iterable[Outside]) -> list[Outside]:
    """Without those that hold only where another one does."""
    kept: list[Outside] = []
    for one in found:
        if not any(_implies(one, other) for other in kept):
            kept = [other for other in kept if not _implies(other, one)]
            kept.append(one)
    return kept


def _implies(one: Outside, other: Outside) -> bool:
    return other[1] <= one[1] and all(
        any(always(row - known) for known in one[0]) for row in other[0]
    )


@dataclass(frozen=True)
class _When:
    """When a statement runs: for which values of loops' variables, outermost first, and where texts
    are true."""

    variables: tuple[str, ...] = ()
    rows: tuple[Int, ...] = ()
    texts: frozenset[str] = frozenset()

    def where(self, *rows: Int) -> _When:
        return replace(self, rows=(*self.rows, *rows))


@dataclass
class _Walk:
    """Goes through statements in the order in which they run.

    Attributes:
        known: scalars of which it is known what they are, in terms of arguments and of variables.
        wrapped: those that were counted from the end where they were negative: what they were, and
            what was added then.
        tests: comparisons that have names: what is 0 or more where one holds, and where not.
        outside: what has been found.
    """

    arrays: Shapes
    known: dict[str, Int]
    wrapped: dict[str, tuple[Int, Int]] = field(default_factory=dict)
    tests: dict[str, tuple[Rows, Rows]] = field(default_factory=dict)
    outside: dict[Outside, None] = field(default_factory=dict)
    loops: int = 0
    asked: set[tuple[Int, _When]] = field(default_factory=set)

    # -- statements -----------------------------------------------------------------------------

    def block(self, body: Sequence[ast.stmt], when: _When | None) -> None:
        """Statements that run at a time that is known, or at one that is not."""
        for node in body:
            self.statement(node, when)
            if _leaves(node):
                when = None

    def statement(self, node: ast.stmt, when: _When | None) -> None:
        match node:
            case ast.Assign(targets=[target], value=value):
                self.look(value, when)
                self.look(target, when)
                self.assign(target, value)
            case ast.AugAssign(target=target, op=op, value=value):
                self.look(value, when)
                self.look(target, when)
                if isinstance(target, ast.Name):
                    self.assign(target, ast.BinOp(ast.Name(target.id, ast.Load()), op, value))
            case ast.Expr(value=value) | ast.Return(value=ast.expr() as value):
                self.look(value, when)
            case ast.For(target=ast.Name(id=name), iter=made, body=body, orelse=[]):
                self.look(made, when)
                counted = None if any(map(_leaves, body)) else self.counted(made, when)
                self.forget(node)
                if counted is None:
                    self.block(body, None)
                else:
                    self.known[name], inner = counted
                    self.block(body, inner)
                self.forget(node)
            case ast.If(
                test=ast.Compare(ast.Name(id=name), [ast.Lt()], [ast.Constant(value=0)]),
                body=[
                    ast.Assign([ast.Name(id=again)], ast.BinOp(ast.Name(id=same), ast.Add(), size))
                ],
                orelse=[],
            ) if name == again == same:
                before, added = self.known.get(name), self.form(size)
                self.forget(node)
                if before is not None and added is not None:
                    self.wrapped[name] = before, added
            case ast.If(test=test, body=body, orelse=orelse):
                self.look(test, when)
                before = dict(self.known), dict(self.wrapped), dict(self.tests)
                self.block(body, self.under(test, when, met=True))
                self.known, self.wrapped, self.tests = before
                self.block(orelse, self.under(test, when, met=False))
                self.forget(node)
            case _:
                self.forget(node)

    def counted(self, made: ast.expr, when: _When | None) -> tuple[Int, _When] | None:
        """A loop's variable, and when its body runs."""
        match made:
            case ast.Call(func=ast.Name(id="range"), args=given, keywords=[]) if when is not None:
                forms = [self.form(one) for one in given]
            case _:
                return None
        first, end, step = forms if len(forms) == 3 else [ZERO, *forms, ONE][-3:]
        if first is None or end is None or step is None or not step.constant:
            return None
        self.loops += 1
        name = f"loop {self.loops}"  # which is no name in Python
        inner = replace(when, variables=(*when.variables, name))
        value = Int.atom(name)
        ahead = end - first if step.constant > 0 else first - end
        size = abs(step.constant)
        if size == 1:
            return first + value * step, inner.where(value, ahead - 1 - value)
        if ahead.atoms & {*when.variables}:
            return None
        last = Int.atom(f"(({(ahead - 1).text}) // {size})")  # as (ahead - 1) // size is the last
        return first + value * step, inner.where(value, last - value)

    def assign(self, target: ast.expr, value: ast.expr) -> None:
        """Note what a scalar is from here on."""
        targets, forms = [target], [self.form(value)]
        tests = [self.rows(value, met=met) for met in (False, True)]
        match target, value:
            case ast.Tuple(elts=targets), ast.Tuple(elts=values):
                forms = [self.form(one) for one in values]
            case ast.Tuple(elts=targets), ast.Attribute(ast.Name(id=name), "shape"):
                forms = self.arrays.get(name, ())
        self.forget(target, value)
        if len(targets) == len(forms):
            for one, form in zip(targets, forms, strict=True):
                if isinstance(one, ast.Name) and form is not None:
                    self.known[one.id] = form
        if isinstance(target, ast.Name):
            self.tests[target.id] = tests[False], tests[True]

    def forget(self, *nodes: ast.AST) -> None:
        """Nothing is known any more of what statements set."""
        for name in stores(nodes):
            self.known.pop(name, None)
            self.wrapped.pop(name, None)
            self.tests.pop(name, None)

    # -- expressions ----------------------------------------------------------------------------

    def under(self, test: ast.expr, when: _When | None, *, met: bool) -> _When | None:
        """When something runs that a condition decides about."""
        if when is None:
            return None
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self.under(operand, when, met=not met)
            case ast.BoolOp(op=op, values=values) if isinstance(op, ast.And) == met:
                for value in values:
                    when = self.under(value, when, met=met)
                return when
            case ast.Name(id=name) if self.known.get(name) == Int.atom(name):  # an argument
                return replace(when, texts=when.texts | {name if met else f"not {name}"})
        rows = self.rows(test, met=met)
        return None if rows is None else when.where(*rows)

    def rows(self, test: ast.expr, *, met: bool) -> Rows:
        """What is 0 or more where a comparison holds, or where it does not, and nowhere else."""
        match test:
            case ast.Name(id=name) if name in self.tests:
                return self.tests[name][met]
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                one, other = self.form(left), self.form(right)
            case _:
                return None
        if one is None or other is None:
            return None
        match op, met:
            case (ast.Lt(), True) | (ast.GtE(), False):
                return [other - one - 1]
            case (ast.LtE(), True) | (ast.Gt(), False):
                return [other - one]
            case (ast.Gt(), True) | (ast.LtE(), False):
                return [one - other - 1]
            case (ast.GtE(), True) | (ast.Lt(), False):
                return [one - other]
            case (ast.Eq(), True) | (ast.NotEq(), False):
                return [one - other, other - one]
        return None

    def look(self, node: ast.expr, when: _When | None) -> None:
        """Look for accesses to arrays in an expression."""
        if when is None:
            return
        match node:
            case ast.Subscript(value=ast.Name(id=name), slice=index) if name in self.arrays:
                indices = index.elts if isinstance(index, ast.Tuple) else [index]
                for one, size in zip(indices, self.arrays[name], strict=False):
                    if isinstance(one, ast.Starred | ast.Slice) or _is_ellipsis_or_none(one):
                        break
                    self.access(one, size, when)
                self.look(index, when)
            case ast.BoolOp(values=[first, *_]):
                self.look(first, when)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                self.look(test, when)
                self.look(body, self.under(test, when, met=True))
                self.look(orelse, self.under(test, when, met=False))
            case (
                ast.Lambda() | ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp()
            ):
                pass
            case ast.Compare(left=left, comparators=[first, *_]):
                self.look(left, when)
                self.look(first, when)
            case ast.Call(func=function, args=given, keywords=keywords):
                for one in (function, *given, *(keyword.value for keyword in keywords)):
                    self.look(one, when)
            case _:
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.expr):
                        self.look(child, when)

    def access(self, index: ast.expr, size: Int, when: _When) -> None:
        """Note when an index is too large or negative."""
        form, least = self.form(index), ZERO
        if isinstance(index, ast.Name) and index.id in self.wrapped:
            form, added = self.wrapped[index.id]
            least = -added
        if form is None:
            return
        for row in (form - size, least - form - 1):
            if (row, when) in self.asked or len(self.asked) >= MOST_ASKED:
                continue
            self.asked.add((row, when))
            left = eliminated((*when.rows, row), when.variables)
            if left is not None:
                self.outside[left, when.texts] = None

    def form(self, node: ast.expr) -> Int | None:
        """A whole number in terms of arguments and of loops' variables, if it is known."""
        match node:
            case ast.Constant(value=int(value)):
                return Int.of(int(value))
            case ast.Name(id=name):
                return self.known.get(name)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                form = self.form(operand)
                return None if form is None else -form
            case ast.BinOp(left=left, op=op, right=right):
                one, other = self.form(left), self.form(right)
                return None if one is None or other is None else self.result(one, op, other)
            case ast.Subscript(
                value=ast.Attribute(value=ast.Name(id=name), attr="shape"),
                slice=ast.Constant(value=int(axis)),
            ) if name in self.arrays and axis < len(self.arrays[name]):
                return self.arrays[name][axis]
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]) if name in self.arrays:
                return next(iter(self.arrays[name]), None)
            case ast.Call(func=ast.Name(id="int"), args=[inner]):
                return self.form(inner)
        return None

    def result(self, one: Int, op: ast.operator, other: Int) -> Int | None:
        """What an operation gives; of quotients, and of bits, as numbers wrap around by, where no
        loop's variable is in them."""
        match op:
            case ast.Add():
                return one + other
            case ast.Sub():
                return one - other
            case ast.Mult():
                return one * other
            case ast.FloorDiv() | ast.Mod() | ast.BitAnd():
                if not any(atom.startswith("loop ") for atom in one.atoms | other.atoms):
                    sign = {ast.FloorDiv: "//", ast.Mod: "%", ast.BitAnd: "&"}[type(op)]
                    return Int.atom(f"(({one.text}) {sign} ({other.text}))")
        return None


def _is_ellipsis_or_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value in (None, ...)


def _leaves(node: ast.stmt) -> bool:
    return any(isinstance(inner, LEAVING) for inner in ast.walk(node))
