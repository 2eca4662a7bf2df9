"""Numbers as those of another type: as text that is stored, and NumPy's for Python's."""

from __future__ import annotations

import numpy as np

from loopbook.errors import LoweringError
from loopbook.frontend import types
from loopbook.frontend.code import bare
from loopbook.frontend.narrow import is_narrow, wrapped
from loopbook.frontend.values import Pair, Scalar


def cast_texts(value: Scalar, dtype: np.dtype) -> tuple[str, ...]:
    """Texts of `value` to be stored as `dtype`, of its parts if that is complex."""
    if dtype.kind != "c":
        return (cast_text(value, dtype),)
    if isinstance(value, Pair):
        return value.texts
    return cast_text(value, types.part(dtype)), "0.0"


def cast_text(value: Scalar, dtype: np.dtype) -> str:
    """Text of `value` to be stored as `dtype`."""
    if value.dtype == dtype:
        return value.text
    if isinstance(value, Pair):
        raise LoweringError("complex numbers stored as real ones; take the real part")
    if dtype.kind == "b":
        return f"({value.text} != 0)"
    if value.dtype.kind == "b":
        return f"{'float' if dtype.kind == 'f' else 'int'}({bare(value.text)})"
    if value.value is not None and dtype == types.WIDE and value.dtype.kind in "iu":
        return types.literal(np.uint64(value.value))
    text = value.text
    if dtype.kind in "iu" and value.dtype.kind == "f":
        text = f"int({bare(text)})"
    fits = value.value is not None or np.can_cast(value.dtype, dtype)
    return text if fits or not is_narrow(dtype) else wrapped(text, dtype)


def strong(value: Scalar) -> Scalar:
    """One of NumPy's numbers, of the same type."""
    known = None if value.value is None else value.dtype.type(value.value)
    if isinstance(value, Pair):
        return Pair(value.texts, value.dtype, False, known)
    return Scalar(value.text, value.dtype, False, value.whole, known)
