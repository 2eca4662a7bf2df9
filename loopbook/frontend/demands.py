"""What a function demands of its arguments becomes a condition for compiled code.

Before::

    if steps <= 0:                        assert A.shape[0] > 2
        raise ValueError("no steps")

After: nothing in the loops. Calls for which the condition is not met run as Python, which raises.
"""

from __future__ import annotations

import ast
import re

from loopbook.frontend import arith
from loopbook.frontend.code import Code, bare
from loopbook.frontend.values import Scalar

_SHAPES = re.compile(r"\b(\w+)\.shape\[\d+\]")
_WORDS = re.compile(r"[A-Za-z_]\w*")
_OWN = {"and", "or", "not", "True", "False", "float", "int"}


def only_raises(node: ast.If) -> bool:
    """Whether a branch is there to refuse arguments."""
    return not node.orelse and len(node.body) == 1 and isinstance(node.body[0], ast.Raise)


def demand(code: Code, condition: Scalar, met: bool) -> None:
    """Take for granted that a condition is `met`, or is not.

    Raises:
        LoweringError: if it is of something else than numbers and sizes that are passed.
    """
    text = condition.text
    sizes = set(_SHAPES.findall(text))
    rest = _SHAPES.sub("1", text)
    words = set(_WORDS.findall(rest)) - _OWN
    if "[" in rest or not words | sizes <= code.arguments:
        raise code.fail("a check of what is computed; check before the call")
    wanted = condition if met else arith.unary(code, "not", condition)
    code.facts.guards[bare(wanted.text)] = None
