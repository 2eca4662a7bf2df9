"""Unsigned numbers of 64 bits, as words with a sign that have the same bits.

docc's loops have signed words. Sums, products and bits are the same for both; what is not::

    a >> 7       (a >> 7) & 0x1FFFFFFFFFFFFFF           # no sign comes from the left
    a < b        (a < b) != ((a ^ b) < 0)
    float(a)     a, or twice its half if that has a sign
    a // b       twice the quotient of its half, and one more if that leaves b or more

A function in which there are such numbers is `Code.wide`: sums of smaller unsigned numbers have
that type too, and are far too small for any of this to matter.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from loopbook.frontend.code import Code, bare
from loopbook.frontend.types import BOOL, FLOAT, INT, WIDE, literal
from loopbook.frontend.values import Scalar

BITS = 64

MOST = 2**63 - 1
"""The greatest word."""

WHOLE = frozenset((
    "abs", "absolute", "add", "all", "any", "append", "array", "asarray", "ascontiguousarray",
    "astype", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "bool", "clip",
    "concatenate", "copy", "empty_like", "enumerate", "equal", "flatten", "flip", "float",
    "float32", "float64", "full", "full_like", "greater", "greater_equal", "hstack", "int",
    "int16", "int32", "int64", "int8", "invert", "isinstance", "left_shift", "len", "less",
    "less_equal", "list", "log", "log2", "max", "maximum", "min", "minimum", "multiply",
    "not_equal", "ones_like", "range", "ravel", "repeat", "reshape", "right_shift", "roll",
    "sqrt", "squeeze", "stack", "subtract", "sum", "tile", "transpose", "tuple", "uint16",
    "uint32", "uint64", "uint8", "vstack", "where", "zeros_like", "zip",
))  # fmt: skip
"""Functions and methods that are right for arrays of such numbers. Others may compare them."""


def is_wide(code: Code, *values: Scalar) -> bool:
    """Whether one of some numbers may be too great for a word with a sign."""
    return code.wide and any(value.dtype == WIDE for value in values)


def constant(value: int) -> Scalar:
    """A number that is known."""
    number = np.uint64(value)
    return Scalar(literal(number), WIDE, False, None, number)


def word(code: Code, value: Scalar) -> Scalar:
    """A whole number as such a word.

    Raises:
        LoweringError: it is one of Python's that is negative, or too great.
    """
    if value.value is not None:
        if value.weak and not 0 <= int(value.value) < 2**BITS:
            raise code.fail(f"{value.text} as uint64")
        return constant(int(value.value) % 2**BITS)
    if value.dtype.kind == "b":
        return Scalar(f"int({bare(value.text)})", WIDE)
    if value.dtype.kind == "f":
        return _of_float(code, value)
    if value.dtype == WIDE:
        return value
    if value.weak:  # of Python's numbers there are no negative ones of this type
        natural = value.whole is not None and code.facts.nonnegative(value.whole, firm=False)
        if not natural:
            value = code.let(value)
            code.suppose(f"{value.text} >= 0")
    return Scalar(f"(int({bare(value.text)}) | 0)", WIDE)


def _of_float(code: Code, value: Scalar) -> Scalar:
    value = code.let(value)
    half = "9223372036854775808.0"
    found = code.chosen(
        f"{value.text} >= {half}",
        f"int({value.text} - {half}) - {MOST} - 1", f"int({value.text})",
    )  # fmt: skip
    return Scalar(found, WIDE)


def real(code: Code, value: Scalar) -> Scalar:
    """Such a word as a C double, rounded as C rounds it."""
    if value.value is not None:
        return Scalar(literal(float(value.value)), FLOAT, value=float(value.value))
    value = code.let(value)
    a = value.text
    half = f"float(((({a} >> 1) & {MOST}) | ({a} & 1))) * 2.0"
    return Scalar(code.chosen(f"{a} < 0", half, f"float({a})"), FLOAT)


def less(left: str, right: str) -> str:
    """Text of whether one word is less than another one."""
    return f"(int({left} < {right}) != int(({left} ^ {right}) < 0))"


def _less(left: Scalar, right: Scalar) -> str:
    """The same of numbers of which one may be known: docc moves what is added to it to the other
    side, whatever overflows there."""
    if left.value is not None and right.value is not None:
        return str(int(left.value) < int(right.value))
    if left.value is not None:
        return (
            "False"
            if int(left.value) == 2**BITS - 1
            else (f"(not {_less(right, constant(int(left.value) + 1))})")
        )
    if right.value is None:
        return less(left.text, right.text)
    number = int(right.value)
    if number == MOST + 1:
        return f"({left.text} >= 0)"
    word = "and" if number <= MOST else "or"
    return f"({left.text} >= 0 {word} {left.text} < {right.text})"


def compare(code: Code, op: str, left: Scalar, right: Scalar) -> Scalar:
    """A comparison."""
    for one in (left, right):
        if one.value is None and one.dtype.kind == "i":
            raise code.fail("uint64 compared with numbers that may be negative")
    a, b = (code.let(word(code, one)) for one in (left, right))
    if op in ("==", "!="):
        return Scalar(f"({a.text} {op} {b.text})", BOOL)
    text = _less(a, b) if op in ("<", ">=") else _less(b, a)
    return Scalar(text if op in "<>" else f"(not {text})", BOOL)


def binary(code: Code, op: str, left: Scalar, right: Scalar) -> Scalar:
    """An operator whose result is such a number.

    Raises:
        LoweringError: for operators that have no form in loops.
    """
    left, right = word(code, left), word(code, right)
    if op in ("<<", ">>"):
        return Scalar(_shifted(code, op, left, right), WIDE)
    if op in ("//", "%"):
        return _divided(code, op, left, right)
    if op in ("&", "|", "^"):
        return Scalar(f"({left.text} {op} {right.text})", WIDE)
    if op in ("+", "-", "*"):  # docc leaves int() out, which is a word where loops run as Python
        return Scalar(f"int({left.text} {op} {right.text})", WIDE)
    raise code.fail(f"{op} of uint64")


def _shifted(code: Code, op: str, left: Scalar, right: Scalar) -> str:
    if right.value is not None:
        places = int(right.value)
        if not places:
            return left.text
        if places >= BITS:
            return "0"
        if op == "<<":
            return f"int({left.text} << {places})"
        return f"(({left.text} >> {places}) & {2 ** (BITS - places) - 1})"
    a, s = code.let(left).text, code.let(right).text
    if op == "<<":
        return code.chosen(f"{s} >= 0 and {s} < 64", f"int({a} << {s})", "0")
    inside = f"(({a} >> 1) & {MOST}) >> ({s} - 1)"
    return code.chosen(f"{s} == 0", a, code.chosen(f"{s} > 0 and {s} < 64", inside, "0"))


def _divided(code: Code, op: str, left: Scalar, right: Scalar) -> Scalar:
    number = None if right.value is None else int(right.value)
    if number and number.bit_count() == 1:
        places = number.bit_length() - 1
        if op == "%":
            return Scalar(f"({left.text} & {word(code, constant(number - 1)).text})", WIDE)
        return Scalar(_shifted(code, ">>", left, constant(places)), WIDE)
    a, b = code.let(left).text, code.let(right).text
    quotient = code.fresh("s_")
    code.emit(f"{quotient} = 0")
    if number is not None and number > MOST:
        with code.indented(f"if not {_less(Scalar(a, WIDE), right)}:"):
            code.emit(f"{quotient} = 1")
        return _quotient_or_rest(code, op, a, b, quotient)
    if number is None:
        with code.indented(f"if {b} < 0:"), code.indented(f"if not {less(a, b)}:"):
            code.emit(f"{quotient} = 1")
    with code.indented(f"if {b} > 0:"):
        code.emit(f"{quotient} = ((({a} >> 1) & {MOST}) // {b}) * 2")
        rest = code.let(Scalar(f"int({a} - {quotient} * {b})", WIDE))
        with code.indented(f"if not {_less(rest, right)}:"):
            code.emit(f"{quotient} = {quotient} + 1")
    return _quotient_or_rest(code, op, a, b, quotient)


def _quotient_or_rest(code: Code, op: str, a: str, b: str, quotient: str) -> Scalar:
    if op == "//":
        return Scalar(quotient, WIDE)
    return Scalar(code.chosen(f"{b} == 0", "0", f"int({a} - {quotient} * {b})"), WIDE)


def extreme(code: Code, op: str, left: Scalar, right: Scalar) -> Scalar:
    """The greater (``>``) or lesser (``<``) of two."""
    left, right = (code.let(word(code, one)) for one in (left, right))
    test = compare(code, op, left, right).text
    return Scalar(code.chosen(test, left.text, right.text), WIDE)


def of_python(code: Code, value: Scalar) -> Scalar:
    """Such a number as one of Python's, which is supposed to be no greater than a word."""
    if value.value is not None:
        raise code.fail("a number of more than 63 bits as Python's")
    value = code.let(value)
    code.suppose(f"{value.text} >= 0")
    return replace(Scalar(value.text, INT, True), whole=None)
