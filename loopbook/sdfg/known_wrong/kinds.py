"""Which expressions of a function are whole numbers, which are arrays, and how wide they are."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np

from loopbook.sdfg.known_wrong.source import Source

BOOL, INT, FLOAT, OTHER = "bool", "int", "float", "?"

_ORDER = {BOOL: 0, INT: 1, FLOAT: 2}

_WHOLE = {"floor", "ceil", "trunc"}
"""Functions of ``math`` that return whole numbers in Python, and floats in docc."""

_REDUCTIONS = {"sum", "max", "min", "mean", "std", "prod", "any", "all"}
_MAKERS = {"zeros", "empty", "ones", "ndarray", "full", "eye"}
_LIKE = {"zeros_like", "empty_like", "ones_like", "copy"}


@dataclass(frozen=True)
class Kind:
    """What an expression is.

    Attributes:
        what: "bool", "int", "float", or "?" if that cannot be told.
        rank: dimensions; 0 for scalars, -1 if that cannot be told.
        bits: of a NumPy type; 0 for Python's own numbers, which adapt to what they meet.
    """

    what: str
    rank: int = 0
    bits: int = 0

    @property
    def known(self) -> bool:
        return self.what != OTHER

    @property
    def scalar(self) -> bool:
        return self.rank == 0

    def element(self) -> Kind:
        return Kind(self.what, 0, self.bits)


UNKNOWN = Kind(OTHER, -1)


def of_value(value: Any) -> Kind:
    """The kind of an argument or a global."""
    if isinstance(value, np.ndarray | np.generic):
        what = {"b": BOOL, "i": INT, "u": INT, "f": FLOAT}.get(value.dtype.kind, OTHER)
        return Kind(what, value.ndim, 8 * value.dtype.itemsize)
    if isinstance(value, bool):
        return Kind(BOOL)
    if isinstance(value, int):
        return Kind(INT)
    return Kind(FLOAT) if isinstance(value, float) else UNKNOWN


def join(one: Kind | None, other: Kind) -> Kind:
    """What something is that is one or the other."""
    if one is None or one == other:
        return other
    if not one.known or not other.known or one.rank != other.rank:
        return Kind(OTHER, one.rank if one.rank == other.rank else -1)
    what = max(one.what, other.what, key=_ORDER.__getitem__)
    return Kind(what, one.rank, max(one.bits, other.bits))


class Kinds:
    """The kinds of a function's variables, for arguments of these kinds."""

    def __init__(self, source: Source, parameters: Mapping[str, Kind], depth: int = 0) -> None:
        self.source = source
        self.parameters = dict(parameters)
        self._depth = depth
        self.variables: dict[str, Kind] = dict(parameters)
        for _ in range(8):
            before = dict(self.variables)
            for name, value in assigned(source.body):
                kind = self.of(value) if isinstance(value, ast.expr) else self._counted(value)
                self.variables[name] = join(self.variables.get(name), kind)
            if before == self.variables:
                break

    def _counted(self, loop: ast.For) -> Kind:
        if isinstance(loop.iter, ast.Call):
            return Kind(INT)
        over = self.of(loop.iter)
        return Kind(over.what, over.rank - 1, over.bits) if over.rank > 0 else UNKNOWN

    def of(self, node: ast.AST) -> Kind:
        """The kind of an expression."""
        made = getattr(self, f"_{type(node).__name__}", None)
        return made(node) if made else UNKNOWN

    def returned(self) -> Kind | None:
        """What a function of one result returns."""
        found: Kind | None = None
        for node in self.source.walk():
            if isinstance(node, ast.Return) and node.value is not None:
                found = join(found, self.of(node.value))
        return found

    def _Constant(self, node: ast.Constant) -> Kind:
        return of_value(node.value)

    def _Name(self, node: ast.Name) -> Kind:
        if node.id in self.variables:
            return self.variables[node.id]
        return of_value(self.source.names.get(node.id))

    def _Attribute(self, node: ast.Attribute) -> Kind:
        if node.attr == "T":
            return self.of(node.value)
        if node.attr in ("size", "ndim"):
            return Kind(INT)
        if isinstance(node.value, ast.Name) and node.value.id in ("math", "np", "numpy"):
            return Kind(FLOAT)
        return UNKNOWN

    def _Subscript(self, node: ast.Subscript) -> Kind:
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            return Kind(INT)
        inner = self.of(node.value)
        if inner.rank <= 0:
            return UNKNOWN
        rank = inner.rank
        for index in indices(node):
            if isinstance(index, ast.Slice):
                continue
            if isinstance(index, ast.Constant) and index.value is None:
                rank += 1
                continue
            kind = self.of(index)
            if kind.what == BOOL and kind.rank:
                return UNKNOWN
            if kind.rank < 0 or isinstance(index, ast.Tuple | ast.List):
                return UNKNOWN
            rank += kind.rank - 1
        return Kind(inner.what, rank, inner.bits) if rank >= 0 else UNKNOWN

    def _BinOp(self, node: ast.BinOp) -> Kind:
        left, right = self.of(node.left), self.of(node.right)
        if isinstance(node.op, ast.MatMult):
            return self._product(left, right)
        kind = self._promoted(left, right)
        if isinstance(node.op, ast.Div) and kind.known and kind.what != FLOAT:
            return Kind(FLOAT, kind.rank, 64 if kind.bits else 0)
        return kind

    def _product(self, left: Kind, right: Kind) -> Kind:
        if left.rank < 0 or right.rank < 0:
            return UNKNOWN
        kind = join(left.element(), right.element())
        rank = max(left.rank + right.rank - 2, 0) if max(left.rank, right.rank) <= 2 else -1
        return Kind(kind.what, rank, kind.bits)

    def _promoted(self, left: Kind, right: Kind) -> Kind:
        rank = max(left.rank, right.rank) if min(left.rank, right.rank) >= 0 else -1
        if not left.known or not right.known:
            return Kind(OTHER, rank)
        what = max(left.what, right.what, key=_ORDER.__getitem__)
        bits = max(left.bits, right.bits)
        if what == FLOAT and INT in (left.what, right.what):
            whole, real = (left, right) if left.what == INT else (right, left)
            if whole.bits >= 32 or (whole.bits and not real.bits):
                bits = 64
        return Kind(what, rank, bits)

    def _UnaryOp(self, node: ast.UnaryOp) -> Kind:
        return Kind(BOOL) if isinstance(node.op, ast.Not) else self.of(node.operand)

    def _Compare(self, node: ast.Compare) -> Kind:
        ranks = [self.of(part).rank for part in [node.left, *node.comparators]]
        return Kind(BOOL, -1 if min(ranks) < 0 else max(ranks), 8 if max(ranks) else 0)

    def _BoolOp(self, node: ast.BoolOp) -> Kind:
        kind: Kind | None = None
        for value in node.values:
            kind = join(kind, self.of(value))
        return kind or UNKNOWN

    def _IfExp(self, node: ast.IfExp) -> Kind:
        return join(self.of(node.body), self.of(node.orelse))

    def _Call(self, node: ast.Call) -> Kind:
        kinds = [self.of(argument) for argument in node.args]
        if isinstance(node.func, ast.Name):
            return self._called(node.func.id, kinds)
        if not isinstance(node.func, ast.Attribute):
            return UNKNOWN
        name, owner = node.func.attr, node.func.value
        if isinstance(owner, ast.Name) and owner.id == "math":
            return Kind(INT if name in _WHOLE else FLOAT)
        if isinstance(owner, ast.Name) and owner.id in ("np", "numpy"):
            return self._numpy(name, node, kinds)
        if name == "copy":
            return self.of(owner)
        return Kind(OTHER, self.of(owner).rank if name == "astype" else -1)

    def _called(self, name: str, kinds: list[Kind]) -> Kind:
        if name in ("int", "float", "bool"):
            return Kind(name)
        if name in ("min", "max") and len(kinds) == 2:
            return self._promoted(*kinds)
        if name == "abs" and kinds:
            return kinds[0]
        helper = self.source.names.get(name)
        if isinstance(helper, FunctionType) and self._depth < 4:
            inner = Source.of(helper)
            if inner is not None and len(inner.parameters) == len(kinds):
                pairs = dict(zip(inner.parameters, kinds, strict=True))
                return Kinds(inner, pairs, self._depth + 1).returned() or UNKNOWN
        return UNKNOWN

    def _numpy(self, name: str, node: ast.Call, kinds: list[Kind]) -> Kind:
        if name in _MAKERS and node.args:
            shape = node.args[0]
            rank = len(shape.elts) if isinstance(shape, ast.Tuple | ast.List) else 1
            if not isinstance(shape, ast.Tuple | ast.List) and not self.of(shape).scalar:
                rank = -1
            typed = len(node.args) > 1 or node.keywords
            return Kind(OTHER if typed else FLOAT, rank, 64)
        if name in _LIKE and kinds:
            return kinds[0]
        if name in _REDUCTIONS and kinds:
            partly = len(node.args) > 1 or any(k.arg == "axis" for k in node.keywords)
            kept = any(k.arg == "keepdims" for k in node.keywords)
            rank = -1 if kept else (kinds[0].rank - 1 if partly else 0)
            what = FLOAT if name in ("mean", "std") else kinds[0].what
            return Kind(what, rank, max(kinds[0].bits, 64 if what != FLOAT else 0))
        if name in ("matmul", "dot") and len(kinds) == 2:
            return self._product(*kinds)
        if name == "transpose" and kinds:
            return kinds[0]
        if name in ("add", "subtract", "multiply", "maximum", "minimum") and len(kinds) == 2:
            return self._promoted(*kinds)
        if name in ("exp", "sqrt", "tanh", "cbrt") and kinds:
            return Kind(FLOAT, kinds[0].rank, kinds[0].bits if kinds[0].what == FLOAT else 64)
        if name in ("abs", "absolute", "flip", "clip") and kinds:
            return kinds[0]
        if name == "where" and len(kinds) == 3:
            return self._promoted(self._promoted(kinds[1], kinds[2]), Kind(BOOL, kinds[0].rank))
        return UNKNOWN


def indices(node: ast.Subscript) -> list[ast.expr]:
    """The parts of a subscript."""
    return list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]


def assigned(body: Iterable[ast.stmt]) -> Iterator[tuple[str, ast.expr | ast.For]]:
    """Names with what is assigned to them, or the loop that counts them, in source order."""
    for statement in body:
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                yield from _pairs(target, statement.value)
        elif isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            left = ast.Name(id=statement.target.id, ctx=ast.Load())
            value = ast.BinOp(left=left, op=statement.op, right=statement.value)
            yield statement.target.id, ast.copy_location(value, statement)
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            if statement.value is not None:
                yield statement.target.id, statement.value
        elif isinstance(statement, ast.For) and isinstance(statement.target, ast.Name):
            yield statement.target.id, statement
        for inner in ("body", "orelse"):
            yield from assigned(getattr(statement, inner, ()))


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple):
        whole = isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts)
        for number, part in enumerate(target.elts):
            unknown = ast.copy_location(ast.Constant(value=None), value)
            yield from _pairs(part, value.elts[number] if whole else unknown)  # type: ignore[attr-defined]
