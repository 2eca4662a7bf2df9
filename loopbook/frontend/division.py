"""Quotients, remainders and shifts, as source text that docc translates right.

docc 0.8 rounds ``//`` towards zero, and C++ neither divides by 0 nor the least number by -1, nor
shifts by more places than a word has; NumPy does all of that. Of whole numbers from data::

    a // 7     (a ^ a >> 63) // 7 ^ a >> 63             # of what is not negative

    a // 8     a >> 3                                   a % 8     a & 7

    a // b     s_0 = a * b                              # b is 0 or -1
               if b > 0 or b < -1:
                   s_1 = a // b                         # rounded by Python, but not by docc
                   s_2 = a - s_1 * b
                   s_0 = s_1 + (((s_2 | 0 - s_2) & (s_2 ^ b)) >> 63)

    a % b      s_0 = 0
               if b > 0 or b < -1: s_0 = a % b

    a << b     s_0 = 0
               if b >= 0 and b < 64: s_0 = a << b
"""

from __future__ import annotations

import ast
from contextlib import ExitStack
from dataclasses import replace

import numpy as np

from loopbook.frontend import arith, types
from loopbook.frontend.arith import binary, chosen, convert, function2, real_of, single, word
from loopbook.frontend.code import Code, bare
from loopbook.frontend.narrow import wraps
from loopbook.frontend.symbols import Int
from loopbook.frontend.types import INT, SINGLE
from loopbook.frontend.values import Scalar

POWERS = 62
"""The greatest power of two that is a word of 64 bits with a sign."""


