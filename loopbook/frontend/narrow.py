"""Whole numbers that docc computes with otherwise than NumPy: of 8 and 16 bits, and unsigned ones.

The kernel has them as words of 64 bits, in arrays of such, and what NumPy would wrap around is
wrapped around there.

Before (x and y of uint8)::

    y[:] = x + x

After::

    def kernel(x, y):
        for i0 in range(n):
            y[i0] = (x[i0] + x[i0]) & 255

    def outer(x, y):
        x_, y_ = x.astype(np.int64, "C"), y.astype(np.int64, "C")
        kernel(x_, y_)
        y[...] = y_
"""

from __future__ import annotations

import numpy as np

from loopbook.frontend.code import bare

WORD = np.dtype(np.int64)


def is_narrow(dtype: np.dtype) -> bool:
    """Whether the kernel has numbers of this type as words of 64 bits."""
    return dtype.kind == "u" or (dtype.kind == "i" and dtype.itemsize < 4)


def held_as(dtype: np.dtype) -> np.dtype:
    """The type that the kernel's arrays have for numbers of a type."""
    return WORD if is_narrow(dtype) else dtype


def wrapped(text: str, dtype: np.dtype) -> str:
    """Text of a word as a number of `dtype`; other types than narrow ones stay as they are.

    Unsigned words of 64 bits are left alone too: adding and multiplying wraps them by itself.
    """
    if not is_narrow(dtype) or dtype.itemsize == 8:
        return text
    most = 2 ** (8 * dtype.itemsize) - 1
    if dtype.kind == "u":
        return f"(({bare(text)}) & {most})"
    half = (most + 1) // 2
    return f"(((({bare(text)}) + {half}) & {most}) - {half})"
