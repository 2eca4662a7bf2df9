"""``math.log`` with a base.

Before::

    y = math.log(x, 10.0)

After, as Python has it::

    y = math.log(x) / math.log(10.0)
"""

from __future__ import annotations

import ast
import math

from loopbook.frontend.constructs import elementwise
from loopbook.frontend.operators import operate
from loopbook.frontend.registry import FUNCTIONS, lowers
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Value

_natural = FUNCTIONS[math.log]


@lowers(math.log)
def log(t: Translator, x: Value, base: Value | None = None) -> Value:
    found = _natural(t, x)
    return found if base is None else operate(t, ast.Div, found, _natural(t, base))


__all__ = ["elementwise", "log"]
