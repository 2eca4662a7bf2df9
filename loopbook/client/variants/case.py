"""What compiled code may depend on besides the numbers in its arguments."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from enum import Enum
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from loopbook.client.variants.scale import scale
from loopbook.errors import SdfgError

ARRAYS = frozenset(map(np.dtype, (np.float64, np.float32, np.int64, np.int32, np.bool_)))
"""What arrays may hold that docc is given. It promotes smaller and unsigned integers otherwise than
NumPy."""

SCALARS = frozenset((bool, int, float, np.bool_, np.int32, np.int64, np.float32, np.float64))
"""Types of the numbers that docc is given."""

WIDER = (
    np.int8, np.int16, np.uint8, np.uint16, np.uint32, np.uint64, np.complex64, np.complex128,
)  # fmt: skip
"""Further types that a function may be called with, if it is written out as loops."""

ALL_ARRAYS = ARRAYS | frozenset(map(np.dtype, WIDER))
ALL_SCALARS = SCALARS | frozenset((complex, *WIDER))

THINGS = (type(None), str, type, np.dtype, Enum)
"""What else it may be called with then: part of the case, with its value."""

PLAIN_THINGS = frozenset((type(None), str))
"""Those of them that calls are quickly told apart by."""

INTEGERS = range(-(2**63), 2**63)

EMPTY = "is empty; compiled code takes every size to be at least 1"
"""What is said of an array without elements; others of its kind may have some."""

OVERLAP_WORK = 100_000
"""Steps to find out whether two arrays share an element; after that they are taken to."""


class Case:
    """One call's arguments, looked at.

    Attributes:
        args: the arguments; arrays as plain ndarrays.
        key: types, ranks, which sizes are 1 and which are equal. Same key, same SDFG.
        first: for each argument the position of the first one that is exactly the same array;
            its own position otherwise.
        foreign: positions of the arrays that do not lie in C order.

    Raises:
        SdfgError: if an argument is nothing that compiled code could take in any form, and why.
    """

    def __init__(self, names: Sequence[str], args: Sequence[Any]) -> None:
        self.names = tuple(names)
        self.args = tuple(map(_plain, names, args))
        self.arrays = [n for n, value in enumerate(self.args) if isinstance(value, np.ndarray)]
        self.key = _key(self.args)
        self.foreign = [n for n in self.arrays if not self.args[n].flags.c_contiguous]
        self.first = self._first()

    def _first(self) -> tuple[int, ...]:
        found: dict[Hashable, int] = {}
        first = list(range(len(self.args)))
        for place in self.arrays:
            array = self.args[place]
            where = (array.ctypes.data, array.dtype, array.shape, array.strides)
            first[place] = found.setdefault(where, place)
        return tuple(first)

    @cached_property
    def scale(self) -> int:
        """How large its arrays are together, as `loopbook.client.variants.scale` tells."""
        return scale(sum(self.args[n].nbytes for n in self.arrays if self.first[n] == n))

    @property
    def fits_docc(self) -> bool:
        """Whether docc can be given all arguments as they are."""
        return not self._unfit()

    def check_types(self) -> None:
        """Raises `SdfgError` where docc cannot be given an argument as it is."""
        if unfit := self._unfit():
            raise SdfgError(f"{unfit}, which compiled code cannot take")

    def _unfit(self) -> str:
        for name, value in zip(self.names, self.args, strict=True):
            if isinstance(value, np.ndarray):
                if value.dtype not in ARRAYS:
                    return f"{name} has dtype {value.dtype.str}"
            elif type(value) not in SCALARS:
                return f"{name} is of type {type(value).__name__}"
        return ""

    def taken_as(self, args: Sequence[Any]) -> bool:
        """Whether compiled code gets these very arguments: arrays, numbers, None and texts."""
        if len(args) != len(self.args):
            return False
        return all(
            value is own and (not isinstance(value, THINGS) or type(value) in PLAIN_THINGS)
            for value, own in zip(args, self.args, strict=True)
        )

    def merging(self, written: frozenset[int]) -> bool:
        """Whether an array that is written was passed more than once."""
        return any(
            one != place and (place in written or one in written)
            for place, one in enumerate(self.first)
        )

    def check(self, written: frozenset[int]) -> None:
        """Raises `SdfgError` where code that writes these arguments must not run on them."""
        for place in self.arrays:
            array = self.args[place]
            if place in written and not array.flags.writeable:
                raise SdfgError(f"{self.names[place]} may be written, and is read-only")
            if place in written and place in self.foreign and overlaps_itself(array):
                raise SdfgError(f"{self.names[place]} is written, and overlaps itself")
        for one, other in combinations(self.arrays, 2):
            if one not in written and other not in written:
                continue
            if self.first[one] != self.first[other] and overlap(self.args[one], self.args[other]):
                raise overlapping(self.names[one], self.names[other])


def overlapping(one: str, other: str) -> SdfgError:
    """What is wrong with two arguments that share some elements."""
    return SdfgError(f"{one} and {other} overlap in part, and one is written")


def overlap(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two arrays share an element, or it would take long to say."""
    try:
        return bool(np.shares_memory(one, other, max_work=OVERLAP_WORK))  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True


def span(array: np.ndarray) -> tuple[int, int]:
    """Where the memory begins and ends that an array has elements in."""
    low = high = array.ctypes.data
    for stride, size in zip(array.strides, array.shape, strict=True):
        if stride < 0:
            low += stride * (size - 1)
        else:
            high += stride * (size - 1)
    return low, high + array.itemsize


def overlaps_itself(array: np.ndarray) -> bool:
    """Whether two elements of an array may lie in the same place; True where it is hard to say."""
    reach = array.itemsize
    dims = sorted((abs(s), n) for s, n in zip(array.strides, array.shape, strict=True) if n > 1)
    for stride, size in dims:
        if stride < reach:
            return True
        reach = stride * (size - 1) + reach
    return False


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, np.ndarray):
        if type(value) is np.memmap:
            value = value.view(np.ndarray)
        return _checked_array(name, value)
    kind = type(value)
    if kind not in ALL_SCALARS and not isinstance(value, THINGS):
        raise SdfgError(f"{name} is of type {kind.__name__}, which compiled code cannot take")
    if kind is int and value not in INTEGERS:
        raise SdfgError(f"{name} is an integer of more than 64 bits")
    return value


def _checked_array(name: str, array: np.ndarray) -> np.ndarray:
    if type(array) is not np.ndarray:
        raise SdfgError(f"{name} is of type {type(array).__name__}, not a plain array")
    if array.dtype not in ALL_ARRAYS or not array.dtype.isnative:
        raise SdfgError(f"{name} has dtype {array.dtype.str}, which compiled code cannot take")
    if array.ndim == 0:
        raise SdfgError(f"{name} is an array without dimensions")
    if array.size == 0:
        raise SdfgError(f"{name} {EMPTY}")
    if not array.flags.aligned:
        return array.copy() if not array.flags.writeable else _unaligned(name)
    return array


def _unaligned(name: str) -> Any:
    raise SdfgError(f"{name} is not aligned")


def _key(args: Sequence[Any]) -> Hashable:
    sizes: dict[int, int] = {}
    parts: list[Hashable] = []
    for value in args:
        if isinstance(value, np.ndarray):
            shape = tuple(
                -1 if size == 1 else sizes.setdefault(size, len(sizes)) for size in value.shape
            )
            parts.append((value.dtype.str, shape))
        else:
            parts.append((type(value), value) if isinstance(value, THINGS) else type(value))
    return tuple(parts)
