"""Scalars that a loop carries from one iteration to the next, and docc loses."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from typing import Any

from docc.sdfg import StructuredSDFG, TargetOptions

from loopbook.sdfg.known_wrong.source import Source

Json = dict[str, Any]


def check(source: Source, text: str) -> None:
    """Refuse sums that docc's simplification takes for their first value.

    Before: ``s = 0.0``, and in a loop ``y[j] += …``, then ``s += …``. docc: ``s = 0.0 + …``. Which
    sums it loses is seen in what it makes of them: the loop writes the variable, and no longer
    reads it.

    Args:
        text: the function's SDFG, as docc's front end makes it.
    """
    carried = dict(_carried(source.body))
    if not carried:
        return
    before = set(_accesses(json.loads(text)["root"], ()))
    suspects = {
        (loop, name)
        for loop, name, read in before
        if read and name in carried and (loop, name, False) in before
    }
    if not suspects:
        return
    sdfg = StructuredSDFG.parse(text)
    options = TargetOptions("none", "server")
    options.enable_fusion_in_normalize = False
    try:
        sdfg.expand(options)
        sdfg.simplify(options)
    except (RuntimeError, IndexError, ValueError):
        return  # whoever goes on with it says so
    after = set(_accesses(json.loads(sdfg.to_json())["root"], ()))
    for loop, name in sorted(suspects):
        if (loop, name, False) in after and (loop, name, True) not in after:
            source.refuse(
                carried[name],
                f"loses what '{name}' had in the iteration before",
                "sum in a loop of its own",
            )


def _carried(body: list[ast.stmt], inside: bool = False) -> Iterator[tuple[str, ast.AST]]:
    """Scalars that loops update with what they were, and where."""
    for statement in body:
        if inside and isinstance(statement, ast.AugAssign):
            if isinstance(statement.target, ast.Name):
                yield statement.target.id, statement
        elif inside and isinstance(statement, ast.Assign):
            target = statement.targets[0]
            reads = {n.id for n in ast.walk(statement.value) if isinstance(n, ast.Name)}
            if isinstance(target, ast.Name) and target.id in reads:
                yield target.id, statement
        loop = isinstance(statement, ast.For | ast.While)
        for block in ("body", "orelse"):
            yield from _carried(getattr(statement, block, []), inside or loop)


def _accesses(element: Json, loops: tuple[int, ...]) -> Iterator[tuple[int, str, bool]]:
    """Containers that loops (by element id) read (true) or write (false)."""
    flow = element.get("dataflow") or {}
    nodes = {node["element_id"]: node for node in flow.get("nodes", ())}
    for edge in flow.get("edges", ()):
        for end, read in (("src", True), ("dst", False)):
            node = nodes[edge[end]]
            if node["type"] == "access_node":
                yield from ((loop, node["data"], read) for loop in loops)
    for key in ("condition", "init", "update"):
        for word in re.findall(r"\w+", str(element.get(key, ""))):
            yield from ((loop, word, True) for loop in loops)
    if "indvar" in element or element.get("type") == "while":
        loops = (*loops, element["element_id"])
    for key in ("root", "children", "branches"):
        inner = element.get(key)
        for child in inner if isinstance(inner, list) else [inner] if inner else ():
            yield from _accesses(child, loops)
