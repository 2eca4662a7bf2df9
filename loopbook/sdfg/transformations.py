"""What docc's transformations need besides a step's arguments, and what they made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import docc.sdfg as docc

from loopbook.program import expr
from loopbook.steps.hosts import Made


def stagings(scope: Any, data: str, direction: str, label: str) -> Made:
    """docc's ways to keep a part of an array in a local buffer while a loop runs.

    Args:
        scope: docc's loop object.
        data: what the program calls the array.
        direction: "in", "out" or "auto".
        label: name of the copying loops.
    """
    if _found_by_data(scope.body, data):
        return
    whole = _copies_whole_tiles(scope)
    for node in _accesses(scope.body, data):
        if direction == "out" and whole:
            yield docc.OutLocalStorage(scope, node), label
        elif direction == "in" and whole:
            yield docc.InLocalStorage(scope, node), label
        elif not _has_branch(scope.body):
            yield docc.LocalStorage(scope, node), label


def made_loop(transformation: Any) -> int | None:
    """Element id of the loop that a transformation says it made."""
    for attribute in ("outer_loop", "collapsed_loop", "fused_loop"):
        try:
            made = getattr(transformation, attribute, None)
        except RuntimeError:
            continue
        if made is not None:
            return made.element_id
    return None


def is_split(transformation: Any) -> bool:
    return isinstance(transformation, docc.LoopDistribute | docc.MapFusion)


def _copies_whole_tiles(scope: Any) -> bool:
    """Whether every loop inside `scope` runs its full constant tile.

    docc's InLocalStorage and OutLocalStorage copy a tile without looking at where the array ends
    (seen with 0.8.1: rows past the end are read and written back). That is only right where a peel
    has split the incomplete tiles off; elsewhere LocalStorage, which guards its copies, is used.
    """
    return not _has_branch(scope.body) and not any(
        "And" in getattr(loop, "condition", "") for loop in _loops(scope.body)
    )


def _elements(element: Any) -> Iterator[Any]:
    """All control-flow elements below a sequence, in program order."""
    for child in element.children():
        yield child
        if isinstance(child, docc.IfElse):
            for case in child.cases():
                yield from _elements(case)
        elif hasattr(child, "body"):
            yield from _elements(child.body)


def _loops(sequence: Any) -> Iterator[Any]:
    return (e for e in _elements(sequence) if hasattr(e, "body"))


def _has_branch(sequence: Any) -> bool:
    return any(isinstance(e, docc.IfElse) for e in _elements(sequence))


def _found_by_data(sequence: Any, data: str) -> bool:
    """Whether indices of container `data` are computed inside, as in ``A[P[i]]``.

    docc takes such an index for one that does not change and copies a single element (seen with
    0.8.1: the program reads outside of its buffer).
    """
    written = {
        assigned
        for element in _elements(sequence)
        if isinstance(element, docc.AssignmentBlock)
        for assigned in map(str, element.assignments)
    }
    indices: set[str] = set()
    for dataflow in _dataflows(sequence):
        written |= {node.data for node in dataflow.data_nodes if dataflow.in_degree(node)}
        for edge in dataflow.edges:
            if data in (getattr(edge.src, "data", ""), getattr(edge.dst, "data", "")):
                indices |= set(expr.symbols(" ".join(map(str, edge.subset))))
    return not written.isdisjoint(indices)


def _dataflows(sequence: Any) -> Iterator[Any]:
    return (e.dataflow for e in _elements(sequence) if isinstance(e, docc.Block))


def _accesses(sequence: Any, data: str) -> Iterator[Any]:
    """Access nodes of container `data` below `sequence`."""
    return (node for flow in _dataflows(sequence) for node in flow.data_nodes if node.data == data)
