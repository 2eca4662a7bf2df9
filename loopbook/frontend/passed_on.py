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
from collections.abc import Sequence
from types import FunctionType
from typing import TYPE_CHECKING

from loopbook.errors import LoweringError
from loopbook.frontend import lists
from loopbook.frontend.inline import Local, parsed
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
        lists.is_sure(one, body) and not any(map(returns, body[:-1]))
        for found in passing.values()
        for one, body in found
    )


def _appended_by(t: Translator, call: ast.Call, name: str) -> list[tuple[str, Sequence[ast.stmt]]]:
    """The names that a function has for a list that it appends to, with its statements."""
    places = [n for n, a in enumerate(call.args) if isinstance(a, ast.Name) and a.id == name]
    if not places or not isinstance(call.func, ast.Name):
        return []
    found = t.frame.env.get(call.func.id, t.frame.names.get(call.func.id))
    found = found.value if isinstance(found, Thing) else found
    if isinstance(found, Local) and isinstance(found.node, ast.FunctionDef):
        node = found.node
    elif isinstance(found, FunctionType):
        try:
            node = parsed(found)
        except LoweringError:
            return []
    else:
        return []
    names = [one.arg for one in (*node.args.posonlyargs, *node.args.args)]
    own = {names[place] for place in places if place < len(names)}
    return [
        (one, node.body)
        for one in sorted(own)
        if any(lists.appends(inner, one) for inner in walk(node))
    ]
