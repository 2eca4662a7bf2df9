"""How `pad` is done: what shows that the additional iterations meet nothing that others use."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from loopbook.errors import IllegalStepError
from loopbook.program import expr
from loopbook.program.nest import Access, Loop, Nest
from loopbook.sdfg.looptree import private_scalars
from loopbook.sdfg.names import rename
from loopbook.sdfg.rewrites.document import Draft, lower_bounds, render, rewriting, upper_bounds
from loopbook.sdfg.rewrites.scalars import check_unused_outside, home, written_scalars
from loopbook.steps.pad import Pad

_ARITHMETIC = ("assign", "fp_")
"""How operations begin that may be given any numbers."""

_BOXED = "__daisy_local_storage"
"""How docc calls buffers of which it copies the smallest box around all points that are used."""


@rewriting(Pad)
def pad(draft: Draft, loops: Sequence[int], numbers: Sequence[int]) -> None:
    """Let a loop over the points of a tile run through the whole tile, past the array's end.

    Legal if the additional iterations meet nothing that others use: every array indexed by the loop
    is a local buffer with room for the tile, in which each iteration has a place of its own;
    nothing else is written, but scalars that each iteration sets before it reads them.

    Raises:
        IllegalStepError: one of this is not known to hold, or the loop has only its tile's bound.
    """
    nest, loop = draft.nest_with(loops[0])
    size, start, bound = _tile(loop)
    inside = [other for other in nest.loops if loop in nest.ancestry(other.index)]
    for other in inside[1:]:
        if loop.indvar in expr.symbols(f"{other.init} {other.condition}"):
            raise IllegalStepError(
                f"the bounds of {draft.names.get(other.element_id)} depend on it"
            )
    blocks = {b.index for b in nest.blocks if loop in nest.ancestry(b.parent)}
    around = len(nest.ancestry(loop.index))
    for block in blocks:
        guards = [nest.branches[guard] for guard in nest.blocks[block].guards]
        if any(len(nest.ancestry(guard.parent)) >= around for guard in guards):
            raise IllegalStepError("there is a branch in it")
    for operation in nest.operations:
        if operation.block in blocks and not operation.op.startswith(_ARITHMETIC):
            raise IllegalStepError(f"more than arithmetic is done in it: {operation.op}")
    for access in nest.accesses:
        if access.block in blocks:
            _check(draft, nest, loop, access, (size, start))
    scalars = written_scalars(nest, loop)
    for data, accesses in scalars.items():
        if home(nest, accesses) not in inside:
            raise IllegalStepError(f"{data} may carry a value between iterations")
    element = draft.element(loops[0])
    check_unused_outside(draft.document, element, set(scalars) - private_scalars(draft.document))
    if any(nest.containers[a.container].data == loop.indvar for a in nest.accesses):
        element["init"], element["condition"] = start, f"({loop.indvar} < {bound})"
        return
    # From zero, so that the compiler sees the trip count wherever the tile comes from: in the
    # body of an OpenMP loop clang cannot tell that `start + size` does not overflow.
    rename(element["root"], {loop.indvar: f"({start} + {loop.indvar})"})
    element["init"], element["condition"] = "0", f"({loop.indvar} < {size})"


def _tile(loop: Loop) -> tuple[int, str, str]:
    """Trip count of the full tile, and where it begins and ends."""
    starts, bounds = lower_bounds(loop), upper_bounds(loop)
    for start, bound in product(starts, bounds):
        trip = expr.polynomial(f"{render(bound)} - {render(start)}")
        limited = len(starts) + len(bounds) > 2
        if loop.step == 1 and limited and set(trip) == {()} and trip[()] > 0:
            return trip[()], render(start), render(bound)
    raise IllegalStepError("the loop has no bound but its tile's, or no tile")


def _check(draft: Draft, nest: Nest, loop: Loop, access: Access, tile: tuple[int, str]) -> None:
    """Refuse an access that an iteration beyond the array's end must not make.

    Args:
        tile: of how many iterations the full tile is, and where it begins.
    """
    size, start = tile
    container = nest.containers[access.container]
    if not container.is_array:
        return
    own = [n for n, text in enumerate(access.subset) if loop.indvar in expr.symbols(text)]
    if not own:
        if access.write:
            raise IllegalStepError(f"all iterations write the same elements of {container.data}")
        return
    extents = _extents(draft.document, container.data)
    if len(own) != 1 or len(extents) != len(access.subset):
        raise IllegalStepError(f"{container.data} is no local buffer")
    if access.write and container.data.startswith(_BOXED) and not _rectangular(nest, loop):
        raise IllegalStepError(
            f"more than the tile's own points of {container.data} is copied back"
        )
    index = expr.polynomial(f"{access.subset[own[0]]} - {loop.indvar} + {start}")
    if index or extents[own[0]] < size:
        raise IllegalStepError(f"the buffer {container.data} does not hold one tile")


def _rectangular(nest: Nest, loop: Loop) -> bool:
    """Whether no loop through points of a tile around `loop` sets where it begins or ends."""
    points = {o.indvar for o in nest.ancestry(loop.parent) if o.step == 1}
    return points.isdisjoint(expr.symbols(f"{loop.init} {loop.condition}"))


def _extents(document: dict[str, Any], data: str) -> list[int]:
    """Constant extents of a local buffer; empty for anything else."""
    kind = document["containers"].get(data, {})
    extents = []
    while kind.get("type") == "array" and str(kind["num_elements"]).isdigit():
        extents.append(int(kind["num_elements"]))
        kind = kind["element_type"]
    return extents if kind.get("type") == "scalar" and data not in document["arguments"] else []
