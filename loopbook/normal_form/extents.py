"""How many elements the arrays have that a program works on.

docc's programs are given addresses. How much lies there is known where Python calls them: it is
noted in the program's metadata, for each array the sizes of its dimensions by docc's names::

    {"A": ["_s0", "_s1"], "x": ["_s1"]}

Of memory that the program allocates itself, the size is in the call.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from loopbook.errors import SdfgError
from loopbook.program import expr, walk
from loopbook.program.dataflow import AccessNode, Block, LibraryNode
from loopbook.program.expr import Expr, Polynomial
from loopbook.program.extent_names import extent_names
from loopbook.program.local import in_known_sizes
from loopbook.program.tree import Program
from loopbook.program.types import BYTES

EXTENTS = "loopbook_extents"
"""The key in a program's metadata."""


def noted(document: dict[str, Any], args: Sequence[Any]) -> None:
    """Note in a program's JSON how large the arrays are that it is given.

    Args:
        args: what it was made for, in the order of its arguments.
    """
    names = extent_names(value.shape for value in args if isinstance(value, np.ndarray))
    found: dict[str, list[str]] = {}
    for name, value in zip(document["arguments"], args, strict=False):
        if isinstance(value, np.ndarray) and value.flags["C_CONTIGUOUS"]:
            found[name] = ["1" if size == 1 else names[size] for size in value.shape]
    if found:
        document["metadata"][EXTENTS] = json.dumps(found)


def extents(program: Program) -> dict[str, Polynomial]:
    """The number of elements of each array for which it is known."""
    text = program.extra.value.get("metadata", {}).get(EXTENTS)
    given: Mapping[str, list[str]] = json.loads(text) if isinstance(text, str) else {}
    found = {
        name: Expr(in_known_sizes(program, "*".join(f"({size})" for size in sizes) or "1"))
        for name, sizes in given.items()
        if name in program.arguments
    }
    return {name: size.polynomial for name, size in found.items()} | _allocated(program)


def _allocated(program: Program) -> dict[str, Polynomial]:
    """Of memory that is allocated once, in no loop."""
    sizes: dict[str, list[Polynomial]] = {}
    for node, loops in walk.with_loops(program):
        if not isinstance(node, Block):
            continue
        for memlet in node.memlets:
            call, target = node.nodes[memlet.source], node.nodes[memlet.target]
            if not isinstance(target, AccessNode):
                continue
            if isinstance(call, LibraryNode) and call.code == "Malloc":
                each = BYTES.get(program.containers[target.container].element, 0)
                size = {} if loops else _elements(call, each)
                sizes.setdefault(target.container, []).append(size)
            elif memlet.target_connector == "ref":
                sizes.setdefault(target.container, []).append({})
    return {name: found[0] for name, found in sizes.items() if len(found) == 1 and found[0]}


def _elements(call: LibraryNode, each: int) -> Polynomial:
    """How many elements of so many bytes an allocation is of; nothing if that is not known."""
    try:
        size = expr.polynomial(str(call.fields.value["size"]))
    except (KeyError, SdfgError):
        return {}
    if not each or any(factor % each for factor in size.values()):
        return {}
    return {monomial: factor // each for monomial, factor in size.items()}
