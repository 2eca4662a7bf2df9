"""SciPy's functions of numbers, known by their names: nothing is imported for them.

Before::

    y = special.expit(x)

After: as ``y = 1.0 / (1.0 + np.exp(-x))``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from loopbook.frontend.constructs.calling import Vectorized
from loopbook.frontend.constructs.written import written
from loopbook.frontend.registry import FUNCTIONS
from loopbook.frontend.values import Thing


class _Named:
    """Stands for a function of SciPy where lowerings are registered."""

    def __init__(self, name: str) -> None:
        self.name = name


EXPIT, XLOGY = map(_Named, ("expit", "xlogy"))


@written(EXPIT)
def expit(x):
    return 1.0 / (1.0 + np.exp(-x))


@written(XLOGY)
def xlogy(x, y):
    return np.where((x == 0) & ~np.isnan(y), 0.0, x * np.log(y))[()]


def lowering_by_name(target: Any) -> Callable[..., Any] | None:
    """What lowers calls of one of SciPy's universal functions."""
    if not isinstance(target, np.ufunc):
        return None
    if target.__name__ in ("erf", "erfc"):
        return Vectorized(Thing(getattr(math, target.__name__))).lowered
    return FUNCTIONS.get({"expit": EXPIT, "xlogy": XLOGY}.get(target.__name__))


__all__ = ["lowering_by_name"]
