"""What the arguments of a function may be like, by how it uses them. Nothing is run.

Arrays are known by their subscripts, ``.shape`` and array operators, whole numbers by ``range`` and
subscripts. Two dimensions that one loop walks along, or that an operator needs to be the same, get
one size; others get different ones, since a program whose sizes are equal is another program.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

FIRST, NEXT = 32, 4
"""Sizes that are made up: large enough for stencils, small enough to cost nothing."""

LARGEST = 4096
"""Of a size that the program's text says."""

Key = tuple[str, str, int]
"""Of something with a size: ("dim", array, axis) or ("name", text, 0)."""


@dataclass
class Guesses:
    """What was made of a function's arguments.

    Attributes:
        values: by name.
        notes: what was not known and is taken for granted, one line each.
        sure: the ranks of all arrays follow from the text.
    """

    values: dict[str, Any]
    notes: list[str]
    sure: bool


def guess(
    node: ast.FunctionDef,
    unknown: Iterable[str],
    sizes: Mapping[str, Any],
    default: int | None = None,
) -> Guesses:
    """Values for the arguments whose types nothing says.

    Args:
        sizes: whole numbers by name, as far as the file says them.
        default: rank of arrays of which the text does not say it, and all sizes are equal then; by
            default those with a capital letter are matrices, and the others vectors.
    """
    wanted = list(unknown)
    uses = _Uses(frozenset(wanted))
    for statement in node.body:
        uses.visit(statement)
    values: dict[str, Any] = {}
    notes = []
    all_sure = True
    numbers = _Numbers(uses, sizes, equal=default is not None)
    for name in wanted:
        if name in sizes:
            values[name] = sizes[name]
        elif name in uses.ranks or name in uses.whole:
            rank, sure = uses.rank(name, default)
            all_sure &= sure
            shape = [numbers.of(("dim", name, axis)) for axis in range(rank)]
            kind = "int64" if name in uses.indices else "float64"
            values[name] = np.zeros(shape, kind)
            doubt = "" if sure else ", a guess"
            axes = "1 axis" if rank == 1 else f"{rank} axes"
            notes.append(f"{name} is taken for an array of {kind} with {axes}{doubt}")
        elif name in uses.counts:
            values[name] = numbers.of(("name", name, 0))
            notes.append(f"{name} is taken for a whole number")
        else:
            values[name] = 1.5
            notes.append(f"{name} is taken for a floating-point number")
    return Guesses(values, notes, all_sure)