def divided(
    code: Code, op: str, left: Scalar, right: Scalar, dtype: np.dtype, weak: bool
) -> Scalar:
    """``left // right`` or ``left % right``."""
    if dtype.kind == "f":
        return _of_floats(code, op, left, right, dtype, weak)
    if dtype == INT and left.whole is not None and isinstance(right.value, int) and right.value > 0:
        exact = left.whole.divided(right.value)
        if exact is not None and left.whole.constant is None:
            found = arith.whole(exact[0] if op == "//" else Int.of(exact[1]))
            return replace(found, weak=weak)
    places, data = _power(right), not symbolic(code, left)
    natural = left.whole is not None and code.facts.nonnegative(left.whole, firm=False)
    if places is not None and data and not natural:
        return _by_bits(code, op, left, places, dtype, weak)
    left, right = code.let(word(left)), code.let(word(right))
    text = f"{left.text} % {right.text}"
    positive = right.whole is not None and code.facts.nonnegative(right.whole - 1, firm=False)
    guarded = not positive and right.value is None
    if op == "//" and data and not natural:
        if right.value is not None and right.value > 0:
            sign = f"{left.text} >> 63"
            return Scalar(f"(({left.text} ^ {sign}) // {right.text} ^ {sign})", dtype, weak)
        return _rounded(code, left, right, dtype, weak, guarded)
    if op == "//":
        straight = positive and natural
        text = (
            f"{left.text} // {right.text}"
            if straight
            else f"({left.text} - {text}) // {right.text}"
        )
    if positive and left.whole is not None and right.whole is not None:
        parts = (left.whole, right.whole)
        known = code.facts.derive(f"({text})", parts, lambda a, b: a // b if op == "//" else a % b)
        if op == "%" and code.facts.known(known) is None:
            code.facts.ranges.setdefault(known.text, (Int.of(0), right.whole - 1))
        return Scalar(known.text, dtype, weak, known)
    if guarded:
        other = "0" if op == "%" else f"{left.text} * {right.text}"
        return chosen(code, _divides(right, dtype), text, other, dtype, weak)
    return Scalar(f"({text})", dtype, weak)


def _by_bits(code: Code, op: str, left: Scalar, places: int, dtype: np.dtype, weak: bool) -> Scalar:
    """A number from data divided by ``2**places``."""
    if op == "//":
        return Scalar(f"({word(left).text} >> {places})", dtype, weak)
    most = 2**places - 1
    found = Scalar(f"({word(left).text} & {most})", dtype, weak)
    if left.whole is None:
        return found
    found = code.let(found)  # an index may follow from it, which is not negative
    code.facts.ranges.setdefault(found.text, (Int.of(0), Int.of(most)))
    return found


def symbolic(code: Code, value: Scalar) -> bool:
    """Whether it is of sizes and loops' variables, from which indices may follow."""
    facts = code.facts
    return value.whole is not None and all(
        atom in facts.values or atom in facts.ranges for atom in value.whole.atoms
    )


def _divides(right: Scalar, dtype: np.dtype) -> str:
    """Text of whether C++ can divide by a number."""
    if wraps(dtype):  # its least number is none of the word's
        return f"{right.text} != 0"
    return f"{right.text} > 0 or {right.text} < -1"


def _rounded(
    code: Code, left: Scalar, right: Scalar, dtype: np.dtype, weak: bool, guarded: bool
) -> Scalar:
    """A quotient that is the same whichever way ``//`` rounds."""
    a, b = left.text, right.text
    name = code.fresh("s_")
    with ExitStack() as stack:
        if guarded:
            code.emit(f"{name} = {a} * {b}")
            stack.enter_context(code.indented(f"if {_divides(right, dtype)}:"))
        quotient, rest = code.fresh("s_"), code.fresh("s_")
        code.emit(f"{quotient} = {a} // {b}")
        code.emit(f"{rest} = {a} - {quotient} * {b}")
        code.emit(f"{name} = {quotient} + ((({rest} | 0 - {rest}) & ({rest} ^ {b})) >> 63)")
    return Scalar(name, dtype, weak, Int.atom(name))


def shifted(code: Code, op: str, left: Scalar, right: Scalar, weak: bool) -> str:
    """Text of the word of ``left << right`` or ``left >> right``. Places beyond the word leave
    nothing, or the sign, where C++ takes them modulo 64."""
    left, unsigned = word(left), right.dtype.kind == "u"
    right = word(right)
    if right.value is not None:
        places = int(right.value)
        if not 0 <= places < 64:
            return "0" if op == "<<" else f"({left.text} >> 63)"
        return f"({left.text} {op} {places})"
    if _is_small(code, right) or (weak and op == "<<"):
        return f"({left.text} {op} {right.text})"
    if op == ">>" and (unsigned or weak):
        return f"({left.text} >> min({bare(right.text)}, 63))"
    right = code.let(right)
    inside = f"{right.text} < 64" if unsigned else f"{right.text} >= 0 and {right.text} < 64"
    if op == ">>":
        return f"({left.text} >> {chosen(code, inside, right.text, '63', INT).text})"
    return chosen(code, inside, f"{left.text} << {right.text}", "0", INT).text


def places(code: Code, given: Scalar) -> Scalar:
    """Places to shift by, of which two to that power is a word; more leave nothing of a size."""
    if given.value is not None or _is_small(code, given):
        return given
    return Scalar(f"min({bare(given.text)}, {POWERS})", given.dtype, given.weak)


def _is_small(code: Code, places: Scalar) -> bool:
    """Whether a number surely lies between 0 and 63."""
    if places.whole is not None:
        ends = [code.facts.bound(places.whole, upper=upper) for upper in (False, True)]
        low, high = (end.constant if end is not None else None for end in ends)
        return low is not None and high is not None and low >= 0 and high < 64
    match ast.parse(places.text, mode="eval").body:
        case ast.BinOp(op=ast.BitAnd(), right=ast.Constant(value=int(most))):
            return 0 <= most < 64
    return False


def fmod(code: Code, x: Scalar, y: Scalar) -> Scalar:
    """What a division towards zero leaves, which has the sign of `x`; ``%`` has that of `y`."""
    dtype, weak = types.promote(x.kind, y.kind)
    if dtype == SINGLE:
        x, y = single(code, x), single(code, y)
    if dtype.kind not in "iu":
        return function2(code, "fmod", x, y)
    x, y = (code.let(convert(code, one, dtype) if one.dtype.kind == "b" else one) for one in (x, y))
    rest = code.let(binary(code, "%", x, y))
    if dtype.kind == "u":
        return rest
    turned = f"({rest.text} < 0 and {x.text} > 0) or ({rest.text} > 0 and {x.text} < 0)"
    return chosen(code, turned, f"{rest.text} - {y.text}", rest.text, dtype, weak)


def _power(value: Scalar) -> int | None:
    """The k of a number that is 2**k."""
    number = value.value
    if not isinstance(number, int | np.integer) or number < 1 or int(number).bit_count() != 1:
        return None
    return int(number).bit_length() - 1


def _of_floats(
    code: Code, op: str, left: Scalar, right: Scalar, dtype: np.dtype, weak: bool
) -> Scalar:
    # 0.3 beside a float32 is one: 7.5 // 0.3 depends on it.
    left, right = (
        code.let(real_of(one if one.value is None else replace(one, value=dtype.type(one.value))))
        for one in (left, right)
    )
    rest = code.let(Scalar(f"math.fmod({bare(left.text)}, {bare(right.text)})", dtype, weak))
    turned = _of_other_signs(rest, right)
    if op == "%":
        return chosen(code, turned, f"{rest.text} + {right.text}", rest.text, dtype, weak)
    quotient = f"math.floor(({left.text} - {rest.text}) / {right.text} + 0.5)"
    less = chosen(code, turned, "1.0", "0.0", dtype, weak)
    found = f"{quotient} - {less.text}"
    if right.value:
        return Scalar(f"({found})", dtype, weak)
    # By nought it is infinite, of which there is no remainder.
    parts = f"{left.text} / {right.text}"
    return chosen(code, f"{right.text} == 0.0", parts, found, dtype, weak)


def _of_other_signs(rest: Scalar, divisor: Scalar) -> str:
    """A test whether a rest has the other sign than what was divided by."""
    if isinstance(divisor.value, float | np.floating) and divisor.value:
        return f"{rest.text} {'<' if divisor.value > 0 else '>'} 0.0"
    # The product of two small numbers alone is 0.
    return f"{rest.text} * 1e300 * 1e300 * {divisor.text} < 0.0"
