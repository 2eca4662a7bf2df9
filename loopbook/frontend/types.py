"""Element types: NumPy 2's promotion, and how a value of one type is written as another."""

from __future__ import annotations

from typing import Any

import numpy as np

BOOL = np.dtype(np.bool_)
INT = np.dtype(np.int64)
FLOAT = np.dtype(np.float64)
SINGLE = np.dtype(np.float32)
WIDE = np.dtype(np.uint64)

SUPPORTED = frozenset(
    np.dtype(t) for t in (np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16,
                          np.uint32, np.uint64, np.float32, np.float64, np.complex64, np.complex128)
)  # fmt: skip
"""What docc's loops compute with, complex numbers as pairs of floats, unsigned words as signed ones
(see `unsigned`)."""

_WEAK: dict[str, Any] = {"b": False, "i": 0, "f": 0.0, "c": 0j}


def promote(*operands: tuple[np.dtype, bool]) -> tuple[np.dtype, bool]:
    """Type of an operation's result, and whether it is a Python number (*weak*) still.

    Args:
        operands: type and weakness of each.
    """
    if all(weak for _, weak in operands):
        kinds = "bifc"
        top = max(kinds.index(dtype.kind) for dtype, _ in operands)
        return np.dtype({"b": bool, "i": np.int64, "f": np.float64, "c": complex}[kinds[top]]), True
    found = np.result_type(*(_WEAK[dtype.kind] if weak else dtype for dtype, weak in operands))
    return np.dtype(found), False


def floating(dtype: np.dtype) -> np.dtype:
    """The type that maths functions compute with for arguments of `dtype`."""
    if dtype.kind in "fc":
        return dtype
    return np.dtype(np.result_type(dtype, np.float16)) if dtype.itemsize < 4 else FLOAT


def part(dtype: np.dtype) -> np.dtype:
    """The type of a complex number's parts; other types are their own."""
    return np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype


def summed(dtype: np.dtype) -> np.dtype:
    """The type of a sum of elements of `dtype`."""
    if dtype.kind == "b" or (dtype.kind == "i" and dtype.itemsize < 8):
        return INT
    if dtype.kind == "u":
        return np.dtype(np.uint64)
    return dtype


def literal(value: Any) -> str:
    """Source text of a number."""
    if isinstance(value, (bool, np.bool_)):
        return "True" if value else "False"
    if isinstance(value, np.generic) and value.dtype == WIDE:
        value = value.astype(np.int64)
    if isinstance(value, (int, np.integer)):
        if int(value) == -(2**63):  # of which C has no literal
            return "(-1 << 63)"
        return str(int(value)) if value >= 0 else f"({int(value)})"
    number = float(value)
    if np.isnan(number):
        return "np.nan"
    if np.isinf(number):
        return "np.inf" if number > 0 else "(-np.inf)"
    return repr(number) if np.copysign(1, number) > 0 else f"({number!r})"


def zero(dtype: np.dtype) -> str:
    """Source text of nought of a type."""
    return {"b": "False", "f": "0.0"}.get(dtype.kind, "0")
