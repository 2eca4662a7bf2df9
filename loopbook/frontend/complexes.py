"""Arithmetic of complex numbers, which docc does not have: on pairs of floats.

Before::

    w = z * z + c

After::

    w[2 * i] = z[2 * i] * z[2 * i] - z[2 * i + 1] * z[2 * i + 1] + c[2 * i]
    w[2 * i + 1] = z[2 * i] * z[2 * i + 1] + z[2 * i + 1] * z[2 * i] + c[2 * i + 1]

A kernel is given complex arrays as arrays of floats with a last axis twice as long. One more axis
of length 2 would be one whose length the compiler does not know, and no loop over it would run in
vectors.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import numpy as np

from loopbook.frontend import types
from loopbook.frontend.code import Code, bare
from loopbook.frontend.types import BOOL
from loopbook.frontend.values import Pair, Scalar

_NOUGHTS = {"0.0", "-0.0", "(-0.0)"}
"""As a part of a number, nought has no sign: ``-1j`` is -0.0 - 1j for Python."""

MOST_PRODUCTS = 8
"""Greatest whole exponent for which a power is written as products."""


def convert(code: Code, value: Scalar, dtype: np.dtype) -> Scalar:
    """`value` as complex, or as complex of another precision."""
    from loopbook.frontend import arith

    if dtype.kind == "b":
        return arith.truth(value)
    if dtype.kind != "c":
        raise code.fail("complex numbers taken as real ones; use their real part")
    known = None if value.value is None else dtype.type(value.value)
    if isinstance(value, Pair):
        return Pair(
            [_widened(text, value, dtype) for text in value.texts], dtype, value.weak, known
        )
    real = arith.convert(code, value, types.part(dtype))
    return Pair((real.text, "0.0"), dtype, value.weak, known)


def binary(code: Code, op: str, left: Scalar, right: Scalar, dtype: np.dtype, weak: bool) -> Scalar:
    """``left op right``, where at least one is complex."""
    if op in "+-":
        (a, b), (c, d) = _both(code, left, dtype), _both(code, right, dtype)
        return Pair((_sum(op, a, c), _sum(op, b, d)), dtype, weak)
    if op == "*":
        return _product(code, left, right, dtype, weak)
    if op == "/":
        return _quotient(code, left, right, dtype, weak)
    if op == "**":
        return _power(code, left, right, dtype, weak)
    raise code.fail(f"{op} of complex numbers")


def _widened(text: str, value: Pair, dtype: np.dtype) -> str:
    """One part of a number, of 64 bits if that is what is computed with."""
    if value.weak or value.dtype.itemsize >= dtype.itemsize or text == "0.0":
        return text
    return f"float({bare(text)})"


def compare(code: Code, op: str, left: Scalar, right: Scalar) -> Scalar:
    """Whether two numbers are (not) equal, or which is greater: by their real parts, and where
    those are equal by the other ones, as NumPy has it."""
    dtype = types.promote(left.kind, right.kind)[0]
    (a, b), (c, d) = _both(code, left, dtype), _both(code, right, dtype)
    if op not in ("==", "!="):
        return Scalar(f"({a} {op[0]} {c} or ({a} == {c} and {b} {op} {d}))", BOOL)
    link = "and" if op == "==" else "or"
    return Scalar(f"({a} {op} {c} {link} {b} {op} {d})", BOOL)


def conjugate(code: Code, value: Scalar) -> Scalar:
    """With the imaginary part turned round."""
    if not isinstance(value, Pair):
        return value
    return Pair((value.real, f"(-{value.imag})"), value.dtype, value.weak)


def part(value: Scalar, number: int) -> Scalar:
    """The real (0) or imaginary (1) part."""
    from loopbook.frontend import arith

    if isinstance(value, Pair):
        return Scalar(value.texts[number], types.part(value.dtype), value.weak)
    if number == 0:
        return value
    nought = value.dtype.type(0)
    return arith.constant(nought.item() if value.weak else nought)


def alike(value: Pair) -> tuple[str, str]:
    """The parts as numbers of one type: ``x + 1j`` is one of 32 bits and a double beside each other
    where ``x`` has 32 bits, which docc computes no function of two numbers of."""
    real, imag = map(bare, value.texts)
    literal = [_LITERAL.fullmatch(text) is not None for text in (real, imag)]
    if types.part(value.dtype) == types.FLOAT or all(literal) or not any(literal):
        return real, imag
    return (real, f"float({imag})") if literal[0] else (f"float({real})", imag)


_LITERAL = re.compile(r"[-+*/()\d.e ]+")


def function(code: Code, name: str, value: Pair) -> Scalar:
    """Functions of complex numbers: roots, powers of e, logarithms, sines and their like."""
    form = FORMS.get(name)
    if form is None:
        raise code.fail(f"{name} of complex numbers")
    held = code.let(Pair(alike(value), value.dtype, value.weak, value.value))
    assert isinstance(held, Pair)
    real, imag = form(code, bare(held.real), bare(held.imag), held.imag)
    return Pair((real, imag), value.dtype, value.weak)


def _exp(code: Code, a: str, b: str, _: str) -> tuple[str, str]:
    if a == "0.0":  # a turn, as in np.exp(-1j * w)
        return f"math.cos({b})", f"math.sin({b})"
    size = _kept(code, f"math.exp({a})")
    return f"({size} * math.cos({b}))", f"({size} * math.sin({b}))"


def _log(code: Code, a: str, b: str, _: str) -> tuple[str, str]:
    return f"math.log(math.hypot({a}, {b}))", f"math.atan2({b}, {a})"


def _sin(code: Code, a: str, b: str, _: str) -> tuple[str, str]:
    return f"(math.sin({a}) * math.cosh({b}))", f"(math.cos({a}) * math.sinh({b}))"


def _cos(code: Code, a: str, b: str, _: str) -> tuple[str, str]:
    return f"(math.cos({a}) * math.cosh({b}))", f"(-math.sin({a}) * math.sinh({b}))"


def _sinh(code: Code, a: str, b: str, _: str) -> tuple[str, str]:
    return f"(math.sinh({a}) * math.cos({b}))", f"(math.cosh({a}) * math.sin({b}))"


def _cosh(code: Code, a: str, b: str, _: str) -> tuple[str, str]:
    return f"(math.cosh({a}) * math.cos({b}))", f"(math.sinh({a}) * math.sin({b}))"


def _tanh(code: Code, a: str, b: str, _: str) -> tuple[str, str]:
    # Of the parts' own tangents, none of which overflows; 1 - tanh(a)^2 would cancel.
    u, v = _kept(code, f"math.tanh({a})"), _kept(code, f"math.tan({b})")
    rest = _kept(code, f"1.0 / math.cosh({a})")
    below = _kept(code, f"1.0 + {u} * {v} * ({u} * {v})")
    return f"({u} * (1.0 + {v} * {v}) / {below})", f"({v} * {rest} * {rest} / {below})"


def _tan(code: Code, a: str, b: str, imag: str) -> tuple[str, str]:
    real, turned = _tanh(code, f"-({b})", a, imag)
    return turned, f"(-{real})"


def _log_to(base: float) -> Callable[[Code, str, str, str], tuple[str, str]]:
    def form(code: Code, a: str, b: str, imag: str) -> tuple[str, str]:
        real, angle = _log(code, a, b, imag)
        return f"({real} / {math.log(base)!r})", f"({angle} / {math.log(base)!r})"

    return form


def _sqrt(code: Code, a: str, b: str, _: str) -> tuple[str, str]:
    # From the part that does not cancel, the other by division.
    size = _kept(code, f"math.hypot({a}, {b})")
    root = _kept(code, f"math.sqrt(({size} + math.fabs({a})) * 0.5)")
    other = _chosen(code, f"{root} > 0.0", f"math.fabs({b}) / (2.0 * {root})", "0.0")
    real = _chosen(code, f"{a} >= 0.0", root, other)
    sized = _chosen(code, f"{a} >= 0.0", other, root)
    return real, f"math.copysign({sized}, {b})"


FORMS = {
    "exp": _exp, "sqrt": _sqrt, "log": _log, "log10": _log_to(10.0), "log2": _log_to(2.0),
    "sin": _sin, "cos": _cos, "tan": _tan, "sinh": _sinh, "cosh": _cosh, "tanh": _tanh,
}  # fmt: skip


def _kept(code: Code, text: str) -> str:
    name = code.fresh("s_")
    code.emit(f"{name} = {text}")
    return name


def _chosen(code: Code, test: str, then: str, other: str) -> str:
    from loopbook.frontend import arith

    return arith.chosen(code, test, then, other, types.FLOAT).text


def _both(code: Code, value: Scalar, dtype: np.dtype) -> tuple[str, ...]:
    return convert(code, value, dtype).texts


def _sum(op: str, left: str, right: str) -> str:
    if right == "0.0":
        return left
    if left == "0.0" and op == "+":
        return right
    return f"({left} {op} {right})"


def _product(code: Code, left: Scalar, right: Scalar, dtype: np.dtype, weak: bool) -> Pair:
    if not isinstance(left, Pair) or not isinstance(right, Pair):
        number, pair = (right, left) if isinstance(left, Pair) else (left, right)
        (factor, _), (a, b) = _both(code, code.let(number), dtype), pair.texts
        return Pair((_times(factor, a), _times(factor, b)), dtype, weak)
    one, other = code.let(left), code.let(right)
    (a, b), (c, d) = one.texts, other.texts
    real = _sum("-", _times(a, c), _times(b, d))
    return Pair((real, _sum("+", _times(a, d), _times(b, c))), dtype, weak)


def _times(left: str, right: str) -> str:
    return "0.0" if _NOUGHTS & {left, right} else f"({left} * {right})"


def _quotient(code: Code, left: Scalar, right: Scalar, dtype: np.dtype, weak: bool) -> Pair:
    if not isinstance(right, Pair):
        (divisor, _), (a, b) = _both(code, code.let(right), dtype), _both(code, left, dtype)
        some = bool(right.value) or (
            right.whole is not None and code.facts.nonnegative(right.whole - 1, firm=False)
        )
        real = "0.0" if a == "0.0" and some else f"({a} / {divisor})"
        return Pair((real, f"({b} / {divisor})"), dtype, weak)
    (a, b) = code.let(convert(code, left, dtype)).texts
    (c, d) = code.let(convert(code, right, dtype)).texts
    # Smith's way: the greater part of the divisor goes into the smaller one, so nothing overflows.
    names = [code.fresh("q_") for _ in range(2)]
    with code.indented(f"if math.fabs({bare(c)}) >= math.fabs({bare(d)}):"):
        ratio = _kept(code, f"{d} / {c}")
        scale = _kept(code, f"{c} + {d} * {ratio}")
        code.emit(f"{names[0]} = ({a} + {b} * {ratio}) / {scale}")
        code.emit(f"{names[1]} = ({b} - {a} * {ratio}) / {scale}")
    with code.indented("else:"):
        ratio = _kept(code, f"{c} / {d}")
        scale = _kept(code, f"{c} * {ratio} + {d}")
        code.emit(f"{names[0]} = ({a} * {ratio} + {b}) / {scale}")
        code.emit(f"{names[1]} = ({b} * {ratio} - {a}) / {scale}")
    return Pair(names, dtype, weak)


def _power(code: Code, left: Scalar, right: Scalar, dtype: np.dtype, weak: bool) -> Scalar:
    exponent = right.value
    if isinstance(right, Pair):
        return _complex_power(code, left, right, dtype, weak)
    if exponent is not None and float(exponent).is_integer() and 1 <= exponent <= MOST_PRODUCTS:
        base = code.let(convert(code, left, dtype))
        result = base
        for _ in range(int(exponent) - 1):
            result = _product(code, code.let(result), base, dtype, weak)
        return result
    if exponent == 0.5:
        value = convert(code, left, dtype)
        assert isinstance(value, Pair)
        return function(code, "sqrt", value)
    # By size and angle; nought to the power of nought is 1, as in NumPy.
    (a, b) = code.let(convert(code, left, dtype)).texts
    (n, _) = code.let(convert(code, right, dtype)).texts
    size = _kept(code, f"math.pow(math.hypot({bare(a)}, {bare(b)}), {bare(n)})")
    angle = _kept(code, f"math.atan2({bare(b)}, {bare(a)}) * {n}")
    return Pair((f"({size} * math.cos({angle}))", f"({size} * math.sin({angle}))"), dtype, weak)


def _complex_power(code: Code, left: Scalar, right: Scalar, dtype: np.dtype, weak: bool) -> Scalar:
    """By size and angle, whose logarithm the exponent turns; nought stays it, or is 1."""
    (a, b) = code.let(convert(code, left, dtype)).texts
    (n, m) = code.let(convert(code, right, dtype)).texts
    length = _kept(code, f"math.hypot({bare(a)}, {bare(b)})")
    known = _chosen(code, f"{length} > 0.0", length, "1.0")
    log, turn = _kept(code, f"math.log({known})"), _kept(code, f"math.atan2({bare(b)}, {bare(a)})")
    size = _kept(code, f"math.exp({n} * {log} - {m} * {turn})")
    size = _chosen(code, f"{length} == 0.0 and ({n} != 0.0 or {m} != 0.0)", "0.0", size)
    angle = _kept(code, f"{m} * {log} + {n} * {turn}")
    return Pair((f"({size} * math.cos({angle}))", f"({size} * math.sin({angle}))"), dtype, weak)
