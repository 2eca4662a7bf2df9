"""What a function demands of its arguments becomes a condition for compiled code.

Before::

    if steps <= 0:                        assert A.shape[0] > 2
        raise ValueError("no steps")
    if verbose:
        print(steps)

After: nothing in the loops. Calls for which the condition is not met run as Python, which raises.
So do those that return None where the function gives numbers otherwise.

What is computed is looked at where it is: ``if total == 0: raise ...`` notes that it happened, and
the call is made again as Python, with the arguments as they were.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from loopbook.frontend import arith
from loopbook.frontend.code import Code, bare
from loopbook.frontend.returns import LEFT, RETURNED
from loopbook.frontend.values import Array, Scalar

if TYPE_CHECKING:
    from loopbook.frontend.translate import Translator

_SHAPES = re.compile(r"\b(\w+)\.shape\[\d+\]")
_WORDS = re.compile(r"[A-Za-z_]\w*")
_OWN = {"and", "or", "not", "True", "False", "float", "int"}

TELLING = ("print", "warnings.warn", "warn", "sys.stdout.write", "sys.stdout.flush")
"""Functions that tell somebody something, and give nothing."""

LOGGERS = ("logging", "logger", "log", "LOGGER", "LOG", "_logger")


def only_raises(node: ast.If) -> bool:
    """Whether a branch is there to refuse arguments."""
    *others, last = node.body
    return not node.orelse and isinstance(last, ast.Raise) and all(map(_tells, others))


def only_tells(node: ast.If) -> bool:
    """Whether a branch does nothing but print."""
    return not node.orelse and all(map(_tells, node.body))


def gives_none(body: Sequence[ast.stmt]) -> bool:
    """Whether a branch is there to leave a function that gives results without one."""
    results = [s for s in body if isinstance(s, ast.Assign) and _assigns(s, RETURNED)]
    others = [s for s in body if s not in results and not isinstance(s, ast.Break)]
    return (
        len(results) == 1
        and isinstance(results[0].value, ast.Constant)
        and results[0].value.value is None
        and all(_assigns(s, LEFT) or _tells(s) for s in others)
    )


def _assigns(node: ast.stmt, name: str) -> bool:
    return isinstance(node, ast.Assign) and any(
        isinstance(target, ast.Name) and target.id == name for target in node.targets
    )


def _tells(node: ast.stmt) -> bool:
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        return False
    name = ast.unparse(node.value.func)
    return name in TELLING or name.partition(".")[0] in LOGGERS


def demand(code: Code, condition: Scalar, met: bool) -> None:
    """Take for granted that a condition is `met`, or is not.

    Raises:
        LoweringError: if it is of something else than numbers and sizes that are passed.
    """
    if not is_of_arguments(code, condition):
        raise code.fail("a check of what is computed; check before the call")
    wanted = condition if met else arith.unary(code, "not", condition)
    code.facts.guards[bare(wanted.text)] = None


def is_of_arguments(code: Code, condition: Scalar) -> bool:
    """Whether a condition is of numbers and sizes that are passed."""
    text = condition.text
    sizes = set(_SHAPES.findall(text))
    rest = _SHAPES.sub("1", text)
    words = set(_WORDS.findall(rest)) - _OWN
    return "[" not in rest and words | sizes <= code.arguments


def check(t: Translator, test: ast.expr, condition: Scalar, met: bool) -> None:
    """Where `condition` is not as it is supposed to be, Python raises."""
    code = t.code
    if is_of_arguments(code, condition):
        demand(code, condition, met)
        return
    raised(t, [test])
    wanted = condition if met else arith.unary(code, "not", condition)
    code.suppose(wanted.text, or_leave=code.leaving)


def raises(t: Translator) -> None:
    """Where this statement is come to, Python raises."""
    if t.code.is_first:
        raise t.code.fail("a call that raises")
    raised(t, t.frame.tests)
    t.code.suppose("False", or_leave=t.code.leaving)


def raised(t: Translator, tests: list[ast.expr]) -> None:
    """Note that Python may raise at this place, and what it is that decides.

    Compiled code goes on, and must do no harm: what was found out of whole numbers may be that they
    are no places in an array, and if some are used as such behind it, it ends instead. What is only
    a place in the test has been used as one there.
    """
    t.code.raises += 1
    if t.code.leaving:
        return
    for test in tests:
        for name in _looked_at(test):
            value = t.frame.env.get(name)
            if isinstance(value, Array | Scalar) and np.dtype(value.dtype).kind in "iub":
                t.code.checks_places = True


def _looked_at(node: ast.AST) -> Iterator[str]:
    """The names whose values a test is of, other than as places in arrays."""
    if isinstance(node, ast.Name):
        yield node.id
    parts = [node.value] if isinstance(node, ast.Subscript) else ast.iter_child_nodes(node)
    for part in parts:
        yield from _looked_at(part)


def silent(t: Translator, node: ast.If, condition: Scalar) -> None:
    """Leave out a branch that prints: calls in which it might run as Python.

    Raises:
        LoweringError: if what decides is not passed.
    """
    code = t.code
    if is_of_arguments(code, condition):
        demand(code, condition, met=False)
        return
    parts = node.test.values if isinstance(node.test, ast.BoolOp) else []
    if parts and isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.And):
        for part in parts:
            with code.captured() as lines:
                own = t.test(part)
            if not lines and own.value is None and is_of_arguments(code, own):
                demand(code, own, met=False)
                return
    raise code.fail("printing of what is computed; leave it to the caller, or to a flag")
