"""Are a version's numbers NumPy's?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from benchmarks.npbench_suite.programs import Program, Tolerance

Results = Mapping[str, np.ndarray]

TIMES = 2.0
"""So many times what a nudge of the arguments does to NumPy's results is still like it."""

ROUNDING = 1e-12
"""A relative error of no more is rounding in any case."""


def difference(
    program: Program,
    found: Results,
    expected: Results,
    *,
    same_program: bool,
) -> str | None:
    """What is wrong with the results of a run, in one line; None if nothing is.

    Args:
        program: whose results they are.
        found: as `Program.results` gives them.
        expected: those of NumPy.
        same_program: whether the very function was run that NumPy ran: then everything must be the
            same, also what it leaves in its other arguments. Versions that somebody wrote by hand
            answer for returned values and for what NPBench calls output arguments.
    """
    names = list(expected)
    # Where NPBench names no output and nothing is returned (doitgen), all arrays are results.
    only_arrays = not program.outputs and not any(name.startswith("return ") for name in names)
    if not same_program and not only_arrays:
        answered = [name for name in names if name.startswith("return ")]
        names = [*program.outputs, *(name for name in answered if name in found)]
        if not names:
            return "it returns nothing"
    elif same_program and (extra := _invented(found, expected)):
        return f"{extra} is not there in NumPy's results"
    for name in names:
        if name not in found:
            return f"{name} is missing"
        one = found[name]
        if not same_program and one.size == expected[name].size == 1:
            one = one.reshape(expected[name].shape)
        words = _difference(one, expected[name], program.tolerance)
        if words:
            return f"{name}: {words}"
    return None


def moved(results: Results, expected: Results) -> dict[str, float]:
    """By name, the relative change of NumPy's results that a nudge of the arguments made."""
    return {name: _relative(results[name], value) for name, value in expected.items()}


def within_rounding(
    found: Results, expected: Results, nudged: Sequence[Mapping[str, float]]
) -> str | None:
    """What shows that a difference says nothing, in one line; None if it does say something.

    A program may amplify rounding until no digit is left, as bodies that pull at each other do.
    Then NumPy's own results differ as much between arguments that are one unit in the last place
    apart, and nobody can ask for more than results among those.

    Args:
        nudged: how far NumPy's results `moved` with arguments that are so far off.
    """
    most = 0.0
    for name, value in expected.items():
        if name not in found or found[name].shape != value.shape:
            return None
        usual = max(changes[name] for changes in nudged)
        own = _relative(found[name], value)
        if not own <= max(TIMES * usual, ROUNDING):
            return None
        most = max(most, usual)
    return f"one unit in the last place of its arguments changes NumPy's results by {most:.1g}"


def _relative(one: np.ndarray, other: np.ndarray) -> float:
    if one.dtype.kind not in "fc":
        return 0.0 if np.array_equal(one, other) else np.inf
    scale = float(np.linalg.norm(other))
    off = float(np.linalg.norm(one - other))
    return off / scale if scale else off


def _invented(found: Results, expected: Results) -> str | None:
    """A returned value too many.

    docc returns an undefined number from functions that return nothing; that is let pass.
    """
    extra = sorted(set(found) - set(expected))
    if not any(name.startswith("return ") for name in expected):
        extra = [name for name in extra if found[name].ndim]
    return extra[0] if extra else None


def _difference(found: np.ndarray, expected: np.ndarray, tolerance: Tolerance) -> str | None:
    if found.shape != expected.shape:
        return f"shape {_shape(found.shape)}, not {_shape(expected.shape)}"
    if _kind(found) != _kind(expected):
        return f"{found.dtype}, not {expected.dtype}"
    if not expected.size:
        return None
    if np.allclose(
        found, expected, rtol=tolerance.relative, atol=tolerance.absolute, equal_nan=True
    ):
        return None
    finite = np.isfinite(expected)
    if not np.array_equal(finite, np.isfinite(found)):
        return "infinite or undefined numbers elsewhere"
    wide = np.promote_types(expected.dtype, np.float64)
    left, right = found[finite].astype(wide), expected[finite].astype(wide)
    error = float(np.linalg.norm(left - right)), float(np.linalg.norm(right))
    relative = error[0] / error[1] if error[1] else np.inf
    return None if relative < tolerance.norm else f"relative error {relative:.2g}"


def _kind(array: np.ndarray) -> str:
    """Of a number, as far as a user would notice."""
    return {"u": "i", "b": "i"}.get(array.dtype.kind, array.dtype.kind)


def _shape(shape: Sequence[int]) -> str:
    return "×".join(map(str, shape)) or "of a number"
