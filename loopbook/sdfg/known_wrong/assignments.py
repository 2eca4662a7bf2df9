"""Assignments: several at once, and variables that change their type."""

from __future__ import annotations

import ast
import copy

from loopbook.sdfg.known_wrong.kinds import BOOL, FLOAT, INT, Kind, Kinds, assigned, indices
from loopbook.sdfg.known_wrong.source import (
    BlockRewriter,
    base,
    without_minus,
)
from loopbook.syntax import mentioned

_RANK = {BOOL: 0, INT: 1, FLOAT: 2}


def negatives(kinds: Kinds) -> None:
    """docc has no type for a variable whose first value is a negative number.

    Before: ``k = -1``. After: ``k = 0 - 1``.
    """
    seen = set(kinds.parameters)
    for node in kinds.source.walk():
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            continue
        value = without_minus(node.value)
        if value is not node.value and node.targets[0].id not in seen:
            kinds.source.mend(node, "write a negative number as a difference")
            node.value = value
        seen.add(node.targets[0].id)
    kinds.source.locate()


class Together(BlockRewriter):
    """docc assigns a tuple part by part: ``a, b = b, a`` leaves b in both.

    After: ``t = b``, ``u = a``, ``a = t``, ``b = u``, where a later value needs what an earlier
    part has changed. Arrays that change names so are refused.
    """

    def __init__(self, kinds: Kinds) -> None:
        super().__init__(kinds.source)
        self.kinds = kinds

    def visit_Assign(self, node: ast.Assign) -> ast.AST | list[ast.stmt]:
        target, value = node.targets[0], node.value
        if not isinstance(target, ast.Tuple) or not isinstance(value, ast.Tuple):
            return node
        if len(node.targets) > 1 or len(target.elts) != len(value.elts):
            return node
        changed: set[str] = set()
        needed = False
        for part, given in zip(target.elts, value.elts, strict=True):
            reads = mentioned(given)
            if isinstance(part, ast.Subscript):
                reads |= mentioned(part.slice)
            needed |= bool(reads & changed)
            changed.add(base(part))
        if not needed:
            return node
        if any(self.kinds.of(given).rank != 0 for given in value.elts):
            self.source.refuse(
                node, "assigns a tuple of arrays part by part", "copy elements in a loop"
            )
        self.source.mend(node, "assign a tuple through temporaries")
        stems = [self.source.fresh(f"part{number}") for number in range(len(value.elts))]
        lines: list[ast.stmt] = [
            ast.copy_location(
                ast.Assign(targets=[ast.Name(id=stem, ctx=ast.Store())], value=given), node
            )
            for stem, given in zip(stems, value.elts, strict=True)
        ]
        lines += [
            ast.copy_location(
                ast.Assign(targets=[part], value=ast.Name(id=stem, ctx=ast.Load())), node
            )
            for stem, part in zip(stems, target.elts, strict=True)
        ]
        return lines


class Retyped(BlockRewriter):
    """docc gives a variable the type of the first thing assigned to it, and cuts the rest to fit.

    Before: ``s = 0``, then ``s += A[i]``: docc adds whole numbers. After: ``s = 0.0``. A variable
    of which something else needs that it is whole, and an argument, are refused.
    """

    def __init__(self, kinds: Kinds) -> None:
        super().__init__(kinds.source)
        self.kinds = kinds
        self.first: dict[str, Kind] = {}
        self.widened: dict[str, str] = {}
        for name, value in assigned(kinds.source.body):
            self._look_at(name, value)

    def _look_at(self, name: str, value: ast.expr | ast.For) -> None:
        kind = Kind(INT) if isinstance(value, ast.For) else self.kinds.of(value)
        begun = self.first.setdefault(name, self.kinds.parameters.get(name, kind))
        if isinstance(value, ast.For) or begun.rank > 0 or kind.rank > 0:
            return
        if begun.what == FLOAT:
            narrow = begun.bits and begun.bits < kind.bits and kind.what == FLOAT
            if not narrow:
                return
        elif begun.known and kind.known and kind.rank == 0:
            wider = _RANK[kind.what] > _RANK[begun.what]
            if not wider and not (begun.bits and kind.bits > begun.bits and kind.what == INT):
                return
        elif not begun.known:
            return
        whole = self._whole(name)
        argument = name in self.kinds.parameters
        looped = any(n == name and isinstance(v, ast.For) for n, v in assigned(self.source.body))
        if whole or argument or looped or not kind.known:
            self.source.refuse(
                value,
                f"keeps the first type of '{name}', {begun.what}, for what comes later",
                "use another variable, or begin with a float",
            )
        wanted = "int" if kind.what == INT else "float"
        if self.widened.get(name) != "float":
            self.widened[name] = wanted

    def _whole(self, name: str) -> bool:
        """Whether something needs that the variable is a whole number."""
        whole = (ast.FloorDiv, ast.Mod, ast.LShift, ast.RShift, ast.BitAnd, ast.BitOr, ast.BitXor)
        for node in self.source.walk():
            uses: list[ast.expr] = []
            if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, whole):
                uses = (
                    [node.left, node.right]
                    if isinstance(node, ast.BinOp)
                    else [node.target, node.value]
                )
            elif isinstance(node, ast.Subscript):
                uses = indices(node)
            elif isinstance(node, ast.For) and isinstance(node.iter, ast.Call):
                uses = node.iter.args
            if any(name in mentioned(use) for use in uses):
                return True
        return False

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        names = [t.id for t in node.targets if isinstance(t, ast.Name)]
        wanted = next((self.widened[name] for name in names if name in self.widened), None)
        if wanted is None:
            return node
        kind = self.kinds.of(node.value)
        if kind.what == FLOAT and not kind.bits:
            return node
        self.source.mend(node, f"begin '{names[0]}' with the type that it has later")
        constant = isinstance(node.value, ast.Constant) and wanted == "float"
        node.value = (
            ast.Constant(value=float(node.value.value))  # type: ignore[attr-defined]
            if constant
            else ast.Call(func=ast.Name(id=wanted, ctx=ast.Load()), args=[node.value], keywords=[])
        )
        ast.copy_location(node.value, node)
        return node


