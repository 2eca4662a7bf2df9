"""Expressions of whole arrays: products, slices and what they overlap with, types.

Only what docc is known to get wrong is refused; the loops behind an expression are ours to write
in another place.
"""

from __future__ import annotations

import ast

from loopbook.sdfg.known_wrong.kinds import BOOL, FLOAT, INT, Kind, Kinds, assigned, indices
from loopbook.sdfg.known_wrong.source import base, integer, same
from loopbook.syntax import walk

INSTEAD = "write it as loops"

MAKERS = {"zeros", "ones", "empty", "ndarray", "full", "eye"}

VIEWS = {"transpose", "flip", "fliplr", "flipud", "reshape", "ravel", "split"}
"""Functions of NumPy whose results look into their argument."""


def check(kinds: Kinds, scattered: frozenset[str]) -> None:
    """Refuse array expressions that docc gets wrong.

    Args:
        scattered: array arguments that are not stored row by row without gaps.
    """
    _Arrays(kinds, scattered).run()


class _Arrays:
    def __init__(self, kinds: Kinds, scattered: frozenset[str]) -> None:
        self.kinds = kinds
        self.source = kinds.source
        self.scattered = scattered
        self.crooked = self._crooked()
        self.looks_into = self._views()

    def run(self) -> None:
        bound = set(self.source.parameters)
        for node in self._statements(self.source.body):
            if isinstance(node, ast.Assign):
                self._assign(node, bound)
                bound |= {t.id for t in node.targets if isinstance(t, ast.Name)}
            elif isinstance(node, ast.AugAssign):
                value = ast.copy_location(
                    ast.BinOp(left=node.target, op=node.op, right=node.value), node
                )
                self._store(node, node.target, value)
        for node in self.source.walk():
            if isinstance(node, ast.BinOp):
                self._operands(node)
            elif isinstance(node, ast.Subscript):
                self._slices(node)
            elif isinstance(node, ast.Call) and _method(node) == "outer":
                sliced = any(isinstance(argument, ast.Subscript) for argument in node.args)
                if sliced:
                    self._refuse(node, "reads the wrong elements of a slice in 'outer'")

    def _refuse(self, node: ast.AST, what: str) -> None:
        self.source.refuse(node, what, INSTEAD)

    def _statements(self, body: list[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for part in body:
            found.append(part)
            for inner in ("body", "orelse"):
                found += self._statements(getattr(part, inner, []))
        return found

    # -- stores -------------------------------------------------------------------------------

    def _assign(self, node: ast.Assign, bound: set[str]) -> None:
        for target in node.targets:
            self._store(node, target, node.value)
        target = node.targets[0]
        if not is_product(node.value):
            return
        if isinstance(target, ast.Name) and target.id in bound and self.kinds.of(target).rank:
            self._refuse(node, f"writes a product over the array that '{target.id}' is")

    def _store(self, node: ast.stmt, target: ast.expr, value: ast.expr) -> None:
        """``target = value``: docc reads and writes at once where it makes no temporary."""
        rank = self.kinds.of(target).rank
        if is_product(value):
            self._product_into(node, target, value)
        if not isinstance(target, ast.Subscript) or rank == 0:
            return
        parts = [p for p in indices(target) if isinstance(p, ast.Slice)]
        for part in parts:
            if part.step is not None and integer(part.step) != 1:
                self._refuse(node, "stores past the end of a slice with a step")
        given = self.kinds.of(value).rank
        partial = any(part.lower is not None or part.upper is not None for part in parts)
        if partial and given > 0 and rank > given:
            self._refuse(node, "fills the whole array where a slice is repeated")
        overlapping = self._is_view(value) and self._root(base_of(value)) == self._root(
            base(target)
        )
        if overlapping and not same(value, target) and not _beside(target, value):
            self._refuse(node, "copies a slice over itself element by element")

    def _product_into(self, node: ast.stmt, target: ast.expr, value: ast.expr) -> None:
        """A product, and what is added to or multiplied with it: BLAS gets it all at once."""
        factor, addend = value, None
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
            left = is_product(value.left)
            factor, addend = (value.left, value.right) if left else (value.right, value.left)
        known = not isinstance(target, ast.Name) or self._defined_before(target.id, node)
        scalar = self.kinds.of(value).rank == 0
        if addend is not None and (known or scalar) and not self._is_target(addend, target):
            self._refuse(node, "leaves out what is added to a product")
        if known and isinstance(factor, ast.BinOp) and isinstance(factor.op, ast.Mult):
            for part in (factor.left, factor.right):
                if not is_product(part) and self.kinds.of(part).rank != 0:
                    self._refuse(node, "takes an array for the factor of a product")
        operands = [part for product in products(factor) for part in product]
        in_place = isinstance(node, ast.AugAssign) or not isinstance(target, ast.Name)
        if known and in_place:
            written = self._root(base(target))
            for operand in operands:
                for name in walk(operand):
                    if isinstance(name, ast.Name) and self._root(name.id) == written:
                        self._refuse(node, "writes a product over its own operand")

    def _is_target(self, addend: ast.expr, target: ast.expr) -> bool:
        """Whether docc sees that an addend is the target, maybe times a number."""
        if isinstance(addend, ast.BinOp) and isinstance(addend.op, ast.Mult):
            sides = (addend.left, addend.right)
            return any(
                self._is_target(a, target) and self.kinds.of(b).rank == 0
                for a, b in (sides, sides[::-1])
            )
        whole = isinstance(target, ast.Subscript) and all(
            isinstance(p, ast.Slice) and p.lower is None and p.upper is None
            for p in indices(target)
        )
        if whole and isinstance(target, ast.Subscript) and same(addend, target.value):
            return True
        return same(addend, target)

    def _defined_before(self, name: str, node: ast.stmt) -> bool:
        if name in self.source.parameters:
            return True
        for other in self._statements(self.source.body):
            if other is node:
                return False
            if isinstance(other, ast.Assign) and any(
                isinstance(t, ast.Name) and t.id == name for t in other.targets
            ):
                return True
        return False

    # -- operands -----------------------------------------------------------------------------

    def _operands(self, node: ast.BinOp) -> None:
        left, right = self.kinds.of(node.left), self.kinds.of(node.right)
        if isinstance(node.op, ast.MatMult):
            return
        if max(left.rank, right.rank) < 1:
            return
        for array, other in ((left, right), (right, left)):
            if array.rank < 1:
                continue
            if array.what in (INT, BOOL):
                if isinstance(node.op, ast.Div | ast.Pow):
                    self._refuse(node, "keeps a quotient of whole numbers whole")
                if other.what == FLOAT and other.rank == 0:
                    self._refuse(node, "cuts a float to a whole number, as the array has it")
            wide = other.rank == 0 and other.bits > array.bits and other.known and array.known
            if wide:
                self._refuse(node, "rounds a NumPy scalar to the type of the array")

    def _slices(self, node: ast.Subscript) -> None:
        parts = indices(node)
        array = self.kinds.of(node.value)
        if array.rank < 1:
            return
        partial = [
            p
            for p in parts
            if isinstance(p, ast.Slice) and (p.lower is not None or p.upper is not None or p.step)
        ]
        if array.rank > 1 and base(node) in self.crooked:
            fewer = len(parts) < array.rank
            mixed = any(isinstance(p, ast.Slice) for p in parts)
            if partial or fewer or (mixed and len(parts) > 1):
                self._refuse(node, f"looks for a slice of '{base(node)}' in the wrong place")

    def _crooked(self) -> set[str]:
        """Local arrays whose extents docc has as an expression, such as ``n - 4``: it does not put
        that into brackets where it multiplies."""
        found: set[str] = set()
        for _ in range(4):
            for name, value in assigned(self.source.body):
                if not isinstance(value, ast.For) and self._odd(value, found):
                    found.add(name)
        return found

    def _odd(self, value: ast.expr, found: set[str]) -> bool:
        if isinstance(value, ast.Call) and _method(value) in MAKERS:
            shape = value.args[0] if value.args else value
            inner = shape.elts if isinstance(shape, ast.Tuple | ast.List) else [shape]
            return any(isinstance(n, ast.BinOp) for n in inner)
        for node in walk(value):
            if isinstance(node, ast.Name) and node.id in found and self.kinds.of(node).rank:
                return True
            if isinstance(node, ast.Subscript) and self.kinds.of(node.value).rank > 0:
                for part in indices(node):
                    if isinstance(part, ast.Slice) and (part.lower or part.upper or part.step):
                        return True
        return False

    # -- views --------------------------------------------------------------------------------

    def _views(self) -> dict[str, str]:
        """Local arrays that look into another one, and which."""
        return {
            name: base_of(value)
            for name, value in assigned(self.source.body)
            if not isinstance(value, ast.For) and self._is_view(value) and base_of(value) != name
        }

    def _root(self, name: str) -> str:
        seen: set[str] = set()
        while name in self.looks_into and name not in seen:
            seen.add(name)
            name = self.looks_into[name]
        return name

    def _is_view(self, value: ast.expr) -> bool:
        kind: Kind = self.kinds.of(value)
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
            return value.func.attr in VIEWS
        return kind.rank != 0 and isinstance(value, ast.Name | ast.Subscript | ast.Attribute)


def _method(node: ast.AST) -> str:
    """The name of a function that is looked up in something, such as NumPy, and called."""
    called = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    return node.func.attr if called else ""  # type: ignore[attr-defined]


def _beside(target: ast.Subscript, value: ast.expr) -> bool:
    """Whether one row, say, is copied to another: they are the same one, or do not overlap."""
    if not isinstance(value, ast.Subscript) or not same(target.value, value.value):
        return False
    pairs = list(zip(indices(target), indices(value), strict=False))
    fixed = [isinstance(a, ast.Slice) == isinstance(b, ast.Slice) for a, b in pairs]
    rows = any(not isinstance(a, ast.Slice) for a, _ in pairs)
    slices = all(same(a, b) for a, b in pairs if isinstance(a, ast.Slice))
    return len(indices(target)) == len(indices(value)) and all(fixed) and rows and slices


def base_of(value: ast.expr) -> str:
    """The array that a view looks into."""
    if isinstance(value, ast.Call):
        return base_of(value.args[0]) if value.args else base(value.func)
    return base(value)


def is_product(node: ast.AST) -> bool:
    """Whether docc gives an assigned expression to BLAS, with all that is added to it."""
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, ast.MatMult):
            return True
        if isinstance(node.op, ast.Add | ast.Mult):
            return is_product(node.left) or is_product(node.right)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in ("dot", "matmul")
    return False


def products(node: ast.AST) -> list[tuple[ast.expr, ast.expr]]:
    """The operands of all products in an expression."""
    found: list[tuple[ast.expr, ast.expr]] = []
    for part in walk(node):
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.MatMult):
            found.append((part.left, part.right))
        elif isinstance(part, ast.Call) and is_product(part) and len(part.args) == 2:
            found.append((part.args[0], part.args[1]))
    return found


