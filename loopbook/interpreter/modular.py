"""Floating-point numbers as integers modulo a product of two primes.

Sums and products in another order are exactly equal, and an order that is wrong shows whatever the
data are. Rounding to single precision loses one of the primes, so it shows where a number of double
precision goes through a place of single precision. Functions of mathematics, and what makes
integers of real numbers, are arbitrary ones of their arguments.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from loopbook.interpreter.faults import NotInterpretedError
from loopbook.interpreter.runtime import UNSET, products
from loopbook.interpreter.spelling import SINGLE, is_real, kept, operation, whole
from loopbook.program.dataflow import Constant, MathsCall, Operation, Tasklet

_DOUBLE, _SINGLE = (1 << 30) - 35, (1 << 31) - 1

MODULUS = _DOUBLE * _SINGLE
"""What floating-point numbers are counted modulo."""

ROUNDED = _DOUBLE * pow(_DOUBLE, -1, _SINGLE) % MODULUS
"""A number is rounded to single precision when it is multiplied by this: what it is modulo one of
the two primes is lost for good, and sums and products of rounded numbers are rounded."""

_REST = (1 - ROUNDED) % MODULUS

_REAL_OPERATIONS = {
    "fp_add": "({0} + {1}) % P",
    "fp_sub": "({0} - {1}) % P",
    "fp_mul": "({0} * {1}) % P",
    "fp_neg": "(-({0})) % P",
    "fp_fma": "({0} * {1} + {2}) % P",
    "fp_div": "_divided({0}, {1})",
    "fp_rem": "_any(3, {0}, {1})",
}

_EXACT = ("assign", "fp_add", "fp_sub", "fp_mul", "fp_neg", "fp_fma")
"""What makes rounded numbers of rounded ones."""

_EXTREMES = ("fmax", "fmin", "max", "min")


class Modular:
    """See `loopbook.interpreter.arithmetic.Arithmetic`."""

    def constant(self, number: Constant) -> str:
        if not is_real(number.type.element):
            return whole(number.text)
        text = number.text if "inf" in number.text.lower() else number.text.rstrip("fFlLuU")
        value = _real(text)
        exact = number.type.element not in SINGLE or "inf" in value
        return value if exact else str(int(value) * ROUNDED % MODULUS)

    def computed(self, node: Operation, values: list[str]) -> str:
        if isinstance(node, MathsCall):
            if node.function in _EXTREMES:
                return f"_{node.function[-3:]}({', '.join(values)})"
            return f"_any({sum(node.function.encode())}, {', '.join(values)})"
        if isinstance(node, Tasklet) and node.code in _REAL_OPERATIONS:
            written = _REAL_OPERATIONS[node.code].replace("P", str(MODULUS))
            return written.format(*(f"({v})" for v in values))
        return operation(node, values)

    def stored(self, node: Operation, value: str, types: list[str], target: str) -> str:
        code = node.code if isinstance(node, Tasklet) else ""
        from_real = bool(types) and is_real(types[0])
        if is_real(target):
            if code and not code.startswith("fp_") and not from_real:
                value = f"({value}) % {MODULUS}"
            if target not in SINGLE:
                return value
            extreme = isinstance(node, MathsCall) and node.function in _EXTREMES
            if (code in _EXACT or extreme) and all(one in SINGLE for one in types):
                return value
            return f"({value}) * {ROUNDED} % {MODULUS}"
        if code == "assign" and from_real and target != "bool":
            return f"_truncated({value})"
        return kept(code, value, types[0] if types else "", target)

    @property
    def runtime(self) -> dict[str, Any]:
        return {
            "_divided": _divided,
            "_any": _any,
            "_truncated": _truncated,
            "_gemm": products(lambda number: number % MODULUS),
        }


def _real(text: str) -> str:
    """A constant of a program, as Python writes it."""
    try:
        value = Fraction(text)
    except (ValueError, ZeroDivisionError):
        named = text.lower().lstrip("-+")
        if "inf" in named:
            return f"float('{'-' if text.startswith('-') else ''}inf')"
        raise NotInterpretedError(f"the constant {text}") from None
    return str(value.numerator * pow(value.denominator, -1, MODULUS) % MODULUS)


def _truncated(a: int) -> int:
    """A real number as an integer: an arbitrary small one, which may well be an index."""
    return _any(17, a) % 3


def _divided(a: Any, b: Any) -> Any:
    """The quotient modulo each of the two primes; 0 where that divides by 0."""
    if a is UNSET or b is UNSET:
        return UNSET
    if b in (float("inf"), float("-inf")):
        return 0
    b %= MODULUS
    if b % _SINGLE and b % _DOUBLE:
        return a * pow(b, -1, MODULUS) % MODULUS
    parts = ((_SINGLE, ROUNDED), (_DOUBLE, _REST))
    return a * sum(pow(b, -1, prime) * unit for prime, unit in parts if b % prime) % MODULUS


def _any(number: int, *values: int) -> int:
    """An arbitrary function: values that differ give, almost surely, others."""
    found = number * 1000003 + 12345
    for value in values:
        found = (found * found + value * (number + 7) + 99991) % MODULUS
    return found
