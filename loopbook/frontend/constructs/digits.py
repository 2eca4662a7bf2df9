"""Binary digits of Python's whole numbers.

Before::

    bits = n.bit_length()

After::

    x_0 = abs(n)
    bits_0 = 0
    while x_0 > 0:
        x_0 = x_0 >> 1
        bits_0 = bits_0 + 1
"""

from __future__ import annotations

from collections.abc import Callable

from loopbook.frontend import arith
from loopbook.frontend.inline import inline
from loopbook.frontend.registry import lowers
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Value


def _length(n):
    x, bits = abs(int(n)), 0
    while x > 0:
        x = x >> 1
        bits = bits + 1
    return bits


def _ones(n):
    x, bits = abs(int(n)), 0
    while x > 0:
        bits = bits + (x & 1)
        x = x >> 1
    return bits


def _lowering(name: str, counted: Callable[[int], int]) -> Callable[..., Value]:
    def lowering(t: Translator, n: Value) -> Value:
        number = t.number(n)
        if number.dtype.kind not in "ib" or not number.weak:
            raise t.code.fail(f"{name} of what is no whole number of Python's")
        if number.value is not None:
            return arith.constant(counted(int(number.value)))
        return inline(t, counted, [number], {}, t.code.origin)

    return lowering


lowers(method="bit_length")(_lowering("bit_length", _length))
lowers(method="bit_count")(_lowering("bit_count", _ones))
