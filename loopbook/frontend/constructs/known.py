"""Functions of types and of numbers that are known: computed when the loops are written.

Before::

    tiny = np.finfo(x.dtype).eps                c = math.comb(6, 2)
    kind = np.result_type(x, 1.5)

After::

    tiny = 2.220446049250313e-16                c = 15
    kind = np.dtype('float64')
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from loopbook.frontend import arith
from loopbook.frontend.expressions import wrapped
from loopbook.frontend.registry import lowers
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Array, Scalar, Value


def _computed(function: Callable[..., Any], name: str) -> None:
    @lowers(function)
    def lowering(t: Translator, *args: Value) -> Value:
        values = [t.python(value) for value in args]
        try:
            return wrapped(function(*values))
        except (TypeError, ValueError) as error:
            raise t.code.fail(f"{name}(): {error}") from None


for _function in (np.finfo, np.iinfo, np.dtype, np.promote_types, np.issubdtype):
    _computed(_function, f"np.{_function.__name__}")
for _function in (math.comb, math.factorial, math.perm, math.prod):
    _computed(_function, f"math.{_function.__name__}")


@lowers(np.result_type)
def result_type(t: Translator, *values: Value) -> Value:
    """Arrays and numbers have a type, whatever they hold; Python's own numbers are of any."""

    def seen(value: Value) -> Any:
        if isinstance(value, Array | Scalar):
            return value.dtype.type(0).item() if value.weak else value.dtype
        return t.python(value)

    return wrapped(np.result_type(*map(seen, values)))


@lowers(np.isscalar)
def isscalar(t: Translator, element: Value) -> Value:
    return arith.constant(isinstance(element, Scalar))
