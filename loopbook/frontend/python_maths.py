"""Python's ``math``: it takes any numbers as Python's own, and gives Python's own.

Before::

    y[i] = math.sqrt(x[i])                       (x of 32 bits, y of 64)

After, as `math.sqrt` sees it::

    y[i] = math.sqrt(float(x[i]))
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from loopbook.frontend import arith, types
from loopbook.frontend.values import Array, Pair, Scalar, Thing, Value

if TYPE_CHECKING:
    from loopbook.frontend.translate import Translator

_MATHS = {function for function in vars(math).values() if callable(function)}

_OF_WHOLE = {
    math.ceil, math.comb, math.factorial, math.floor, math.gcd, math.isqrt, math.lcm, math.perm,
    math.prod, math.trunc,
}  # fmt: skip
"""Those to which whole numbers are whole numbers, of any size; to others they are floats."""


def is_maths(target: Any) -> bool:
    """Whether something is a function of `math`."""
    return target.__hash__ is not None and target in _MATHS


def taken(t: Translator, target: Any, value: Value) -> Value:
    """An argument as the function takes it."""
    if isinstance(value, Thing) or (isinstance(value, Array) and value.rank):
        return value
    if not isinstance(value, Scalar | Array):
        return value
    number = t.number(value)
    if isinstance(number, Pair):  # it takes none
        return value
    as_float = number.dtype.kind == "f" or target not in _OF_WHOLE
    kind = types.FLOAT if as_float else types.INT
    return replace(arith.convert(t.code, number, kind), weak=True)


def given(value: Value) -> Value:
    """What it gives."""
    return replace(value, weak=True) if isinstance(value, Scalar) else value


__all__ = ["given", "is_maths", "taken"]
