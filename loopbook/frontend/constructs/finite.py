"""What is infinite or not a number: isnan, isinf, isfinite, and the extremes that leave it out.

Before::

    ok = np.isfinite(x)

After::

    c_0 = 1.7976931348623157e+308
    for i0 in range(n):
        ok[i0] = math.fabs(x[i0]) <= c_0
"""

from __future__ import annotations

import math

import numpy as np

from loopbook.frontend import arith, choices, types
from loopbook.frontend.constructs.elementwise import Form, ufunc
from loopbook.frontend.types import BOOL
from loopbook.frontend.values import Pair, Scalar


@ufunc(np.isnan, math.isnan)
def isnan(code, x: Scalar) -> Scalar:
    """Whether it is not a number: neither more nor less than nought, nor nought."""
    if x.dtype.kind in "biu":
        return arith.constant(False)
    return Scalar(f"(not {_size(code, _longer(code, x))} >= 0.0)", BOOL)


@ufunc(np.isfinite, math.isfinite)
def isfinite(code, x: Scalar) -> Scalar:
    """Whether it is neither infinite nor not a number."""
    if x.dtype.kind in "biu":
        return arith.constant(True)
    x = _longer(code, x)
    return Scalar(f"({_size(code, x)} <= {_greatest(code, x)})", BOOL)


@ufunc(np.isinf, math.isinf)
def isinf(code, x: Scalar) -> Scalar:
    """Whether it is infinite."""
    if x.dtype.kind in "biu":
        return arith.constant(False)
    if isinstance(x, Pair):
        sides = (Scalar(text, types.part(x.dtype)) for text in code.let(x).texts)
        return arith.logical("|", *(isinf(code, side) for side in sides))
    return Scalar(f"({_size(code, x)} > {_greatest(code, x)})", BOOL)


def _longer(code, x: Scalar) -> Scalar:
    """A real number that is finite where both of a complex one's parts are, and not a number where
    one of them is not."""
    if not isinstance(x, Pair):
        return x
    sides = [_size(code, Scalar(text, types.part(x.dtype))) for text in x.texts]
    return Scalar(f"({' + '.join(f'0.5 * {side}' for side in sides)})", types.part(x.dtype))


def _size(code, x: Scalar) -> str:
    """Text of the absolute value, of which nobody knows that it cannot be less than nought."""
    if isinstance(x, Pair):
        raise code.fail("this of complex numbers; ask for real and imaginary parts")
    return code.let(arith.absolute(code, x)).text


def _greatest(code, x: Scalar) -> str:
    """Text of the greatest number of a type."""
    name = code.fresh("c_")
    code.emit(f"{name} = {float(np.finfo(x.dtype).max)!r}")
    return name


def _known(symbol: str) -> Form:
    """The greater or lesser of two numbers, or the one that is a number."""

    def form(code, x: Scalar, y: Scalar) -> Scalar:
        dtype, weak = types.promote(x.kind, y.kind)
        if dtype.kind != "f":
            return choices.extreme(code, symbol, x, y)
        x, y = (code.let(arith.convert(code, side, dtype)) for side in (x, y))
        either = arith.chosen(code, f"{x.text} {symbol}= {y.text}", x.text, y.text, dtype, weak)
        missing = isnan(code, y)
        return arith.chosen(code, missing.text, x.text, either.text, dtype, weak)

    return form


ufunc(np.fmax, cost=3)(lambda code, x, y: _known(">")(code, x, y))
ufunc(np.fmin, cost=3)(lambda code, x, y: _known("<")(code, x, y))
