"""Loops against the function that they were made of, at small sizes, before anything is compiled.

Sizes that are equal in the call stay equal, sizes of 0 and 1 stay what they are, whole numbers stay
what they are where they are small; data are made up so that order and overlap show. Both run as
Python. A difference is a fault of ours: the function is not compiled then.
"""

from __future__ import annotations

import contextlib
import copy
import time
import warnings
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any

import numpy as np

from loopbook.alarm import TooLong, limited
from loopbook.errors import LoweringError
from loopbook.frontend.lowered import Lowered, SupposedError
from loopbook.frontend.rounding import flat, is_chaotic, is_rounding
from loopbook.frontend.unset import hangs_on_unset

SIZES = ((2, 3, 5, 7, 8), (3, 4, 5, 6, 7), (4, 5, 6, 8, 9))
"""For the distinct sizes of a call, from the least to the greatest; three times."""

FEW = ((2, 2, 3), (3, 3, 4))
"""In their place where loops take too long at them: larger ones are as large as the last."""

NEAR = 4
"""Sizes that differ by no more belong together, as with a halo."""

APART = 3
"""Sizes so many times as large stay more than twice as large: fits to data are exact else."""

LARGEST = 12
"""No size is made larger to keep what it has to do with another one."""

MOST_STEPS = 6
"""Whole numbers that are no sizes, such as numbers of steps, are cut to this."""

SECONDS = 0.05
"""The first comparison ends after this; loops run as Python, and nobody waits for them longer."""

LONGEST = 1.0
"""A comparison at few sizes ends after this, and the original in other numbers."""

ENOUGH = 0.1
"""Where comparisons have taken so many seconds, those that there were are enough."""


def check(func: Callable[..., Any], lowered: Lowered, args: Sequence[Any]) -> int:
    """Compare a function with its loops, for arguments like `args`.

    Returns:
        At how many sizes both could be run: the original may not run at sizes that are made up,
        and the translation need not be for them.

    Raises:
        LoweringError: if the numbers differ.
    """
    compared, begun = 0, time.perf_counter()
    for number, sizes in enumerate(SIZES):
        taken = time.perf_counter() - begun
        left = min(ENOUGH - taken, SECONDS) if compared else SECONDS
        if compared and left < taken / compared:  # larger ones take longer
            break
        try:
            compared += _compared(func, lowered, small(args, sizes, number), left)
        except TooLong:
            break
    for number, sizes in enumerate(FEW):
        if compared:
            break
        with contextlib.suppress(TooLong):
            made = small(args, sizes, number, distinct=False)
            compared = _compared(func, lowered, made, LONGEST)
    return compared


def _compared(
    func: Callable[..., Any], lowered: Lowered, made: Sequence[Any], seconds: float
) -> int:
    """Compare the two for arguments; 0 if one of them cannot be run for these.

    Raises:
        LoweringError: if the numbers differ.
        TooLong: if they take more seconds.
    """
    first, second = copied(made), copied(made)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"), limited(seconds):
            warnings.simplefilter("ignore")
            if not lowered.holds(*made):
                return 0
            try:
                expected = func(*first)
            except Exception:
                return 0
            got = lowered.plain(*second)
    except (ZeroDivisionError, SupposedError):  # compiled code divides to NaN
        return 0
    except Exception as error:
        raise _fault(lowered, f"{type(error).__name__}: {error}") from None
    if _form(expected) != _form(got):
        raise _fault(lowered, "tuples and lists are others")
    want, have = [*flat(expected), *first], [*flat(got), *second]
    if others := _other_types(want, have):  # which no rounding explains
        raise _fault(lowered, others)
    wrong = difference(want, have, roots="sqrt" in lowered.kernel_source)
    if wrong and not is_rounding(func, made, want, have, LONGEST):
        if is_chaotic(func, made, want, LONGEST) or hangs_on_unset(func, made, LONGEST):
            return 0
        raise _fault(lowered, wrong)
    return 1


def _form(returned: Any) -> Any:
    """Which parts of a result are tuples and lists."""
    if isinstance(returned, dict):
        return dict, [(name, _form(item)) for name, item in returned.items()]
    if not isinstance(returned, tuple | list):
        return None
    return type(returned), [_form(item) for item in returned]


def _other_types(expected: Sequence[Any], got: Sequence[Any]) -> str:
    """What is of another type among results; empty if nothing is."""
    for one, other in zip(expected, got, strict=False):
        if one is None or isinstance(one, str | type | np.dtype):
            continue
        arrays = isinstance(one, np.ndarray), isinstance(other, np.ndarray)
        if arrays[0] != arrays[1] or (isinstance(one, Enum) and one is not other):
            return f"a {type(other).__name__} instead of a {type(one).__name__}"
        kinds = np.asarray(one).dtype, np.asarray(other).dtype
        if kinds[0] != kinds[1]:
            return f"{kinds[1]} instead of {kinds[0]}"
    return ""


def _fault(lowered: Lowered, reason: str) -> LoweringError:
    reason = " ".join(reason.split())[:150]
    line = next(iter(lowered.line_map.values()), 0)
    return LoweringError(f"{lowered.name}() as loops gives other numbers ({reason})", line)


