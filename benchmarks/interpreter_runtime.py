"""What programs that `benchmarks.interpreter` has written do while they run: memory, numbers,
functions, library calls."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import Any

from loopbook.errors import LoopbookError

_DOUBLE, _SINGLE = (1 << 30) - 35, (1 << 31) - 1

MODULUS = _DOUBLE * _SINGLE
"""What floating-point numbers are counted modulo."""

ROUNDED = _DOUBLE * pow(_DOUBLE, -1, _SINGLE) % MODULUS
"""A number is rounded to single precision when it is multiplied by this: what it is modulo one of
the two primes is lost for good, and sums and products of rounded numbers are rounded."""

_REST = (1 - ROUNDED) % MODULUS

ZONE = 64
"""Elements behind each array, and before it: Python counts from the end below zero."""


class NotInterpretedError(LoopbookError):
    """The program has something that is not interpreted."""


class FaultError(LoopbookError):
    """The program did what no program may do."""


class _Outside:
    """What stands in the zones."""


_OUTSIDE = _Outside()


class _Unset:
    """What stands in local arrays where nothing has been stored: what is computed with it is no
    number either, and is wrong where it comes to an array of the caller's."""

    def _same(self, *_: object) -> _Unset:
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __mod__ = __neg__ = _same


UNSET = _Unset()


class Buffer(list[Any]):
    """An array in memory with its zone."""

    def __init__(self, elements: Iterable[Any]) -> None:
        super().__init__(elements)
        self.size = len(self)
        self.extend([_OUTSIDE] * ZONE)

    @property
    def elements(self) -> list[Any]:
        return self[: self.size]

    def check(self) -> None:
        """Raises:
        FaultError: something was written outside of it.
        """
        if any(element is not _OUTSIDE for element in self[self.size :]):
            raise FaultError("something is written outside of an array")


Pointed = tuple[Buffer, int]
"""A pointer: a buffer and where in it."""


class Buffers:
    """The memory of one run."""

    def __init__(self, rng: random.Random) -> None:
        self.all: list[Buffer] = []
        self._rng = rng

    def made(self, elements: Iterable[Any]) -> Buffer:
        buffer = Buffer(elements)
        self.all.append(buffer)
        return buffer

    def empty(self, count: int) -> Pointed:
        return self.made([UNSET] * max(int(count), 0)), 0

    def shuffled(self, values: list[int]) -> list[int]:
        self._rng.shuffle(values)
        return values

    def threads(self, values: list[int]) -> Iterator[int]:
        """The iterations of a loop that threads share, each on the memory as it was before.

        Raises:
            FaultError: two of them write one element.
        """
        before = [buffer[:] for buffer in self.all]
        after: list[dict[int, Any]] = [{} for _ in before]
        for value in self.shuffled(values):
            yield value
            for buffer in self.all[len(before) :]:  # what an iteration allocates is its own
                buffer.check()
            del self.all[len(before) :]
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


def real(text: str) -> str:
    """A constant of a program, as Python writes it."""
    try:
        value = Fraction(text)
    except (ValueError, ZeroDivisionError):
        named = text.lower().lstrip("-+")
        if "inf" in named:
            return f"float('{'-' if text.startswith('-') else ''}inf')"
        raise NotInterpretedError(f"the constant {text}") from None
    return str(value.numerator * pow(value.denominator, -1, MODULUS) % MODULUS)


def _idiv(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _irem(a: int, b: int) -> int:
    return a - b * _idiv(a, b)


def _wrapped(a: int, bits: int = 64) -> int:
    """As so many bits hold it: products of products have no end."""
    half = 1 << (bits - 1)
    return (a + half) % (half + half) - half


def _unsigned(a: int, bits: int = 64) -> int:
    return a % (1 << bits)


def _truncated(a: int) -> int:
    """A real number as an integer: an arbitrary small one, which may well be an index."""
    return _any(17, a) % 3


def _divided(a: Any, b: Any) -> Any:
    """The quotient modulo each of the two primes; 0 where that divides by 0."""
    if a is UNSET or b is UNSET:
        return UNSET
    if b in (float("inf"), float("-inf")):
        return 0
    b %= MODULUS
    if b % _SINGLE and b % _DOUBLE:
        return a * pow(b, -1, MODULUS) % MODULUS
    parts = ((_SINGLE, ROUNDED), (_DOUBLE, _REST))
    return a * sum(pow(b, -1, prime) * unit for prime, unit in parts if b % prime) % MODULUS


def _any(number: int, *values: int) -> int:
    """An arbitrary function: values that differ give, almost surely, others."""
    found = number * 1000003 + 12345
    for value in values:
        found = (found * found + value * (number + 7) + 99991) % MODULUS
    return found


def _gemm(
    sizes: tuple[int, int, int],
    a: tuple[Pointed, int, bool],
    b: tuple[Pointed, int, bool],
    c: tuple[Pointed, int],
    alpha: int,
    beta: int,
) -> None:
    """``C = alpha * A @ B + beta * C``; matrices with elements from row to row, and whether they
    are stored the other way round."""
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
            if result[place] is _OUTSIDE:
                raise FaultError("something is written outside of an array")
            result[place] = (alpha * total + kept) % MODULUS


RUNTIME: dict[str, Callable[..., Any] | type | _Outside] = {
    "_OUTSIDE": _OUTSIDE,
    "_Fault": FaultError,
    "_idiv": _idiv,
    "_imod": _irem,
    "_irem": _irem,
    "_divided": _divided,
    "_any": _any,
    "_wrapped": _wrapped,
    "_unsigned": _unsigned,
    "_truncated": _truncated,
    "_gemm": _gemm,
    "_min": min,
    "_max": max,
    "_abs": abs,
    "_pow": pow,
}
"""What the programs call."""
