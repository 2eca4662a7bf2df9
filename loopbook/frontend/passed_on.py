"""Lists that are appended to by functions that they are passed to.

Before::

    def add(found, v):
        found.append(v)

    found = []
    add(found, x[0])

After: a list that grows, as if the call stood there as what the function does.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any

from loopbook.errors import LoweringError
from loopbook.frontend import lists
from loopbook.frontend.inline import Local, names_of, parsed
from loopbook.frontend.values import Thing
from loopbook.syntax import returns, walk

if TYPE_CHECKING:
    from loopbook.frontend.translate import Translator


def is_passed_on(t: Translator, name: str, rest: Sequence[ast.stmt]) -> bool:
    """Whether a list is appended to by a function that is called among `rest`."""
    calls = (n for s in rest for n in walk(s) if isinstance(n, ast.Call))
    return any(_appended_by(t, call, name) for call in calls)


def is_surely_appended(t: Translator, name: str, rest: Sequence[ast.stmt]) -> bool:
    """Whether all that is appended to a list among `rest` is, whatever the data are, by functions
    that are called there as well (`loopbook.frontend.lists.is_sure`)."""
    calls = [n for s in rest for n in walk(s) if isinstance(n, ast.Call)]
    passing = {id(call): found for call in calls if (found := _appended_by(t, call, name))}
    return lists.is_sure(name, rest, lambda node: id(node) in passing) and all(
        lists.is_sure(one, body)
        and not any(map(returns, body[:-1]))
        and not any(_is_given(inner, one) for node in body for inner in walk(node))
        for found in passing.values()
        for one, body in found
    )


def _is_given(node: ast.AST, name: str) -> bool:
    """Whether something is a call with a list among its arguments."""
    args = node.args if isinstance(node, ast.Call) else []
    return any(isinstance(arg, ast.Name) and arg.id == name for arg in args)


def _appended_by(t: Translator, call: ast.Call, name: str) -> list[tuple[str, Sequence[ast.stmt]]]:
    """The names that a function has for a list that it appends to, with its statements."""
    if not isinstance(call.func, ast.Name):
        return []
    found = t.frame.env.get(call.func.id, t.frame.names.get(call.func.id))
    return _appended_in(found, call, name, ())


def _appended_in(
    function: Any, call: ast.Call, name: str, within: tuple[Any, ...]
) -> list[tuple[str, Sequence[ast.stmt]]]:
    function = function.value if isinstance(function, Thing) else function
    places = [n for n, a in enumerate(call.args) if isinstance(a, ast.Name) and a.id == name]
    if not places or any(function is one for one in within):
        return []
    known: Mapping[str, Any] = {}
    if isinstance(function, Local) and isinstance(function.node, ast.FunctionDef):
        node, known = function.node, {**function.frame.names, **function.frame.env}
    elif isinstance(function, FunctionType):
        try:
            node, known = parsed(function), names_of(function)
        except LoweringError:
            return []
    else:
        return []
    names = [one.arg for one in (*node.args.posonlyargs, *node.args.args)]
    own = {names[place] for place in places if place < len(names)}
    calls = [n for n in walk(node) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
    return [
        (one, node.body)
        for one in sorted(own)
        if any(lists.appends(inner, one) for inner in walk(node))
        or any(_appended_in(known.get(n.func.id), n, one, (*within, function)) for n in calls)
    ]