@dataclass
class _Uses(ast.NodeVisitor):
    """How a function uses some names.

    Attributes:
        ranks: of what is subscripted, the most indices.
        whole: used as whole arrays.
        counts: used as whole numbers.
        indices: arrays whose elements are indices.
        same: pairs of things of one size.
        loops: variables to what their loops stop at.
    """

    names: frozenset[str]
    ranks: dict[str, int] = field(default_factory=dict)
    whole: set[str] = field(default_factory=set)
    counts: set[str] = field(default_factory=set)
    indices: set[str] = field(default_factory=set)
    same: list[tuple[Key, Key]] = field(default_factory=list)
    loops: dict[str, list[Key]] = field(default_factory=dict)

    def rank(self, name: str, default: int | None = None) -> tuple[int, bool]:
        """Of an array, and whether that is sure."""
        if name in self.ranks:
            return self.ranks[name], True
        return default or (2 if name[:1].isupper() else 1), False

    def _seen(self, name: str, rank: int) -> None:
        self.ranks[name] = max(rank, self.ranks.get(name, 0))

    def visit_For(self, node: ast.For) -> None:
        match node:
            case ast.For(target=ast.Name(id=variable), iter=ast.Call(ast.Name("range"), args=args)):
                stop = args[0] if len(args) == 1 else args[1] if len(args) > 1 else None
                for one in args:
                    self._counted(one)
                self.loops[variable] = [*self._sizes(stop)] if stop is not None else []
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        match node:
            case ast.Assign(
                targets=[ast.Tuple(elts=elts)], value=ast.Attribute(ast.Name(id=name), "shape")
            ) if name in self.names:
                self._seen(name, len(elts))
                for axis, one in enumerate(elts):
                    if isinstance(one, ast.Name):
                        self.same.append((("name", one.id, 0), ("dim", name, axis)))
                return
            case ast.Assign(targets=[ast.Name(id=target)], value=value):
                for size in self._sizes(value):
                    if size[0] == "dim":
                        self.same.append((("name", target, 0), size))
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        base, indices = _chain(node)
        match base:
            case ast.Attribute(ast.Name(id=name), "shape") if name in self.names:
                for axis in _constants(indices):
                    self._seen(name, axis + 1)
            case ast.Name(id=name) if name in self.names:
                if all(isinstance(index, ast.Slice) for index in indices) and len(indices) == 1:
                    self.whole.add(name)  # x[:] is all of x, whatever its rank
                else:
                    self._seen(name, len(indices))
                for axis, index in enumerate(indices):
                    self._indexed(name, axis, index)
            case _:
                self.visit(base)
        for index in indices:
            self._counted(index)
            self.visit(index)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        left, right = _bare(node.left, self.names), _bare(node.right, self.names)
        if isinstance(node.op, ast.MatMult):
            self.whole |= {one for one in (left, right) if one}
            if left and right:
                last = self.rank(left)[0] - 1
                self.same.append((("dim", left, max(last, 0)), ("dim", right, 0)))
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        match node.func:
            case ast.Name("len") if node.args and (name := _bare(node.args[0], self.names)):
                self._seen(name, 1)
            case ast.Attribute(value=ast.Name(id="np" | "numpy"), attr=attr):
                if attr in ("zeros", "empty", "ones", "full", "arange", "eye"):
                    for one in node.args[:1]:
                        self._counted(one)
                else:
                    bare = (_bare(one, self.names) for one in node.args)
                    self.whole |= {name for name in bare if name}
        self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        name = _bare(node.value, self.names)
        if name:
            self.whole.add(name)
        self.generic_visit(node)

    def _indexed(self, name: str, axis: int, index: ast.expr) -> None:
        for one in ast.walk(index):
            if isinstance(one, ast.Name):
                for size in self.loops.get(one.id, ()):
                    self.same.append((("dim", name, axis), size))

    def _counted(self, node: ast.expr) -> None:
        """A whole number is asked for: names in it are such, elements of arrays in it, too."""
        inner = {
            id(part)
            for one in ast.walk(node)
            if isinstance(one, ast.Subscript | ast.Attribute)
            for part in ast.walk(one)
        }
        for one in ast.walk(node):
            if isinstance(one, ast.Name) and one.id in self.names and id(one) not in inner:
                self.counts.add(one.id)
            if isinstance(one, ast.Subscript):
                base, _ = _chain(one)
                if isinstance(base, ast.Name) and base.id in self.names:
                    self.indices.add(base.id)

    def _sizes(self, node: ast.expr) -> Iterator[Key]:
        """What a loop's end is the size of, give or take a constant."""
        match node:
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=ast.Constant()):
                yield from self._sizes(left)
            case ast.Name(id=name):
                yield "name", name, 0
            case ast.Constant(value=int(value)) if value > 1:
                yield "name", str(value), 0
            case ast.Subscript(ast.Attribute(ast.Name(id=name), "shape"), ast.Constant(value=axis)):
                if name in self.names and isinstance(axis, int) and 0 <= axis < 8:
                    yield "dim", name, axis
            case ast.Call(ast.Name("len"), args=[ast.Name(id=name)]) if name in self.names:
                yield "dim", name, 0


class _Numbers:
    """A size for each class of things that have the same."""

    def __init__(self, uses: _Uses, sizes: Mapping[str, Any], *, equal: bool) -> None:
        self._more = 0 if equal else NEXT
        self._parents: dict[Key, Key] = {}
        for one, other in uses.same:
            self._parents[self._root(one)] = self._root(other)
        self._known: dict[Key, int] = {}
        for key in [*self._parents]:
            self._take(key, sizes)
        self._next = FIRST

    def of(self, key: Key) -> int:
        root = self._root(key)
        if root not in self._known:
            self._known[root] = self._next
            self._next += self._more
        return self._known[root]

    def _take(self, key: Key, sizes: Mapping[str, Any]) -> None:
        kind, text, _ = key
        if kind == "name":
            value = sizes.get(text, int(text) if text.isdecimal() and len(text) < 6 else None)
            if isinstance(value, int) and 2 <= value <= LARGEST:
                root = self._root(key)
                self._known[root] = max(value, self._known.get(root, 0))

    def _root(self, key: Key) -> Key:
        while (above := self._parents.setdefault(key, key)) != key:
            key = above
        return key


def _chain(node: ast.Subscript) -> tuple[ast.expr, list[ast.expr]]:
    """What is subscripted, and all its indices: ``A[i][j]`` is ``A[i, j]``."""
    indices: list[ast.expr] = []
    base: ast.expr = node
    while isinstance(base, ast.Subscript):
        own = base.slice.elts if isinstance(base.slice, ast.Tuple) else [base.slice]
        indices = [one for one in own if not _is_new_axis(one)] + indices
        base = base.value
    return base, indices


def _is_new_axis(node: ast.expr) -> bool:
    is_none = isinstance(node, ast.Constant) and (node.value is None or node.value is ...)
    return is_none or (isinstance(node, ast.Attribute) and node.attr == "newaxis")


def _constants(nodes: Iterable[ast.expr]) -> Iterator[int]:
    for one in nodes:
        if isinstance(one, ast.Constant) and isinstance(one.value, int) and 0 <= one.value < 8:
            yield one.value


def _bare(node: ast.expr, names: frozenset[str]) -> str | None:
    return node.id if isinstance(node, ast.Name) and node.id in names else None
