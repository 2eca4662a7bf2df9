"""The first call of a variant, compared with Python's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from loopbook.client.variants.case import Case
from loopbook.errors import LoopbookError, WrongResultError
from loopbook.toolchain.run import compare

Run = Callable[[Case], Any]


def check(
    func: Callable[..., Any], case: Case, run: Run, plain: Callable[[], Run]
) -> tuple[Any, str]:
    """Run a call compiled, and as Python on copies of its arguments.

    Args:
        run: compiled code.
        plain: builds docc's code without any optimisation, to see who is wrong.

    Returns:
        What the call returns, and how compiled code was wrong; nothing where it was right. Where
        it was wrong, the arguments have been given Python's values.
    """
    names = case.names
    before, mine = _copies(case), _copies(case)
    answer = run(case)
    error: Exception | None = None
    expected = None
    try:
        expected = func(*mine)
    except Exception as raised:  # where Python raises, compiled code has run past it
        error = raised
    if error is None:
        wrong = _difference([*case.args, answer], [*mine, expected])
        if not wrong:
            return answer, ""
    else:
        wrong = f"Python raises {type(error).__name__}"
    who = "" if error else _blame(Case(names, before), plain, [*mine, expected])
    for place in case.arrays:
        if case.args[place].flags.writeable:
            np.copyto(case.args[place], mine[place])
    if error is not None:
        raise error
    return expected, f"{wrong}{who}"


def _copies(case: Case) -> list[Any]:
    """The arguments anew; what was one array stays one."""
    copies: list[Any] = []
    for value, one in zip(case.args, case.first, strict=True):
        if one != len(copies):
            copies.append(copies[one])
        else:
            copies.append(value.copy() if isinstance(value, np.ndarray) else value)
    return copies


def _blame(case: Case, plain: Callable[[], Run], expected: Sequence[Any]) -> str:
    try:
        answer = plain()(case)
    except LoopbookError as error:
        return f"; docc's own code cannot be had to compare with: {error}"
    if _difference([*case.args, answer], expected):
        return "; docc is wrong here: its unoptimised code is too"
    return "; docc's unoptimised code is right, so this is a mistake of its or our schedule"


def _difference(got: Sequence[Any], want: Sequence[Any]) -> str:
    try:
        compare(_flat(got), _flat(want))
    except WrongResultError as error:
        return str(error).replace("the unoptimised program's", "Python's")
    return ""


def _flat(values: Any) -> list[np.ndarray]:
    if isinstance(values, dict):
        return _flat(list(values.values()))
    if isinstance(values, (tuple, list)):
        return [array for value in values for array in _flat(value)]
    return [] if values is None else [np.asarray(values)]
