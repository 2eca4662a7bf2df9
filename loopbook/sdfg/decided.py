"""Comparisons that a NaN takes part in, decided as Python decides them.

docc writes the result of a comparison as two branches of which a NaN takes neither, so that the
flag stays what it was by chance, and clang takes it to be true::

    if (x < y) flag = 1; else if (y <= x) flag = 0;    becomes    flag = 0; if (x < y) flag = 1;

That is done last, to what is served: all steps, and what the book knows, see docc's own form. Of
``min`` and ``max`` see `loopbook.toolchain.compiler`.
"""

from __future__ import annotations

from typing import Any

from loopbook.sdfg.names import mentioned
from loopbook.sdfg.rewrites.document import elements

Json = dict[str, Any]


def decide(document: Json) -> bool:
    """Give flags in a finished SDFG's document a value in any case; loops keep their element ids.

    Returns:
        Whether there are such flags.
    """
    changed = False
    for element in elements(document["root"]):
        children = element.get("children")
        if children is not None:
            made = [part for child in children for part in _decided(child)]
            changed |= len(made) > len(children)
            element["children"] = made
    return changed


def _decided(element: Json) -> list[Json]:
    """A choice of a flag as a value and a choice of another one; anything else as it is."""
    branches = element.get("branches") or ()
    if element.get("type") != "if_else" or len(branches) != 2:
        return [element]
    flags = [_flag(branch["root"]["children"]) for branch in branches]
    if None in flags or flags[0][0] != flags[1][0] or [f[1] for f in flags] != ["1", "0"]:
        return [element]
    if mentioned([branch["condition"] for branch in branches], {flags[0][0]}):
        return [element]
    (otherwise,) = branches[1]["root"]["children"]
    return [otherwise, element | {"branches": [branches[0]]}]


def _flag(children: list[Json]) -> Any:
    """What a branch gives a value, and which, if it does nothing else."""
    if len(children) != 1 or len(children[0].get("assignments", ())) != 1:
        return None
    only = children[0]["assignments"][0]
    return str(only["symbol"]), str(only["expression"])
