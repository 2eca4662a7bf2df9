"""Powers: products for small whole exponents, as NumPy has them.

Before::

    y = x ** 3                       shape = (r ** k, n)        # k an argument
    w = 4 ** np.arange(k)            z = a ** k                 # whole numbers of NumPy's

After::

    y[i0] = x[i0] * x[i0] * x[i0]    r * r * r * r, for calls in which k is 4
    w[i0] = 1 << 2 * i0              products of squares of squares, bit by bit of the exponent

Where an exponent that only the loops know is negative, or leaves the words, the call is Python's.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from loopbook.frontend import arith, types
from loopbook.frontend.code import Code, UnrollError, bare
from loopbook.frontend.symbols import ZERO, Int
from loopbook.frontend.values import Scalar

MOST_SQUARED = 64
"""Greatest exponent for which a power of another whole number does."""

MOST_BITS = 6
"""Bits of an exponent that only the loops know, at most."""

MOST_PLACES = 62
"""Places that 1 is shifted by at most."""

MOST_FACTORS = 16
"""Greatest exponent for which a power of a size becomes a product."""


def power(code: Code, left: Scalar, right: Scalar, dtype: np.dtype, weak: bool) -> Scalar:
    """``left ** right``: products for small whole exponents, as NumPy does it."""
    exponent = right.value
    if dtype.kind in "iu" and exponent is None:
        if left.value == 2 and weak and code.facts.known(right.whole or Int.atom("?")) is None:
            return arith.binary(code, "<<", arith.constant(1), right)
        known = _small(code, right)
        if known is not None and left.whole is not None and weak:
            return power(code, left, arith.constant(known), dtype, weak)
        if left.whole is not None and right.whole is not None and weak:
            parts = (left.whole, right.whole)
            if None not in map(code.facts.known, parts):
                text = f"({left.whole.operand} ** {right.whole.operand})"
                known = code.facts.derive(text, parts, lambda a, b: a**b)
                return Scalar(known.text, dtype, weak, known)
        if dtype != types.WIDE and not (weak and _may_be_no_word(code, left, right)):
            return _bitwise(code, left, right, dtype, weak)
        raise UnrollError(
            "a whole number to the power of another that is not known; use floats", code.origin
        )
    most = MOST_FACTORS if left.whole is not None and weak else 4
    if exponent is not None and float(exponent).is_integer() and 0 <= exponent <= most:
        count = int(exponent)
        if count == 0:
            one = Int.of(1) if dtype.kind in "iu" else None
            return Scalar(types.literal(dtype.type(1)), dtype, weak, one)
        if left.whole is not None:
            found = Int.of(1)
            for _ in range(count):
                found = found * left.whole
            return Scalar(found.operand, dtype, weak, found)
        base = left if count == 1 else code.let(left)
        if dtype.kind == "f" and base.dtype.kind != "f":
            base = code.let(arith.real_of(base))
        return Scalar(
            f"({' * '.join([base.text] * count)})" if count > 1 else base.text, dtype, weak
        )
    if dtype.kind in "iu":
        if exponent is None or not 0 < exponent <= MOST_SQUARED:
            raise code.fail(f"a whole number to the power of {exponent}; use a float")
        return _squared(code, left, int(exponent), dtype, weak)
    if exponent == 0.5:
        return arith.function(code, "sqrt", left, dtype)
    if exponent == -1:
        return Scalar(f"(1.0 / {left.text})", dtype, weak)
    return Scalar(
        f"math.pow({bare(arith.real_of(left).text)}, {bare(arith.real_of(right).text)})",
        dtype,
        weak,
    )


def _squared(code: Code, base: Scalar, exponent: int, dtype: np.dtype, weak: bool) -> Scalar:
    """A product of squares of squares."""
    base, factors = code.let(base), list[str]()
    while True:
        if exponent & 1:
            factors.append(base.text)
        exponent >>= 1
        if not exponent:
            return Scalar(f"({' * '.join(factors)})", dtype, weak)
        base = code.let(Scalar(f"({base.text} * {base.text})", types.INT, weak))


def _may_be_no_word(code: Code, base: Scalar, exponent: Scalar) -> bool:
    """Whether a power of Python's numbers may be none of 64 bits, or is better known: once a loop
    around it is written out."""
    places = exponent.whole
    return (
        places is None
        or bool(places.atoms & code.short)
        or code.facts.nonnegative(places, firm=False) is not True
        or base.value is None
    )


def _bitwise(code: Code, left: Scalar, right: Scalar, dtype: np.dtype, weak: bool) -> Scalar:
    """A whole number to the power of one that only the loops know."""
    exponent, least = code.let(right), right.whole
    if least is None or code.facts.nonnegative(least, firm=False) is not True:
        code.suppose(f"{exponent.text} >= 0")  # NumPy raises
    base = None if left.value is None else int(left.value)
    if base == -1:
        odd = arith.binary(code, "%", exponent, arith.constant(2))
        twice = arith.binary(code, "*", arith.constant(2), odd)
        found = arith.binary(code, "-", arith.constant(1), twice)
        return Scalar(found.text, dtype, weak)
    if base is not None and base > 1 and not base & (base - 1):
        places = base.bit_length() - 1
        code.suppose(f"{exponent.text} <= {(MOST_PLACES - 1) // places}")
        return arith.binary(
            code,
            "<<",
            arith.constant(1),
            replace(arith.binary(code, "*", exponent, arith.constant(places)), weak=weak),
        )
    most = (1 << MOST_BITS) - 1
    if weak and base is not None and abs(base) > 1:
        most = int(MOST_PLACES / math.log2(abs(base)))
    code.suppose(f"{exponent.text} <= {most}")
    found, square, rest = (code.fresh(f"{hint}_") for hint in ("power", "square", "rest"))
    code.emit(f"{found} = 1")
    code.emit(f"{square} = {bare(left.text)}")
    code.emit(f"{rest} = {exponent.text}")
    with code.loop(ZERO, Int.of(MOST_BITS), hint="k"):
        with code.indented(f"if {rest} % 2 == 1:"):
            code.emit(f"{found} = int({found} * {square})")  # in Python, words as well
        code.emit(f"{square} = int({square} * {square})")
        code.emit(f"{rest} = {rest} // 2")
    return Scalar(found, dtype, weak)


def _small(code: Code, exponent: Scalar) -> int | None:
    """An exponent that the arguments give, if it is small: powers of sizes become products then,
    for calls with this exponent."""
    if exponent.whole is None or not exponent.whole.atoms:
        return None
    known = code.facts.known(exponent.whole)
    if (
        known is None
        or not 0 <= known <= MOST_FACTORS
        or not code.facts.zero(exponent.whole - known)
    ):
        return None
    return known
