"""Whether numbers differ by rounding alone, however much of them it is.

Where numbers cancel, rounding is all that is left, and no tolerance fits: ``(x - x.mean()).sum()``,
or the root of ``a @ a + b @ b - 2 * (a @ b)``. Then the same function is run in wider numbers, and
on numbers that differ in their last places, and ours must be about as near as NumPy's are.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from loopbook.alarm import TooLong, limited

TIMES = 32
"""So many times what rounding does to NumPy's own numbers is still rounding."""

CHANGED = 1e-3
"""Numbers that are off by more than this part of the greatest are others."""

WIDE = {"f": np.longdouble, "c": np.clongdouble}


def is_rounding(
    func: Callable[..., Any],
    args: Sequence[Any],
    expected: Sequence[Any],
    got: Sequence[Any],
    seconds: float = 1.0,
) -> bool:
    """Whether results differ from the function's own by no more than rounding.

    Args:
        args: what the function was called with, as it was before.
        expected: what it returned (`flat`), and its arguments afterwards.
        got: the same of what stands for it.
        seconds: that the function may take.
    """
    others = _others(func, args, seconds)
    if not others or {len(expected)} != {len(got), *map(len, others)}:
        return False
    return all(map(_is_near, expected, got, zip(*others, strict=True)))


def is_chaotic(
    func: Callable[..., Any], args: Sequence[Any], expected: Sequence[Any], seconds: float = 1.0
) -> bool:
    """Whether the last places of what goes in decide what comes out: as where a solver is given a
    matrix that it does not converge for. Nothing can be said of other numbers then.

    Args:
        expected: what the function returned (`flat`), and its arguments afterwards.
    """
    others = _others(func, args, seconds, wide=False)
    return any(
        len(other) != len(expected) or any(map(_is_another, expected, other)) for other in others
    )


def _others(
    func: Callable[..., Any], args: Sequence[Any], seconds: float, *, wide: bool = True
) -> list[list[Any]]:
    """What the function makes of other arguments of the same meaning; nothing if it fails."""
    others: list[list[Any]] = []
    for values in _other_arguments(args, wide):
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"), limited(seconds):
                warnings.simplefilter("ignore")
                others.append([*flat(func(*values)), *values])
        except TypeError:  # there are functions that know two types only
            if others or not wide:
                return []
            wide = False
        except (TooLong, Exception):
            return []
    return others


def _is_another(own: Any, other: Any) -> bool:
    own, other = np.asarray(own), np.asarray(other)
    if own.shape != other.shape:
        return True
    if own.dtype.kind not in "fc" or other.dtype.kind not in "fc":
        return not np.array_equal(own, other)
    finite = np.isfinite(own)
    if not np.array_equal(finite, np.isfinite(other)):
        return True
    size = float(np.max(np.abs(own[finite]), initial=0))
    return float(np.max(np.abs(own[finite] - other[finite]), initial=0)) > CHANGED * size


def flat(returned: Any) -> list[Any]:
    """What a function returned, part by part; nothing for None."""
    if isinstance(returned, dict):
        return flat(list(returned.values()))
    if isinstance(returned, tuple | list):
        return [part for item in returned for part in flat(item)]
    return [] if returned is None else [returned]


def _other_arguments(args: Sequence[Any], wide: bool) -> Iterator[list[Any]]:
    """Floats as the widest numbers that there are, and twice a little off; what was one array stays
    one."""
    rng = np.random.default_rng(0)
    for places in (0, 2, 2) if wide else (2, 2):
        made: dict[int, Any] = {}
        for value in args:
            if not isinstance(value, np.ndarray) or id(value) in made:
                continue
            if value.dtype.kind not in "fc":
                made[id(value)] = value.copy()
            elif not places:
                made[id(value)] = value.astype(WIDE[value.dtype.kind])
            else:
                off = np.finfo(value.dtype).eps * rng.integers(-places, places + 1, value.shape)
                made[id(value)] = (value * (1 + off)).astype(value.dtype)
        yield [made.get(id(value), value) for value in args]


def _is_near(own: Any, ours: Any, others: Sequence[Any]) -> bool:
    values = [np.asarray(value) for value in (own, ours, *others)]
    if isinstance(own, np.ndarray) != isinstance(ours, np.ndarray):
        return False
    if values[0].dtype != values[1].dtype:  # which no rounding makes
        return False
    if len({value.shape for value in values}) > 1:
        return False
    own, ours, *rest = values
    if not all(value.dtype.kind in "fc" for value in values):
        return bool(np.array_equal(own, ours))
    with np.errstate(all="ignore"):
        off = np.abs(ours - own)
        usual = [np.abs(value - own) for value in rest]
    finite = np.isfinite(off)
    if not np.array_equal(own[~finite], ours[~finite], equal_nan=True):
        return False
    most = max(float(np.max(one[np.isfinite(one)], initial=0)) for one in usual)
    return float(np.max(off[finite], initial=0)) <= TIMES * most
