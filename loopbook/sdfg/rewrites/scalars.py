"""Which scalars of a loop each iteration has for itself."""

from __future__ import annotations

from typing import Any

from loopbook.errors import IllegalStepError
from loopbook.program import expr
from loopbook.program.nest import Access, Loop, Nest
from loopbook.sdfg.looptree import private_scalars
from loopbook.sdfg.rewrites.document import nests_of


def written_scalars(nest: Nest, loop: Loop) -> dict[str, list[Access]]:
    """Accesses, in program order, of every scalar that is written inside `loop`."""
    accesses: dict[int, list[Access]] = {}
    for access in nest.accesses:
        if loop in nest.ancestry(nest.blocks[access.block].parent):
            accesses.setdefault(access.container, []).append(access)
    return {
        nest.containers[number].data: found
        for number, found in accesses.items()
        if not nest.containers[number].is_array and any(access.write for access in found)
    }


def home(nest: Nest, accesses: list[Access]) -> Loop | None:
    """The innermost loop whose every iteration writes a scalar before it reads it.

    None where no such loop is found: then the scalar may carry a value between iterations.

    Args:
        accesses: all accesses of the scalar, in program order.
    """
    first = accesses[0]
    block = nest.blocks[first.block]
    if not first.write or block.guards or block.parent < 0:
        return None
    place = nest.loops[block.parent]
    inside = all(place in nest.ancestry(nest.blocks[a.block].parent) for a in accesses)
    return place if inside else None


def check_unused_outside(document: dict[str, Any], body: dict[str, Any], names: set[str]) -> None:
    """Refuse if the program may use what the loop `body` leaves in one of the scalars `names`.

    Other nests may use the same scalars if each of their iterations writes them before it reads;
    so may all statements, if each of them does.

    Raises:
        IllegalStepError: if so.
    """
    names = names - private_scalars(document)
    if not names:
        return
    ignored = [body["element_id"]]
    used = set(document["arguments"]) | set(document["externals"])
    for nest in nests_of(document, lambda loop: bool(names & _words(loop, frozenset()))):
        if body["element_id"] in [loop.element_id for loop in nest.loops]:
            continue
        ignored.append(nest.element_id)
        used |= _symbols_of(nest)
        for name, accesses in _scalars(nest).items():
            if home(nest, accesses) is None:
                used.add(name)
    used |= _words(document["root"], frozenset(ignored))
    if escaping := sorted(used & names):
        raise IllegalStepError(f"the program uses {escaping[0]} outside of the loop")


def _scalars(nest: Nest) -> dict[str, list[Access]]:
    """All accesses of each scalar of a nest, in program order."""
    found: dict[str, list[Access]] = {}
    for access in nest.accesses:
        container = nest.containers[access.container]
        if not container.is_array:
            found.setdefault(container.data, []).append(access)
    return found


def _symbols_of(nest: Nest) -> set[str]:
    """What indices, bounds and conditions of a nest mention, and what its loops count."""
    texts = [text for access in nest.accesses for text in access.subset]
    texts += [branch.condition for branch in nest.branches]
    for loop in nest.loops:
        texts += [loop.indvar, loop.init, loop.condition, loop.update]
    return {symbol for text in texts for symbol in expr.symbols(text)}


def _words(root: Any, ignored: frozenset[int]) -> set[str]:
    """All identifiers below an element, but not below those with the `ignored` element ids."""
    found: set[str] = set()
    waiting = [root]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if not ("indvar" in value and value["element_id"] in ignored):
                waiting += [inner for key, inner in value.items() if key != "debug_info"]
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, str):
            found.update(expr.symbols(value))
    return found
