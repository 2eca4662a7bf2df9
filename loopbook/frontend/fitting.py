"""Sizes that are only known to be the same once the loops run.

Before::

    y[:h] = y[:h] + y[h : 2 * h]

After::

    n_0 = min(h, e_1 - e_0)
    if not n_0 == h: failed_0[0] = 1            # a call for which that is so runs as Python
    for i0 in range(n_0): ...
"""

from __future__ import annotations

from loopbook.frontend.code import Code
from loopbook.frontend.symbols import ONE, ZERO, Int
from loopbook.frontend.values import Array, looked_at


def agreeing(
    code: Code, target: Array, value: Array, mask: Array | None
) -> tuple[Array, Array, Array | None]:
    """All of as many elements where only the loops know how many each has."""
    if value.sums or len(value.shape) > len(target.shape):
        return target, value, mask
    lead = len(target.shape) - len(value.shape)
    shape = list(target.shape)
    for axis, size in enumerate(value.shape):
        if code.same(size, shape[lead + axis]) or code.is_one(size):
            continue
        agreed = code.agreed(shape[lead + axis], size)
        if agreed is None:
            return target, value, mask
        shape[lead + axis] = agreed
        value = cut(value, axis, agreed)
    if shape == list(target.shape):
        return target, value, mask
    for axis, size in enumerate(shape):
        target = cut(target, axis, size)
        mask = cut(mask, axis, size) if mask is not None else None
    return target, value, mask


def cut(array: Array, axis: int, size: Int) -> Array:
    """The first elements along an axis."""
    if array.shape[axis] == size:
        return array
    dims = tuple((ZERO, ((a, ONE),)) for a in range(array.rank))
    shape = tuple(size if a == axis else s for a, s in enumerate(array.shape))
    return looked_at(array, shape, dims)
