"""Workloads as people name them in Python: a name, a path, a function with its arguments."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from loopbook.errors import InputError
from loopbook.workloads import arrays, polybench, synthetic
from loopbook.workloads.families import ARRAYS, OTHER, POLYBENCH, family_of
from loopbook.workloads.workload import Workload, load_workload

USUAL_PRESETS = ("M", "MEDIUM", "S", "SMALL")

GIVEN = "given"
"""The preset of a function that came with its arguments."""


def usual_preset(parameters: Mapping[str, Any]) -> str:
    """A size that is quick but not tiny."""
    return next((p for p in USUAL_PRESETS if p in parameters), next(iter(parameters)))


def known(name: str) -> Workload | None:
    """The PolyBench kernel or the made program of this name, if there is one."""
    family = family_of(name)
    if family == POLYBENCH:
        return polybench.load(name)
    if family == OTHER or Path(name).exists():
        return None
    return arrays.load(name) if family == ARRAYS else synthetic.load(name)


def workload_of(
    program: Workload | str | Path | Callable[..., Any], arguments: Sequence[Any] = ()
) -> Workload:
    """The workload that is meant. A file is **run**, as importing it would.

    Args:
        program: a workload; a workload file (``FILE.py`` or ``FILE.py:FUNC``); the name of a
            PolyBench kernel or made program; a function, decorated or not.
        arguments: of a function. They are copied for each use.

    Raises:
        InputError: it is none of these.
        WorkloadError: the file is no workload.
    """
    if callable(program):
        return _called(program, arguments)
    if arguments:
        raise InputError("arguments are for a function; a workload makes its own, so name a preset")
    if isinstance(program, Workload):
        return program
    if isinstance(program, str) and (found := known(program)) is not None:
        return found
    if isinstance(program, str | Path) and ".py" in Path(program).name:
        return load_workload(program)
    raise InputError(
        f"{str(program)[:80]!r} is neither FILE.py, the name of a kernel, a workload nor a function"
    )


def plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as it was written, through decorators such as ``native``."""
    return inspect.unwrap(getattr(function, "func", function))


def _called(function: Callable[..., Any], arguments: Sequence[Any]) -> Workload:
    kernel = plain(function)
    name = getattr(kernel, "__name__", "function")
    try:
        bound = inspect.signature(kernel).bind(*arguments)
    except TypeError as error:
        raise InputError(f"{name}(): {error}; give it its arguments") from None
    bound.apply_defaults()
    values = dict(bound.arguments)
    return Workload(
        name=name,
        path=Path(inspect.getsourcefile(kernel) or name),
        parameters={GIVEN: {}},
        kernel=kernel,
        initialize=lambda: copy.deepcopy(values),
    )