def small(
    args: Sequence[Any], sizes: Sequence[int], seed: int, *, distinct: bool = True
) -> list[Any]:
    """Arguments of the same kinds, but small.

    Where `seed` is odd, floats have both signs: what is done with negative ones is seen too.

    Args:
        distinct: sizes that are not equal stay so, and keep what they have to do with each other.
    """
    rng = np.random.default_rng(seed)
    least = -1.9 if seed % 2 else 0.1
    found = {size for value in args if isinstance(value, np.ndarray) for size in value.shape}
    larger = sorted(found - {0, 1})
    given = {0: 0, 1: 1} | (_shrunk(larger, sizes) if distinct else _few(larger, sizes))
    made: list[Any] = []
    arrays: dict[int, np.ndarray] = {}
    for value in args:
        if id(value) in arrays:
            made.append(arrays[id(value)])
        elif isinstance(value, np.ndarray):
            like = _array(value, tuple(given[size] for size in value.shape), rng, least)
            made.append(arrays.setdefault(id(value), _laid_out(like, value)))
        elif isinstance(value, int | np.integer) and not isinstance(value, bool):
            number = given.get(int(value), _steps(int(value)))
            made.append(type(value)(number))
        else:
            made.append(copy.deepcopy(value))
    return made


def _steps(number: int) -> int:
    """A small whole number that is odd where this one is."""
    return number if number <= MOST_STEPS else MOST_STEPS - (MOST_STEPS - number) % 2


def _shrunk(found: Sequence[int], sizes: Sequence[int]) -> dict[int, int]:
    """A small size for each, no larger than it was, in the same order: what is larger stays larger.
    What differs by a little goes on doing so, and what is twice another one stays that."""
    made: dict[int, int] = {}
    last = before = 0
    for place, size in enumerate(found):
        usual = sizes[place] if place < len(sizes) else last + 1
        if before and size >= APART * before:  # so that there are more rows than columns still
            usual = max(usual, 2 * last + 1)
        options = [last + size - before] if made and size - before <= NEAR else []
        options += [2 * small for other, small in made.items() if size == 2 * other]
        fitting = [one for one in options if last < one <= LARGEST]
        made[size] = last = fitting[0] if fitting else min(max(usual, last + 1), size)
        before = size
    return made


def _few(found: Sequence[int], sizes: Sequence[int]) -> dict[int, int]:
    """One of the small sizes for each, in the same order, the last one for many."""
    return {size: min(size, sizes[min(place, len(sizes) - 1)]) for place, size in enumerate(found)}


def _array(
    like: np.ndarray, shape: tuple[int, ...], rng: np.random.Generator, least: float
) -> np.ndarray:
    kind = like.dtype.kind
    if kind == "b":
        return rng.random(shape) < 0.5
    if kind in "fc":
        made = rng.uniform(least, 1.9, shape)
        if like.ndim == 1 and kind == "f" and bool((like[1:] > like[:-1]).all()):
            made = np.sort(made)  # as what searches in it needs it
        return (made + 1j * rng.uniform(least, 1.9, shape) if kind == "c" else made).astype(
            like.dtype
        )
    # Whole numbers may be indices: they stay under the least size.
    lowest = int(like.min()) if like.size else 0
    return rng.integers(0 if lowest >= 0 else -2, 2, shape).astype(like.dtype)


def _laid_out(array: np.ndarray, like: np.ndarray) -> np.ndarray:
    """An array that is as contiguous as another one: some functions give views of the one kind and
    copies of the other."""
    if like.flags.c_contiguous:
        return array
    if like.flags.f_contiguous:
        return np.asfortranarray(array)
    wide = np.zeros((*array.shape, 2), array.dtype)
    wide[..., 0] = array
    return wide[..., 0]


def copied(args: Sequence[Any]) -> list[Any]:
    """The arguments anew; what was one array stays one, and lies as it did."""
    copies: dict[int, Any] = {}
    for value in args:
        if isinstance(value, np.ndarray) and id(value) not in copies:
            copies[id(value)] = _laid_out(value.copy(), value)
    return [copies.get(id(value), value) for value in args]


def difference(expected: Sequence[Any], got: Sequence[Any], *, roots: bool = False) -> str:
    """What is different between two lists of results; empty if nothing is.

    Args:
        roots: roots are taken. That of a number that is nought but for rounding, as in the distance
            of a point to itself, has half as many places.
    """
    if len(expected) != len(got):
        return f"{len(got)} results instead of {len(expected)}"
    # Numbers of 64 bits may be made of sums of 32.
    single = any(np.asarray(v).dtype in (np.float32, np.complex64) for v in expected)
    for one, other in zip(expected, got, strict=True):
        if one is None or isinstance(one, str | type | np.dtype):
            continue
        if isinstance(one, Enum):
            continue
        a, b = np.asarray(one), np.asarray(other)
        if isinstance(one, np.ndarray) != isinstance(other, np.ndarray):
            return f"a {type(other).__name__} instead of a {type(one).__name__}"
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"{b.dtype} {b.shape} instead of {a.dtype} {a.shape}"
        tolerance = 1e-3 if single else 1e-9
        absolute = max(tolerance, 1e-7) if roots else tolerance
        size = 1.0
        if a.dtype.kind in "fc":
            size = max(1.0, float(np.max(np.abs(a[np.isfinite(a)]), initial=0.0)))
        if not np.allclose(a, b, rtol=tolerance, atol=absolute * size, equal_nan=True):
            return "a result differs"
    return ""
