"""What interpreted programs do while they run, whatever their floating-point numbers are: memory,
whole numbers, products of matrices."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from loopbook.interpreter.faults import FaultError, NotInterpretedError, TooLongError

OUTSIDE = 1 << 62
"""An index that no array has. Python counts indices below zero from the end; they become this."""

MAX_POWER = 64


class _Unset:
    """What stands in local arrays where nothing has been stored: what is computed with it is no
    number either, and is wrong where it comes to an array of the caller's."""

    def _same(self, *_: object) -> _Unset:
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __mod__ = __neg__ = _same
    __truediv__ = __rtruediv__ = _same


UNSET = _Unset()

Buffer = list[Any]
"""An array in memory."""

Pointed = tuple[Buffer, int]
"""A pointer: a buffer and where in it."""


class Buffers:
    """The memory of one run.

    Args:
        most: elements that all buffers may have together, and that threads may copy.
    """

    def __init__(self, rng: random.Random, most: int) -> None:
        self.all: list[Buffer] = []
        self._rng = rng
        self._left = most

    def made(self, elements: Iterable[Any]) -> Buffer:
        buffer = list(elements)
        self.all.append(buffer)
        return buffer

    def empty(self, count: int) -> Pointed:
        """A local array.

        Raises:
            TooLongError: there is no room for it.
        """
        count = max(int(count), 0)
        self._spend(count)
        return self.made([UNSET] * count), 0

    def shuffled(self, values: list[int]) -> list[int]:
        self._rng.shuffle(values)
        return values

    def threads(self, values: list[int]) -> Iterator[int]:
        """The iterations of a loop that threads share, each on the memory as it was before.

        Raises:
            FaultError: two of them write one element.
            TooLongError: that is too much memory to be looked through so often.
        """
        before = [buffer[:] for buffer in self.all]
        after: list[dict[int, Any]] = [{} for _ in before]
        size = sum(map(len, before))
        for value in self.shuffled(values):
            self._spend(size)
            yield value
            del self.all[len(before) :]  # what an iteration allocates is its own
            for old, buffer, changes in zip(before, self.all, after, strict=False):
                if buffer == old:
                    continue
                for place, (was, now) in enumerate(zip(old, buffer, strict=True)):
                    changed = was is not now and was != now
                    if changed and changes.setdefault(place, now) != now:
                        raise FaultError("two threads write one element")
                buffer[:] = old
        for buffer, changes in zip(self.all, after, strict=False):
            for place, now in changes.items():
                buffer[place] = now

    def _spend(self, count: int) -> None:
        self._left -= count
        if self._left < 0:
            raise TooLongError("the program needs too much memory to be interpreted")


def late() -> None:
    """Raises:
    TooLongError: always.
    """
    raise TooLongError("the program takes too long to be interpreted")


def _idiv(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _irem(a: int, b: int) -> int:
    return a - b * _idiv(a, b)


def _wrapped(a: int, bits: int = 64) -> int:
    """As so many bits hold it: products of products have no end."""
    half = 1 << (bits - 1)
    return (a + half) % (half + half) - half


def _whole(a: Any) -> Any:
    """A number as a whole one; what is no number stays so."""
    return a if a is UNSET else int(a)


def _unsigned(a: int, bits: int = 64) -> int:
    return a % (1 << bits)


def _shift(a: int, by: int) -> int:
    """Shifted to the left, or to the right by less than 0 places."""
    if abs(by) >= 64:
        raise FaultError(f"a number is shifted by {by} bits")
    return _wrapped(a << by) if by >= 0 else a >> -by


def _pow(a: int, b: int) -> int:
    if not 0 <= b <= MAX_POWER:
        raise NotInterpretedError(f"a power of {b}")
    return _wrapped(a**b)


def products(settled: Callable[[Any], Any]) -> Callable[..., None]:
    """The product of matrices.

    Args:
        settled: makes a number of the arithmetic of what sums and products gave.
    """

    def gemm(
        sizes: tuple[int, int, int],
        a: tuple[Pointed, int, bool],
        b: tuple[Pointed, int, bool],
        c: tuple[Pointed, int],
        alpha: Any,
        beta: Any,
    ) -> None:
        """``C = alpha * A @ B + beta * C``; matrices with elements from row to row, and whether
        they are stored the other way round."""
        rows, columns, inner = sizes
        ((first, first_start), first_leading, first_turned) = a
        ((second, second_start), second_leading, second_turned) = b
        (result, start), leading = c
        along = (1, first_leading) if first_turned else (first_leading, 1)
        down = (1, second_leading) if second_turned else (second_leading, 1)
        for i in range(rows):
            for j in range(columns):
                total = sum(
                    first[first_start + i * along[0] + k * along[1]]
                    * second[second_start + k * down[0] + j * down[1]]
                    for k in range(inner)
                )
                place = start + i * leading + j
                kept = beta * result[place] if beta else 0
                result[place] = settled(alpha * total + kept)

    return gemm


RUNTIME: Mapping[str, Any] = {
    "_OUTSIDE": OUTSIDE,
    "_late": late,
    "_idiv": _idiv,
    "_imod": _irem,
    "_irem": _irem,
    "_whole": _whole,
    "_wrapped": _wrapped,
    "_unsigned": _unsigned,
    "_shift": _shift,
    "_min": min,
    "_max": max,
    "_abs": abs,
    "_pow": _pow,
}
"""What the programs call."""
