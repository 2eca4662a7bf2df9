"""What NumPy computes of arguments in front of the kernel.

Before::

    def ranks(x):
        order = np.argsort(x)
        ...

After::

    def outer(x):
        t_0 = np.empty((x.shape[0],), np.int64)
        t_0[...] = np.argsort(x, 0)
        kernel(x, t_0)

NumPy sorts with vectors, in a sixth of the time that loops take (20000 doubles, AVX-512,
2026-11-28), and puts equal numbers in an order that nobody else knows. What the loops compute they
sort themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from loopbook.frontend import types
from loopbook.frontend.values import Array, Buffer, Index, Value, argument_of, whole

if TYPE_CHECKING:
    from loopbook.frontend.translate import Translator

FEWEST = 1
"""Of fewer elements nothing is computed so."""


def given_as(t: Translator, value: Value) -> str | None:
    """The name of the argument that a value is all of, as it was passed, or of what was found of
    one, where what is computed of it is computed once and in any case; None if it is none."""
    code = t.code
    if not isinstance(value, Array) or value.mask is not None or not code.is_first:
        return None
    buffer = argument_of(value) or _found(t, value)
    if buffer is None or buffer.dtype.kind not in "iuf" or buffer.dtype == types.WIDE:
        return None
    passed = code.elements.get(buffer.name)
    if buffer.name not in code.before and (
        passed is None or passed.ndim != value.rank or passed.size < FEWEST
    ):
        return None
    if any(line.text.startswith(f"{buffer.name}[") for line in code.lines):
        return None
    return buffer.name


def _found(t: Translator, value: Array) -> Buffer | None:
    """What `by_numpy` has made, if a value is all of it."""
    if value.view is None or value.view.buffer.name not in t.code.before:
        return None
    everything = whole(value.view.buffer)
    is_all = value.view == everything.view and value.shape == everything.shape
    return value.view.buffer if is_all else None


def by_numpy(t: Translator, shape: Index, dtype: np.dtype, text: str) -> Array:
    """An array that a text gives, in front of the kernel."""
    buffer = t.code.temporary(shape, dtype)
    t.code.before[buffer.name] = ((f"{buffer.name}[...]", text),)
    return whole(buffer, shape)