def transposed_operands(kinds: Kinds, scattered: frozenset[str]) -> None:
    """Refuse products of what is not stored row by row: docc tells BLAS that it is.

    A transpose written right into ``C[:] = A.T @ B`` is handed on; elsewhere it is lost.
    """
    source = kinds.source
    turned = set(scattered)
    for name, value in assigned(source.body):
        if not isinstance(value, ast.For) and _turned(value, turned):
            turned.add(name)
    told = {
        id(node.value)
        for node in source.walk()
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript)
    }
    for node in source.walk():
        for left, right in products(node) if isinstance(node, ast.BinOp | ast.Call) else ():
            for operand in (left, right):
                plain = isinstance(operand, ast.Attribute) and isinstance(operand.value, ast.Name)
                direct = plain and id(node) in told and base(operand) not in turned
                if _turned(operand, turned) and not direct:
                    source.refuse(node, "loses the transpose of a product's operand", INSTEAD)


def _turned(node: ast.AST, turned: set[str]) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr == "T" or _turned(node.value, turned)
    if isinstance(node, ast.Subscript):
        stepped = any(isinstance(p, ast.Slice) and p.step is not None for p in indices(node))
        return stepped or _turned(node.value, turned)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in VIEWS - {"reshape", "ravel", "split"}
    return isinstance(node, ast.Name) and node.id in turned
