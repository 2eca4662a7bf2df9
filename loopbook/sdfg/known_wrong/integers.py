"""Whole numbers: floor division, remainders and shifts of what may be negative or zero."""

from __future__ import annotations

import ast

from loopbook.sdfg.known_wrong.kinds import BOOL, FLOAT, INT, Kind, Kinds, assigned
from loopbook.sdfg.known_wrong.source import BlockRewriter, expression, integer, mentioned


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


class Division(BlockRewriter):
    """docc divides whole numbers as C does, towards zero, and shifts as if they had no sign.

    - ``-7 // 2``: docc gives -3, Python -4. After: ``(a - a % b) // b``, where nothing is left to
      round; docc's ``%`` is Python's.
    - ``n >> 1`` of a size: docc gives a huge number. After: the same with ``b = 2 ** s``, which
      bounds can follow from. A shift of data stays (`loopbook.sdfg.shifts`).
    - ``a % 0``: the processor's division ends the process, NumPy gives 0. After: ``… if b != 0
      else 0``.
    - ``x // y`` of floats: docc does not round at all. Refused.
    - ``x % 2.5`` of floats: docc adds 2.5 to what is already positive. After: ``math.fmod``, and
      2.5 is added to what is negative.

    What cannot be negative, such as ``i // 2`` of a loop that counts from 0, stays as it is.
    """

    def __init__(self, kinds: Kinds) -> None:
        super().__init__(kinds.source)
        self.kinds = kinds
        self.signs = Signs(kinds)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        if isinstance(node.op, ast.FloorDiv | ast.Mod | ast.RShift):
            import copy

            left = copy.deepcopy(node.target)
            left.ctx = ast.Load()
            value = ast.copy_location(ast.BinOp(left, node.op, node.value), node)
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
        text = "a % b"
        divisor = integer(node.right, self.source.names)
        safe = signs[1] or divisor not in (None, 0)
        if isinstance(node.op, ast.FloorDiv):
            text = "(a - a % b) // b"
            self.source.mend(node, "round a quotient of whole numbers downwards")
        elif safe:
            return node
        else:
            self.source.mend(node, "give 0 for a remainder of a division by 0, as NumPy does")
        text = text if safe else f"({text}) if b != 0 else 0"
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


def check_bits(kinds: Kinds, ones: frozenset[tuple[str, int]]) -> None:
    """Refuse bits of a count in a loop that may run once: docc drops the loop, and leaves the count
    in them undefined.

    Args:
        ones: array arguments and dimensions of extent 1 (`loops.extents_of_one`).
    """
    source = kinds.source
    arrays = {name for name, _ in ones}
    unknown = any(_asks_size(node, arrays) for node in source.walk())
    counts = {
        name
        for node in source.walk()
        if isinstance(node, ast.For) and _may_run_once(node, unknown)
        for name in mentioned(node.target)
    }
    for node in source.walk() if counts else ():
        if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, BITS):
            sides = (
                [node.left, node.right]
                if isinstance(node, ast.BinOp)
                else [node.target, node.value]
            )
            if any(_operands(side) & counts for side in sides):
                source.refuse(
                    node, "loses the count of a loop that runs once", "use it without bits"
                )


def _asks_size(node: ast.AST, arrays: set[str]) -> bool:
    """Whether a loop may get its bounds from one of these arrays' sizes."""
    if isinstance(node, ast.Attribute):
        return node.attr in ("shape", "size") and bool(mentioned(node.value) & arrays)
    return isinstance(node, ast.Call) and bool(
        {name for argument in node.args for name in mentioned(argument)} & arrays
    )


def _operands(node: ast.expr) -> set[str]:
    """The names in it, without those that are only compared: docc gets such conditions right."""
    if isinstance(node, ast.Compare):
        return set()
    if isinstance(node, ast.BinOp):
        return _operands(node.left) | _operands(node.right)
    return mentioned(node)


def _may_run_once(node: ast.For, unknown: bool) -> bool:
    """Whether a loop does by the numbers of its bounds, or, for bounds that are no numbers, if they
    may be those of an array of one element (`unknown`)."""
    if not isinstance(node.iter, ast.Call):
        return False
    given = [integer(argument) for argument in node.iter.args]
    numbers = [value for value in given if value is not None]
    if len(numbers) < len(given) or not numbers or (len(numbers) == 3 and not numbers[2]):
        return unknown
    return len(range(*numbers)) == 1


def _literal(node: ast.expr) -> float | None:
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
