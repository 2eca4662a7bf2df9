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
        if weak and right.whole is not None and code.facts.nonnegative(right.whole, firm=False):
            return _counted(code, left, right, dtype)
        if dtype != types.WIDE and not weak:
            return _bitwise(code, left, right, dtype)
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


def _counted(code: Code, base: Scalar, exponent: Scalar, dtype: np.dtype) -> Scalar:
    """A whole number of Python's to the power of one that is not negative: a sign, a place or a
    loop. Whether it outgrows the words is looked at elsewhere (see `growing`)."""
    assert exponent.whole is not None
    if base.value == -1:
        return _sign(code, exponent)
    if base.value is not None and base.value > 1 and not (found := int(base.value)) & (found - 1):
        places = arith.whole(exponent.whole * (found.bit_length() - 1))
        return arith.binary(code, "<<", arith.constant(1), places)
    base, name = code.let(base), code.fresh("power_")
    code.mutable.add(name)
    code.emit(f"{name} = 1")
    with code.loop(ZERO, exponent.whole):
        code.emit(f"{name} = {name} * {base.text}")
    return Scalar(name, dtype, True)


def _sign(code: Code, exponent: Scalar) -> Scalar:
    """-1 to the power of something."""
    odd = arith.binary(code, "%", exponent, arith.constant(2))
    twice = arith.binary(code, "*", arith.constant(2), odd)
    return arith.binary(code, "-", arith.constant(1), twice)


def _bitwise(code: Code, left: Scalar, right: Scalar, dtype: np.dtype) -> Scalar:
    """One of NumPy's whole numbers to the power of another that only the loops know."""
    exponent, least = code.let(right), right.whole
    if least is None or code.facts.nonnegative(least, firm=False) is not True:
        code.suppose(f"{exponent.text} >= 0")  # NumPy raises
    base = None if left.value is None else int(left.value)
    if base == -1:
        return Scalar(_sign(code, exponent).text, dtype)
    if base is not None and base > 1 and not base & (base - 1):
        places = base.bit_length() - 1
        code.suppose(f"{exponent.text} <= {(MOST_PLACES - 1) // places}")
        shift = arith.binary(code, "*", exponent, arith.constant(places))
        return arith.binary(code, "<<", arith.constant(1), replace(shift, weak=False))
    code.suppose(f"{exponent.text} < {1 << MOST_BITS}")
    found, square, rest = (code.fresh(f"{hint}_") for hint in ("power", "square", "rest"))
    code.emit(f"{found} = 1")
    code.emit(f"{square} = {bare(left.text)}")
    code.emit(f"{rest} = {exponent.text}")
    with code.loop(ZERO, Int.of(MOST_BITS), hint="k"):
        with code.indented(f"if {rest} % 2 == 1:"):
            code.emit(f"{found} = int({found} * {square})")  # in Python, words as well
        code.emit(f"{square} = int({square} * {square})")
        code.emit(f"{rest} = {rest} // 2")
    return Scalar(found, dtype)


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