class Results(BlockRewriter):
    """docc gives a result the type of the first ``return``, and something wherever there is none.

    Before: ``return 0`` above ``return x``: docc cuts x to a whole number. After: ``return 0.0``.
    Results of other numbers or shapes, and ways through the function that end without one, are
    refused.
    """

    def __init__(self, kinds: Kinds) -> None:
        super().__init__(kinds.source)
        self.kinds = kinds
        self.returns = [n for n in kinds.source.walk() if isinstance(n, ast.Return)]

    def run(self) -> None:
        for node in self.returns:
            if isinstance(node.value, ast.Constant) and node.value.value is None:
                self.source.mend(node, "return without a None")
                node.value = None
        valued = [node for node in self.returns if node.value is not None]
        if not valued:
            return
        if len(valued) < len(self.returns) or not always_returns(self.source.body):
            self.source.refuse(
                valued[0], "returns something wherever Python returns None", "return a number there"
            )
        parts = [_parts(node.value) for node in valued if node.value is not None]
        if len({len(part) for part in parts}) > 1 or any(
            isinstance(n.value, ast.Tuple | ast.List) and len(n.value.elts) < 2 for n in valued
        ):
            self.source.refuse(valued[0], "mixes up the results", "return equally many everywhere")
        for column in zip(*parts, strict=True):
            kinds = [self.kinds.of(value) for value in column]
            self._align(column, kinds)

    def _align(self, values: tuple[ast.expr, ...], kinds: list[Kind]) -> None:
        first = kinds[0]
        if len({kind.rank for kind in kinds}) > 1:
            self.source.refuse(values[0], "mixes up the results", "return equal shapes everywhere")
        narrow = [
            k
            for k in kinds[1:]
            if not k.known
            or not first.known
            or _RANK[k.what] > _RANK[first.what]
            or (first.bits and k.bits > first.bits)
        ]
        if not narrow:
            return
        if first.rank or not all(k.known for k in kinds):
            self.source.refuse(
                values[0], "gives all results the type of the first", "return equal types"
            )
        value = values[0]
        copied = copy.deepcopy(value)
        wanted = "float" if any(k.what == FLOAT for k in kinds) else "int"
        call = ast.Call(func=ast.Name(id=wanted, ctx=ast.Load()), args=[copied], keywords=[])
        if isinstance(value, ast.Constant) and wanted == "float":
            call = ast.Constant(value=float(value.value))  # type: ignore[assignment,arg-type]
        self.source.mend(value, "return a float first")
        for node in self.returns:
            if node.value is value:
                node.value = ast.copy_location(call, value)
            elif isinstance(node.value, ast.Tuple):
                node.value.elts = [call if part is value else part for part in node.value.elts]
        self.source.locate()


def always_returns(body: list[ast.stmt]) -> bool:
    """Whether a block ends with a ``return`` on every way through it."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, ast.If):
        return always_returns(last.body) and always_returns(last.orelse)
    return isinstance(last, ast.Return)


def _parts(value: ast.expr) -> list[ast.expr]:
    return list(value.elts) if isinstance(value, ast.Tuple | ast.List) else [value]
