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

That is how docc is shown it, and how it runs as Python. What is compiled to be served takes the
narrow arrays themselves, and loads words of them (`loopbook.sdfg.narrow`).

Arrays of int32 are docc's own, but what is computed with their elements is words too, in C++ and
here: ``(x + x) // 2`` has to see the sum as NumPy has it. Sums, products and bits of what has been
wrapped may as well be taken of what it was before.
"""

from __future__ import annotations

import numpy as np

from loopbook.frontend.code import bare

WORD = np.dtype(np.int64)
SHORT = np.dtype(np.int32)


def is_narrow(dtype: np.dtype) -> bool:
    """Whether the kernel has numbers of this type as words of 64 bits."""
    return dtype.kind == "u" or (dtype.kind == "i" and dtype.itemsize < 4)


def wraps(dtype: np.dtype) -> bool:
    """Whether NumPy's numbers of this type wrap around at fewer bits than the kernel's words."""
    return (is_narrow(dtype) and dtype.itemsize < 8) or dtype == SHORT


def held_as(dtype: np.dtype) -> np.dtype:
    """The type that the kernel's arrays have for numbers of a type."""
    return WORD if is_narrow(dtype) else dtype


def wrapped(text: str, dtype: np.dtype) -> str:
    """Text of a word as a number of `dtype`; other types than narrow ones stay as they are.

    Unsigned words of 64 bits are left alone too: adding and multiplying wraps them by itself.
    """
    return _around(text, dtype) if wraps(dtype) and is_narrow(dtype) else text


def modular(text: str, dtype: np.dtype) -> str:
    """`wrapped`, and text of a word as an int32 if that is what `dtype` is."""
    return _around(text, dtype) if wraps(dtype) else text


def _around(text: str, dtype: np.dtype) -> str:
    most = 2 ** (8 * dtype.itemsize) - 1
    if dtype.kind == "u":
        return f"(({bare(text)}) & {most})"
    half = (most + 1) // 2
    return f"(((({bare(text)}) + {half}) & {most}) - {half})"


def unwrapped(text: str, dtype: np.dtype) -> str:
    """The text of a word that is `modular` in such a text, if it is one; else the text."""
    mark = "\0"
    before, after = modular(mark, dtype).split(mark) if modular(mark, dtype) != mark else ("", "")
    if not before or not (text.startswith(before) and text.endswith(after)):
        return text
    inner, open_ = text[len(before) : -len(after)], 0
    for letter in inner:
        open_ += (letter == "(") - (letter == ")")
        if open_ < 0:  # it is of several parts, of which the first and the last are wrapped
            return text
    return f"({inner})"
