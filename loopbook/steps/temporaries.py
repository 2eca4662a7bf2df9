"""Arrays that a program has for itself, and what it does with them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from loopbook.errors import LoopbookError
from loopbook.program import walk
from loopbook.program.accesses import (
    Access,
    Part,
    counted,
    own_accesses,
    own_names,
    own_symbols,
    written,
)
from loopbook.program.dataflow import Allocation, Block, LibraryCall, Reference
from loopbook.program.expr import Expr
from loopbook.program.local import local_arrays
from loopbook.program.tree import Jump, Loop, Opaque, Program
from loopbook.program.types import Pointer, Scalar
from loopbook.program.walk import Path
from loopbook.steps.editor import BYTES


@dataclass
class Temporary:
    """An array that is allocated in the program, in one place, or that is local to a call, and
    that no pointer goes to.

    Attributes:
        size: in bytes.
        allocated: where; None: by who calls the program.
        freed: where; more than once if branches do.
        uses: where else it stands, in the program's order.
    """

    container: str
    element: Scalar
    size: Expr
    allocated: Path | None
    freed: list[Path] = field(default_factory=list)
    uses: list[Path] = field(default_factory=list)


def temporaries(program: Program) -> dict[str, Temporary]:
    """The temporaries of a program by their names."""
    found = _local(program)
    refused = set(program.public) - found.keys()
    for path, node in walk.places(program):
        refused |= own_symbols(node) if not isinstance(node, Block) else set()
        if isinstance(node, Opaque | Jump | Reference):
            refused |= own_names(node)
        elif isinstance(node, Allocation):
            _allocation(program, found, refused, path, node)
        elif isinstance(node, Block):
            for name in dict.fromkeys(access.container for access in own_accesses(node)):
                if name in found:
                    found[name].uses.append(path)
                else:  # it is used before it is allocated, or is no temporary
                    refused.add(name)
            refused |= {s for m in node.memlets for index in m.subset for s in index.symbols}
    return {
        name: one
        for name, one in found.items()
        if name not in refused and (one.allocated is not None or one.uses)
    }


def _local(program: Program) -> dict[str, Temporary]:
    found: dict[str, Temporary] = {}
    for name, shape in local_arrays(program).items():
        kind = program.containers[name]
        if isinstance(kind, Pointer) and isinstance(kind.to, Scalar) and kind.to.dtype in BYTES:
            parts = [str(BYTES[kind.to.dtype]), *(f"({size.text})" for size in shape)]
            found[name] = Temporary(name, kind.to, Expr("*".join(parts)), None)
    return found


def _allocation(
    program: Program, found: dict[str, Temporary], refused: set[str], path: Path, node: Allocation
) -> None:
    names = {access.container for access in own_accesses(node)}
    if len(names) != 1:
        refused |= names
        return
    (name,) = names
    kind = program.containers[name]
    if node.call.code == "Free" and name in found:
        found[name].freed.append(path)
    elif (
        node.call.code == "Malloc"
        and name not in found
        and isinstance(kind, Pointer)
        and isinstance(kind.to, Scalar)
        and isinstance(size := node.call.fields.value.get("size"), str)
    ):
        found[name] = Temporary(name, kind.to, Expr(size), path)
    else:
        refused.add(name)


def without_each(program: Program, change: Callable[[Program, Temporary], Program]) -> Program:
    """The program after a change for each of its temporaries that allows it, one after the other:
    what one leaves may let another one go.

    Args:
        change: gives the program without a temporary, or raises `LoopbookError` if it has to stay.
    """
    refused: set[str] = set()
    while True:
        for name, temporary in temporaries(program).items():
            if name in refused:
                continue
            try:
                program = change(program, temporary)
                break
            except LoopbookError:
                refused.add(name)
        else:
            return program


def changed_each(program: Program, change: Callable[[Program, Temporary], Program]) -> Program:
    """The program after a change for each of its temporaries that allows it, in order.

    Args:
        change: gives the program with a temporary changed, or raises `LoopbookError` if it has to
            stay as it is.
    """
    for name in temporaries(program):
        with contextlib.suppress(LoopbookError):
            program = change(program, temporaries(program)[name])
    return program


def changed(node: Part) -> frozenset[str]:
    """Whatever may have another value after a node: what it writes, counts, and hands to calls."""
    handed = (
        own_names(inner)
        for inner in walk.preorder(node)
        if isinstance(inner, LibraryCall | Reference | Opaque)
    )
    return (written(node) | counted(node)).union(*handed)


def accesses_of(node: Part, container: str) -> Iterator[Access]:
    """What happens to a container below a node."""
    for inner in walk.preorder(node):
        for access in own_accesses(inner):
            if access.container == container:
                yield access


def has_calls(node: Part, container: str) -> bool:
    """Whether a library gets a container below a node."""
    return any(
        isinstance(inner, LibraryCall)
        and any(a.container == container for a in own_accesses(inner))
        for inner in walk.preorder(node)
    )


def without(
    program: Program, temporary: Temporary, above: Path, changes: Mapping[int, walk.Inner | None]
) -> Program:
    """The program without a temporary's memory, and with other nodes beside each other.

    Args:
        above: where the nodes are that change.
        changes: what stands in the place of each of them, by its number; None: nothing.
    """
    gone = [] if temporary.allocated is None else [temporary.allocated, *temporary.freed]
    for number, node in changes.items():
        if node is None:
            gone.append((*above, number))
        else:
            program = walk.replaced(program, (*above, number), node)
    for path in sorted(set(gone), reverse=True):
        program = walk.replaced(program, path)
    return program


def with_sums_in(program: Program, old: str, new: str) -> Program:
    """The program with loops that sum up in another container."""

    def change(node: walk.Inner) -> walk.Inner:
        if not isinstance(node, Loop) or all(r.container != old for r in node.reductions or ()):
            return node
        sums = (
            replace(r, container=new) if r.container == old else r for r in node.reductions or ()
        )
        return replace(node, reductions=tuple(sums))

    return walk.rebuilt(program, change)


def parent(paths: Iterable[Path]) -> Path:
    """The innermost place that some places are in."""
    shared: Path | None = None
    for path in paths:
        above = path[:-1]
        if shared is None:
            shared = above
        while shared != above[: len(shared)]:
            shared = shared[:-1]
    return shared or ()
