"""Parts of complex numbers: real, imag, conjugate, angle, whether they are real.

Before::

    z.imag[:] = 0.0                  p = (z * z.conj()).real

After::

    z[i0, 1] = 0.0                   p[i0] = z[i0, 0] * z[i0, 0] - z[i0, 1] * -z[i0, 1]
"""

from __future__ import annotations

import numpy as np

from loopbook.frontend import arith, complexes, types
from loopbook.frontend.casts import strong
from loopbook.frontend.constructs.elementwise import cast, ufunc
from loopbook.frontend.operators import lift
from loopbook.frontend.registry import ELEMENTWISE, FUNCTIONS, METHODS, attribute, lowers
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Array, Pair, Scalar, Value, part_of

ufunc(np.conjugate)(complexes.conjugate)
METHODS["conj"] = METHODS["conjugate"] = FUNCTIONS[np.conjugate]


def _part(number: int):
    def lowering(t: Translator, a: Value) -> Value:
        if isinstance(a, Array) and a.dtype.kind != "c" and number == 0:
            return a
        if isinstance(a, Array) and a.dtype.kind == "c" and a.view is not None and not a.sums:
            return part_of(a, number)
        return lift(t, lambda z: complexes.part(z, number), a)

    return lowering


for _name, _function, _number in (("real", np.real, 0), ("imag", np.imag, 1)):
    FUNCTIONS[_function] = _part(_number)
    attribute(_name)(_part(_number))
    ELEMENTWISE.add(_function)


@lowers(np.angle)
def angle(t: Translator, z: Value, deg: Value | None = None) -> Value:
    """The angle to the positive real axis."""

    def form(z: Scalar) -> Scalar:
        if not isinstance(z, Pair):
            return arith.function2(t.code, "atan2", arith.constant(0.0), z)
        real, imag = complexes.alike(z)
        return Scalar(f"math.atan2({imag}, {real})", types.part(z.dtype))

    found = lift(t, form, z, cost=8)
    found = strong(found) if isinstance(found, Scalar) else found
    return FUNCTIONS[np.degrees](t, found) if deg is not None and t.python(deg) else found


ELEMENTWISE.add(np.angle)


@ufunc(np.iscomplex)
def iscomplex(code, z: Scalar) -> Scalar:
    """Whether a number has an imaginary part."""
    if not isinstance(z, Pair):
        return arith.constant(np.bool_(False))
    return Scalar(f"({z.imag} != 0.0)", types.BOOL)


@ufunc(np.isreal)
def isreal(code, z: Scalar) -> Scalar:
    """Whether a number has none."""
    return arith.unary(code, "not", iscomplex(code, z))


@lowers(complex)
def to_complex(t: Translator, real: Value, imag: Value | None = None) -> Value:
    x = t.number(real)
    if imag is None:
        found = t.number(cast(t, x, np.dtype(complex)))
        return Pair(found.texts, found.dtype, True, found.value)
    parts = t.number(imag)
    if isinstance(x, Pair) or isinstance(parts, Pair):  # the sum of the one and 1j times the other
        held = (arith.convert(t.code, v, np.dtype(complex)) for v in (x, parts))
        (a, b), (c, d) = (v.texts for v in held)
        return Pair((f"({a} - {d})", f"({b} + {c})"), np.dtype(complex), True)
    texts = [arith.convert(t.code, v, types.FLOAT).text for v in (x, parts)]
    return Pair(texts, np.dtype(complex), True)
