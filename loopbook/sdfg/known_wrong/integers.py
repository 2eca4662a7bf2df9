"""Whole numbers: floor division, remainders and shifts of what may be negative or zero."""

from __future__ import annotations

import ast
import operator

from loopbook.sdfg.known_wrong.kinds import BOOL, FLOAT, INT, Kind, Kinds, assigned
from loopbook.sdfg.known_wrong.source import (
    BlockRewriter,
    base,
    expression,
    filled,
    integer,
    same,
    written_out,
)
from loopbook.syntax import mentioned, walk


class Signs:
    """What cannot be negative, or zero, whatever the arguments are."""

    def __init__(self, kinds: Kinds) -> None:
        self.kinds = kinds
        values: dict[str, list[ast.expr | ast.For]] = {}
        for name, value in assigned(kinds.source.body):
            values.setdefault(name, []).append(value)
        self._values = {n: v for n, v in values.items() if n not in kinds.parameters}
        self._least = dict.fromkeys(self._values, 1)
        # From "all are positive" downwards: what is then still claimed follows from itself.
        for _ in range(2 * len(self._values) + 2):
            before = dict(self._least)
            for name, given in self._values.items():
                self._least[name] = min(self._of(value) for value in given)
            if before == self._least:
                break

    def not_negative(self, node: ast.expr) -> bool:
        return self._of(node) >= 0

    def positive(self, node: ast.expr) -> bool:
        return self._of(node) > 0

    def _of(self, node: ast.expr | ast.For) -> int:
        """1 for positive, 0 for not negative, -1 for anything."""
        if isinstance(node, ast.For):
            return self._counted(node)
        value = integer(node, self.kinds.source.names)
        if value is not None and not (isinstance(node, ast.Name) and node.id in self._values):
            return (value > 0) - (value < 0)
        if isinstance(node, ast.Name):
            return self._least.get(node.id, -1)
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute):
            return 1 if node.value.attr == "shape" else -1
        if isinstance(node, ast.Attribute):
            return 1 if node.attr == "size" else -1
        if isinstance(node, ast.BinOp):
            if isinstance(node.op, ast.BitXor) and same(node.right, _sign_of(node.left)):
                return 0
            return self._combined(node.op, self._of(node.left), self._of(node.right))
        if isinstance(node, ast.IfExp):
            return min(self._of(node.body), self._of(node.orelse))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 2:
            signs = [self._of(argument) for argument in node.args]
            return {"min": min(signs), "max": max(signs)}.get(node.func.id, -1)
        return -1

    def _combined(self, op: ast.operator, left: int, right: int) -> int:
        if isinstance(op, ast.Mod) and right > 0:
            return 0
        if isinstance(op, ast.BitAnd) and max(left, right) >= 0:
            return 0
        if min(left, right) < 0:
            return -1
        if isinstance(op, ast.Add):
            return max(left, right)
        if isinstance(op, ast.Mult):
            return min(left, right)
        return 0 if isinstance(op, ast.FloorDiv | ast.RShift) else -1

    def _counted(self, loop: ast.For) -> int:
        if not isinstance(loop.iter, ast.Call):
            return -1
        given = loop.iter.args
        if len(given) == 1:
            return 0
        step = 1 if len(given) == 2 else integer(given[2], self.kinds.source.names)
        if step is None:
            return -1
        if step > 0:
            return self._of(given[0])
        last = integer(given[1], self.kinds.source.names)
        if last is not None:
            return 1 if last >= 0 else (0 if last == -1 else -1)
        return self._of(given[1])


def _is_multiple(node: ast.expr, divisor: ast.expr) -> bool:
    """Whether it is ``a - a % divisor``."""
    return isinstance(node, ast.BinOp) and same(
        node, expression("a - a % b", node, a=node.left, b=divisor)
    )


