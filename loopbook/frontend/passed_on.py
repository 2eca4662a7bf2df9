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
from loopbook.syntax import walk

if TYPE_CHECKING:
    from loopbook.frontend.translate import Translator


def is_passed_on(t: Translator, name: str, rest: Sequence[ast.stmt]) -> bool:
    """Whether a list is appended to by a function that is called among `rest`."""
    calls = (n for s in rest for n in walk(s) if isinstance(n, ast.Call))
    return any(_appended_by(t, call, name) for call in calls)


def _appended_by(t: Translator, call: ast.Call, name: str) -> bool:
    places = [n for n, a in enumerate(call.args) if isinstance(a, ast.Name) and a.id == name]
    if not places or not isinstance(call.func, ast.Name):
        return False
    found = t.frame.env.get(call.func.id, t.frame.names.get(call.func.id))
    found = found.value if isinstance(found, Thing) else found
    if isinstance(found, Local) and isinstance(found.node, ast.FunctionDef):
        node = found.node
    elif isinstance(found, FunctionType):
        try:
            node = parsed(found)
        except LoweringError:
            return False
    else:
        return False
    names = [one.arg for one in (*node.args.posonlyargs, *node.args.args)]
    own = {names[place] for place in places if place < len(names)}
    return any(lists.appends(inner, one) for inner in walk(node) for one in own)
