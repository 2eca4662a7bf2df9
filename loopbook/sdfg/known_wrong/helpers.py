"""Functions that the function calls, and names that are not what docc takes them for."""

from __future__ import annotations

import ast
import builtins
import inspect
import math
from types import FunctionType

import numpy as np

from loopbook.sdfg.known_wrong.assignments import always_returns
from loopbook.sdfg.known_wrong.kinds import assigned
from loopbook.sdfg.known_wrong.loops import returns
from loopbook.sdfg.known_wrong.source import Source

OWN = {"np": np, "numpy": np, "math": math}
"""Modules that docc knows by these names, whatever they are."""

BUILTINS = ("min", "max", "int", "float", "bool", "range", "abs", "len")


def check(source: Source) -> None:
    """docc puts the body of a called function in the place of the call.

    A ``return`` inside a loop becomes an assignment after which the loop goes on; names of the
    callee that are globals of the caller are not kept apart; globals of the callee's own module
    are looked up in the caller's. Also, ``np``, ``math``, ``min`` and so on are what docc takes
    them for even where the program has given these names to something else. All that is refused.
    """
    local = {name for name, _ in assigned(source.body)} | set(source.parameters)
    for node in source.walk():
        if isinstance(node, ast.Name):
            _check_name(source, node, local)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            helper = source.names.get(node.func.id)
            if isinstance(helper, FunctionType) and node.func.id not in BUILTINS:
                _check_call(source, node, helper)
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            owner = node.value.id if isinstance(node.value, ast.Name) else ""
            if owner not in local and isinstance(source.names.get(owner), np.ndarray):
                source.refuse(
                    node,
                    f"writes to a copy of the global array '{owner}'",
                    "pass it as an argument",
                )


def called(source: Source) -> list[tuple[ast.Call, Source]]:
    """The calls of functions whose bodies docc puts in their place, and those functions."""
    found: list[tuple[ast.Call, Source]] = []
    for node in source.walk():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            helper = source.names.get(node.func.id)
            if isinstance(helper, FunctionType) and node.func.id not in BUILTINS:
                inner = Source.of(helper)
                if inner is not None:
                    found.append((node, inner))
    return found


def _check_name(source: Source, node: ast.Name, local: set[str]) -> None:
    name = node.id
    if name in OWN and name not in local and name in source.names:
        if source.names[name] is not OWN[name]:
            source.refuse(node, f"takes '{name}' for {OWN[name].__name__}", "use another name")
    elif name in BUILTINS and (
        name in local
        or source.names.get(name, getattr(builtins, name)) is not getattr(builtins, name)
    ):
        source.refuse(node, f"takes '{name}' for Python's own", "use another name")


def _check_call(source: Source, node: ast.Call, helper: FunctionType) -> None:
    name = node.func.id if isinstance(node.func, ast.Name) else helper.__name__
    inner = Source.of(helper)
    if inner is None or inspect.unwrap(helper) is not helper:
        source.refuse(node, f"cannot read '{name}'", "write it out in the loop")
    loops = [n for n in inner.walk() if isinstance(n, ast.For | ast.While)]
    if any(returns(loop.body) for loop in loops):
        source.refuse(
            node, f"goes on with the loop in '{name}' after its return", "write it out in the loop"
        )
    if any(isinstance(n, ast.Return) for n in inner.walk()) and not always_returns(inner.body):
        guarded = [n for n in inner.body if isinstance(n, ast.If)]
        if not guarded or not isinstance(inner.body[-1], ast.Return):
            source.refuse(node, f"misreads the returns of '{name}'", "return at its end")
    own = {n for n, _ in assigned(inner.body)} | set(inner.parameters)
    clash = sorted(own & set(source.names))
    if clash:
        source.refuse(
            node, f"mixes up '{clash[0]}' in '{name}' with a global", "rename it in that function"
        )
    for part in inner.walk():
        if not isinstance(part, ast.Name) or part.id in own:
            continue
        theirs = inner.names.get(part.id)
        if part.id in inner.names and source.names.get(part.id) is not theirs:
            source.refuse(
                node, f"looks '{part.id}' of '{name}' up in this module", "pass it as an argument"
            )