def _rounded(body: list[ast.stmt]) -> ast.expr | None:
    """The divisor of a quotient that is made right however ``//`` rounds, as our loops have it."""
    match body:
        case [
            ast.Assign(
                targets=[ast.Name(id=q)],
                value=ast.BinOp(left=ast.Name(id=a), op=ast.FloorDiv(), right=divisor),
            ),
            ast.Assign(targets=[ast.Name(id=r)]),
            ast.Assign(targets=[ast.Name(id=found)]),
        ]:
            b = ast.unparse(divisor)
            lines = (
                f"{q} = {a} // {b}",
                f"{r} = {a} - {q} * {b}",
                f"{found} = {q} + ((({r} | 0 - {r}) & ({r} ^ {b})) >> 63)",
            )
            written = all(map(same, body, map(ast.parse, lines)))
            return divisor if written and len({q, a, r, found}) == 4 else None
    return None


def _sign_of(node: ast.expr) -> ast.expr:
    return expression("a >> 63", node, a=node)


class Division(BlockRewriter):
    """docc divides whole numbers as C does, towards zero, and shifts as if they had no sign.

    - ``-7 // 2``: docc gives -3, Python -4. After: ``(a - a % b) // b``, where nothing is left to
      round; docc's ``%`` is Python's. What our own loops round themselves stays
      (`loopbook.frontend.division`).
    - ``n >> 1`` of a size: docc gives a huge number. After: the same with ``b = 2 ** s``, which
      bounds can follow from. A shift of data stays (`loopbook.sdfg.shifts`).
    - ``a % 0``, and the least number by -1: the processor's division ends the process, NumPy gives
      0, and the least number. After: ``… if b > 0 or b < -1 else 0``, or ``a * b``.
    - ``x // y`` of floats: docc does not round at all. Refused.
    - ``x % 2.5`` of floats: docc adds 2.5 to what is already positive. After: ``math.fmod``, and
      2.5 is added to what is negative.

    What cannot be negative, such as ``i // 2`` of a loop that counts from 0, stays as it is.
    """

    def __init__(self, kinds: Kinds) -> None:
        super().__init__(kinds.source)
        self.kinds = kinds
        self.signs = Signs(kinds)
        self._divisors: frozenset[str] = frozenset()
        """Those that branches around see to."""

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for place, statement in enumerate(body):
            divisor = _rounded(body[place : place + 3])
            if divisor is not None and self._divides(divisor):
                found.append(statement)
            else:
                found += super().block([statement])
        return found

    def visit_For(self, node: ast.For | ast.While) -> ast.AST:
        body, node.body = node.body, []
        self.generic_visit(node)
        node.body = self.block(body)
        return node

    visit_While = visit_For

    def visit_If(self, node: ast.If) -> ast.AST:
        given, test = self._divisors, ast.unparse(node.test)
        changed = {name for name, _ in assigned(node.body)}
        self._divisors |= {
            name
            for name in mentioned(node.test) - changed
            if test in (f"{name} != 0", f"{name} > 0 or {name} < -1")
        }
        node.test = self.visit(node.test)
        node.body = self.block(node.body)
        self._divisors = given
        node.orelse = self.block(node.orelse)
        return node

    def _divides(self, divisor: ast.expr) -> bool:
        """Whether the processor can divide by a number."""
        if isinstance(divisor, ast.Name) and divisor.id in self._divisors:
            return True
        return integer(divisor, self.source.names) not in (None, 0)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        if isinstance(node.op, ast.FloorDiv | ast.Mod | ast.RShift):
            value = written_out(node)
            made = self.visit(value)
            if made is value and isinstance(made, ast.BinOp) and made.op is node.op:
                return self.generic_visit(node)
            return ast.copy_location(ast.Assign(targets=[node.target], value=made), node)
        return self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        original = (node.left, node.right)
        left, right = self.kinds.of(node.left), self.kinds.of(node.right)
        signs = self.signs.not_negative(node.left), self.signs.positive(node.right)
        node = self.generic_visit(node)  # type: ignore[assignment]
        if not isinstance(node.op, ast.FloorDiv | ast.Mod | ast.RShift):
            return node
        if left.rank != 0 or right.rank != 0:
            return node  # docc parses no such thing of arrays, or says so
        whole = {left.what, right.what} <= {INT, BOOL}
        if not whole:
            return self._of_floats(node, left, right)
        if isinstance(node.op, ast.RShift):
            return self._shifted(node, original, signs)
        if signs == (True, True):
            return node
        return self._divided(node, signs)

    def _divided(self, node: ast.BinOp, signs: tuple[bool, bool]) -> ast.AST:
        text, other = "a % b", "0"
        safe = signs[1] or self._divides(node.right)
        if isinstance(node.op, ast.FloorDiv):
            if safe and _is_multiple(node.left, node.right):
                return node
            text, other = "(a - a % b) // b", "a * b"
            self.source.mend(node, "round a quotient of whole numbers downwards")
        elif safe:
            return node
        else:
            self.source.mend(node, "give 0 for a remainder of a division by 0, as NumPy does")
        text = text if safe else f"({text}) if b > 0 or b < -1 else {other}"
        return expression(text, node, a=node.left, b=node.right)

    def _shifted(
        self, node: ast.BinOp, original: tuple[ast.expr, ast.expr], signs: tuple[bool, bool]
    ) -> ast.AST:
        if signs[0] or not self._symbolic(original[0]):
            return node
        self.source.mend(node, "shift a number that may be negative by dividing it")
        places = integer(original[1], self.source.names)
        text = f"{2**places}" if places is not None and 0 <= places < 63 else "(1 << s)"
        return expression(f"(a - a % {text}) // {text}", node, a=node.left, s=node.right)

    def _symbolic(self, node: ast.expr) -> bool:
        """Whether bounds and indices can follow from it: only of what is not data."""
        return not any(isinstance(part, ast.Subscript) for part in ast.walk(node)) and all(
            name in self.kinds.parameters for name in mentioned(node)
        )

    def _of_floats(self, node: ast.BinOp, left: Kind, right: Kind) -> ast.AST:
        if isinstance(node.op, ast.Mod) and FLOAT in (left.what, right.what):
            value = _literal(node.right)
            if value is not None and value > 0:
                self._add_math()
                self.source.mend(node, "write a remainder of floats with math.fmod")
                text = f"(math.fmod(a, b) + b) if math.fmod(a, b) < 0.0 else math.fmod(a, {value})"
                number = ast.copy_location(ast.Constant(value=float(value)), node)
                return expression(text, node, a=node.left, b=number)
            what, instead = "rounds a remainder of floats differently", "use math.fmod"
        else:
            what, instead = "does not round a quotient of floats", "write math.floor(x / y)"
        return self.source.refuse(node, what, instead)

    def _add_math(self) -> None:
        import math

        if self.source.names.get("math") is not math:
            names = dict(self.source.names)
            names["math"] = math
            self.source.names = names


