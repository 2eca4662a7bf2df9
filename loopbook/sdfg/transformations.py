"""The steps that docc has a transformation for, and these transformations.

Each function here yields the transformations that may stand for a step, best first, with the name
that a loop made by it gets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import docc.sdfg as docc

from loopbook.sdfg import expr

Made = Iterator[tuple[Any, str]]


class Named(Protocol):
    """A nest whose loops and containers have names."""

    def loop(self, name: str) -> Any:
        """docc's loop object."""
        ...

    def container(self, name: str) -> str:
        """What the program calls an array."""
        ...


def tile(nest: Named, loop: str, size: int) -> Made:
    yield docc.LoopTiling(nest.loop(loop), int(size)), f"{loop}.tile"


def interchange(nest: Named, outer: str, inner: str) -> Made:
    yield docc.LoopInterchange(nest.loop(outer), nest.loop(inner)), outer


def skew(nest: Named, outer: str, inner: str, factor: int = 1) -> Made:
    yield docc.LoopSkewing(nest.loop(outer), nest.loop(inner), int(factor)), inner


def distribute(nest: Named, loop: str) -> Made:
    yield docc.LoopDistribute(nest.loop(loop)), f"{loop}.part"


def peel(nest: Named, loop: str, predicate: str = "") -> Made:
    yield docc.LoopPeeling(nest.loop(loop), predicate == "predicate"), f"{loop}.rest"


def fuse(nest: Named, first: str, second: str) -> Made:
    yield docc.MapFusion(nest.loop(first), nest.loop(second)), first


def collapse(nest: Named, loop: str, count: int) -> Made:
    yield docc.MapCollapse(nest.loop(loop), int(count)), f"{loop}.flat"


def fuse_tiles(nest: Named, first: str, second: str) -> Made:
    yield docc.TileFusion(nest.loop(first), nest.loop(second)), f"{first}.fused"


def vectorize(nest: Named, loop: str) -> Made:
    yield docc.VectorizeTransform(nest.loop(loop)), loop


def unroll(nest: Named, loop: str) -> Made:
    yield docc.UnrollTransform(nest.loop(loop)), loop


def parallel(nest: Named, loop: str) -> Made:
    yield docc.OMPTransform(nest.loop(loop)), loop


def stage(nest: Named, loop: str, container: str, way: str = "auto") -> Made:
    scope = nest.loop(loop)
    data = nest.container(container)
    label = f"{loop}.load"
    if _found_by_data(scope.body, data):
        return
    whole = _copies_whole_tiles(scope)
    for node in _accesses(scope.body, data):
        if way == "out" and whole:
            yield docc.OutLocalStorage(scope, node), label
        elif way == "in" and whole:
            yield docc.InLocalStorage(scope, node), label
        elif not _has_branch(scope.body):
            yield docc.LocalStorage(scope, node), label


TRANSFORMATIONS: dict[str, Callable[..., Made]] = {
    "tile": tile,
    "interchange": interchange,
    "skew": skew,
    "distribute": distribute,
    "peel": peel,
    "fuse": fuse,
    "collapse": collapse,
    "fuse_tiles": fuse_tiles,
    "stage": stage,
    "vectorize": vectorize,
    "unroll": unroll,
    "parallel": parallel,
}


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
