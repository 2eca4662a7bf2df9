"""``reduce`` of NumPy's ufuncs, and bits of all elements.

Before::

    x = np.bitwise_xor.reduce(a)

After::

    best_0 = 0
    for k0 in range(a.shape[0]):
        best_0 = best_0 ^ a[k0]
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from loopbook.frontend import arith
from loopbook.frontend.constructs.folding import fold
from loopbook.frontend.constructs.reductions import axes_of, flag, parity
from loopbook.frontend.narrow import wrapped
from loopbook.frontend.registry import FUNCTIONS, lowers
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Array, Tup, Value


def _of_bits(symbol: str, of_truths: object):
    """All elements' bits put together; of truth values, `of_truths`."""

    def lowering(
        t: Translator, a: Value, axis: Value | None = None, keepdims: Value | None = None
    ) -> Value:
        array = t.array(a)
        if array.dtype.kind == "b":
            return FUNCTIONS[of_truths](t, array, axis, keepdims=keepdims)
        first = wrapped("-1", array.dtype) if symbol == "&" else "0"
        return fold(
            t, array, axes_of(t, axis, array.rank), lambda _: first,
            lambda x, y: arith.binary(t.code, symbol, x, y), array.dtype, flag(t, keepdims),
        )  # fmt: skip

    return lowering


def _reduce(pair: object, whole_array: Callable[..., Value]):
    """``ufunc.reduce``: of the items of a tuple, or along the first axis of an array."""

    def lowering(
        t: Translator, array: Value, axis: Value | None = None, keepdims: Value | None = None
    ) -> Value:
        if isinstance(array, Tup) and axis is None and keepdims is None:
            items = [t.array(item) if isinstance(item, Array) else item for item in array.items]
            result = items[0]
            for item in items[1:]:
                result = FUNCTIONS[pair](t, result, item)
                if isinstance(result, Array):
                    result = t.stored(result) if result.cost > 8 else result
            return result
        along = arith.constant(0) if axis is None else axis
        return whole_array(t, t.array(array), along, keepdims=keepdims)

    return lowering


_BITS = {np.bitwise_or: ("|", np.any), np.bitwise_and: ("&", np.all), np.bitwise_xor: ("^", parity)}
for _bits, (_symbol, _of_truths) in _BITS.items():
    lowers(_bits.reduce)(_reduce(_bits, _of_bits(_symbol, _of_truths)))

for _ufunc, _reduction in (
    (np.add, np.sum), (np.multiply, np.prod), (np.maximum, np.max), (np.minimum, np.min),
    (np.logical_or, np.any), (np.logical_and, np.all), (np.logical_xor, parity),
):  # fmt: skip
    lowers(_ufunc.reduce)(_reduce(_ufunc, FUNCTIONS[_reduction]))