BITS = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift)
_SUMS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}


class SingleCounts(BlockRewriter):
    """docc drops a loop that it knows to run once, and leaves its count undefined in bits and where
    it becomes a float.

    Before (of one element)::  for i in range(a.shape[0]): res[i] = (a[i] ^ i) + 0.5 * i
    After::                    for i in range(a.shape[0]): res[0] = (a[0] ^ 0) + 0.5 * 0

    A loop that docc finds to run once by itself is left: what it then leaves undefined is seen in
    what it makes of the program (`loopbook.sdfg.lost`).
    """

    def __init__(self, kinds: Kinds, ones: frozenset[tuple[str, int]]) -> None:
        """
        Args:
            ones: array arguments and dimensions of extent 1 (`loops.extents_of_one`).
        """
        super().__init__(kinds.source)
        self._kinds = kinds
        self._ones = ones
        given: dict[str, list[ast.expr | ast.For]] = {}
        for name, value in assigned(kinds.source.body):
            given.setdefault(name, []).append(value)
        self._values = {
            name: values[0]
            for name, values in given.items()
            if len(values) == 1 and name not in kinds.parameters
        }

    def visit_For(self, node: ast.For) -> ast.AST:
        node.body = self.block(node.body)
        start = self._only_count(node)
        if start is None or not isinstance(node.target, ast.Name):
            return node
        name = node.target.id
        if name in {changed for changed, _ in assigned(node.body)}:
            return node
        if not _has_bits(node, name) and not self._has_floats_of(node, name):
            return node
        self.source.mend(node, f"write the only count of the loop over '{name}'")
        number = expression(str(start), node)
        node.body = [filled(one, {name: number}) for one in node.body]
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """``n = a.shape[0]`` of one row, which docc does not parse."""
        match node:
            case ast.Assign(targets=[ast.Name()], value=ast.Subscript(value=ast.Attribute())):
                if self._number(node.value, frozenset()) == 1:
                    self.source.mend(node, "write the extent of one element")
                    node.value = expression("1", node)
        return node

    def _only_count(self, node: ast.For) -> int | None:
        """The count of a loop that runs once by what docc knows of its bounds."""
        if not isinstance(node.iter, ast.Call) or mentioned(node.iter.func) != {"range"}:
            return None
        bounds = [self._number(bound, frozenset()) for bound in node.iter.args]
        numbers = [bound for bound in bounds if bound is not None]
        if len(numbers) < len(bounds) or numbers[2:] == [0]:
            return None
        counts = range(*numbers)
        return counts[0] if len(counts) == 1 else None

    def _number(self, node: ast.expr | ast.For, seen: frozenset[str]) -> int | None:
        if isinstance(node, ast.Name) and node.id in self._values and node.id not in seen:
            return self._number(self._values[node.id], seen | {node.id})
        if isinstance(node, ast.BinOp) and type(node.op) in _SUMS:
            left, right = self._number(node.left, seen), self._number(node.right, seen)
            known = left is not None and right is not None
            return _SUMS[type(node.op)](left, right) if known else None
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute):
            single = (base(node), integer(node.slice)) in self._ones
            return 1 if node.value.attr == "shape" and single else None
        return integer(node, self.source.names) if isinstance(node, ast.expr) else None

    def _has_floats_of(self, loop: ast.For, name: str) -> bool:
        """Whether a loop computes floats of its count, or variables that may become floats."""
        parts = (part for one in loop.body for part in walk(one))
        return any(self._may_be_float(part) for part in parts if name in _operands(part))

    def _may_be_float(self, node: ast.AST) -> bool:
        match node:
            case ast.Assign(targets=[ast.Name()]):
                return True
            case ast.Assign(targets=[target]) | ast.AugAssign(target=target):
                return self._kinds.of(target).what != INT
        return isinstance(node, ast.BinOp | ast.Call) and self._kinds.of(node).what != INT


def _has_bits(loop: ast.For, name: str) -> bool:
    """Whether a loop has bits of numbers that its count may be among."""
    parts = [part for one in loop.body for part in walk(one)]
    read = any(isinstance(part, ast.Name) and part.id == name for part in parts)
    return read and any(
        isinstance(part, ast.BinOp | ast.AugAssign)
        and isinstance(part.op, BITS)
        and (isinstance(part, ast.AugAssign) or _operands(part))
        for part in parts
    )


def _operands(node: ast.AST) -> set[str]:
    """The names in it, without those that are only compared: docc gets such conditions right; nor
    those in indices and bounds."""
    match node:
        case ast.Compare() | ast.Subscript():
            return set()
        case ast.BinOp(left=left, right=right):
            return _operands(left) | _operands(right)
        case ast.Assign(value=value) | ast.AugAssign(value=value):
            return _operands(value)
        case ast.Call(func=ast.Name(id="range")):
            return set()
        case ast.Call(args=args):
            return set().union(*map(_operands, args))
    return mentioned(node)


def _literal(node: ast.expr) -> float | None:
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
