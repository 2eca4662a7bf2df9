"""Python's ``cmath``: of any numbers, as Python's complex ones.

Before::

    w = cmath.exp(1j * phi)                  r, phi = cmath.polar(z)

After::

    w_re = math.cos(phi)                     r = math.hypot(z_re, z_im)
    w_im = math.sin(phi)                     phi = math.atan2(z_im, z_re)
"""

from __future__ import annotations

import cmath
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from loopbook.frontend import arith, complexes, types
from loopbook.frontend.code import bare
from loopbook.frontend.registry import FUNCTIONS, lowers
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Pair, Scalar, Tup, Value

COMPLEX = np.dtype(complex)


def _complex(t: Translator, value: Value) -> Pair:
    """A number as one of Python's complex ones, in variables."""
    made = t.code.let(arith.convert(t.code, t.number(value), COMPLEX))
    return Pair(made.texts, COMPLEX, True)


def _of_complex(name: str) -> Callable[..., Value]:
    def lowering(t: Translator, z: Value) -> Value:
        given = _complex(t, z)
        if name.startswith("log"):  # of nought, Python raises
            t.code.suppose(f"{given.real} != 0.0 or {given.imag} != 0.0")
        return complexes.function(t.code, name, given)

    return lowering


for _name in ("exp", "log", "log10", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh"):
    lowers(getattr(cmath, _name))(_of_complex(_name))


def _asked(function: Callable[..., object]) -> Callable[..., Value]:
    def lowering(t: Translator, z: Value) -> Value:
        found = t.number(FUNCTIONS[function](t, _complex(t, z)))
        return replace(found, weak=True)

    return lowering


for _own, _function in (
    (cmath.isnan, np.isnan), (cmath.isfinite, np.isfinite), (cmath.isinf, np.isinf),
):  # fmt: skip
    lowers(_own)(_asked(_function))


@lowers(cmath.phase)
def phase(t: Translator, z: Value) -> Scalar:
    given = _complex(t, z)
    return Scalar(f"math.atan2({bare(given.imag)}, {bare(given.real)})", types.FLOAT, True)


@lowers(cmath.polar)
def polar(t: Translator, z: Value) -> Value:
    given = _complex(t, z)
    return Tup((arith.absolute(t.code, given), phase(t, given)))


@lowers(cmath.rect)
def rect(t: Translator, r: Value, phi: Value) -> Value:
    size, angle = (arith.convert(t.code, t.number(v), types.FLOAT) for v in (r, phi))
    size, angle = t.code.let(size), t.code.let(angle)
    text = bare(angle.text)
    parts = f"({size.text} * math.cos({text}))", f"({size.text} * math.sin({text}))"
    return Pair(parts, COMPLEX, True)
