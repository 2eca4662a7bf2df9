"""What to write instead of functions that have no loops.

Before::

    m = np.partition(x, 3)

After: ``np.partition() has no loops yet; use np.sort or np.argsort``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

USUAL = "write it out or use other functions"
BEFORE = "call it before, and pass what it gives"

_SORTED = (np.partition, np.argpartition, np.nanmedian, np.nanpercentile, sorted)
_PARTS = (np.resize,)
_CALLS = (np.apply_over_axes, np.vectorize, np.fromiter, filter)
_CHOICES = (np.choose, np.place)
_SETS = (np.setxor1d,)

_HINTS = (
    (_SORTED, "use np.sort or np.argsort"),
    (_PARTS, "use slices, as in x[:n] and x[n:]"),
    (_CALLS, "call the function in a loop, and store what it gives in an array"),
    (_CHOICES, "use np.where, or x[mask] = value"),
    (_SETS, "compare in two loops, or use a table of truth values"),
    ((np.seterr,), "use with np.errstate(...)"),
    ((np.histogram2d, np.histogramdd), "use np.add.at(counts, (i, j), 1) with computed bins"),
    ((dict, set, frozenset), "use arrays that whole numbers index"),
    ((print, open, input), "leave it to the caller"),
)

_MODULES = (
    ("numpy.random", "draw the numbers before the call, and pass them"),
    ("random", "draw the numbers before the call, and pass them"),
    ("numpy.fft", BEFORE),
    ("numpy.linalg", BEFORE),
    ("numpy.ma", "use np.where, or NaN and np.nanmean and the like"),
    ("logging", "leave it to the caller, or to a branch: if verbose: ..."),
    ("warnings", "leave it to the caller, or to a branch: if verbose: ..."),
    ("collections", "use arrays that whole numbers index"),
    ("scipy", BEFORE),
    ("time", "measure time outside"),
)

METHODS = {
    "append": "make an array with np.zeros before the loop, and store into it",
    "extend": "make an array with np.zeros before the loop, and store into it",
    "pop": "use an array and the number of items in it",
    "view": "use .real and .imag, or .astype",
}
"""What to write instead of methods that have no loops, by name."""

STATEMENTS = {
    "Try": "test for what may go wrong before it does",
    "TryStar": "test for what may go wrong before it does",
    "ClassDef": "define the class outside",
    "With": "leave it to the caller",
    "Match": "compare with ==",
    "Raise": "raise in a branch",
    "Delete": "assign what is left",
}
"""What to write instead of statements."""

EXPRESSIONS = {
    "Set": "use a tuple",
    "SetComp": "use a list",
    "Yield": "store into an array",
    "YieldFrom": "store into an array",
    "NamedExpr": "assign before it",
}
"""What to write instead of expressions."""


def instead(target: Any) -> str:
    """What to write instead of a call of a function."""
    for functions, hint in _HINTS:
        if any(target is function for function in functions):
            return hint
    owner = getattr(target, "__self__", None)
    module = getattr(target, "__module__", None) or type(owner).__module__
    for name, hint in _MODULES:
        if module == name or module.startswith(f"{name}."):
            return hint
    return USUAL
