"""Dependences that docc overlooks.

docc 0.8 takes a loop for parallel although one iteration reads what a later one overwrites
(``B[i] = B[i + 1]``), or although all iterations add to the same elements (``s[j] += …`` in a loop
over ``i`` that computes something else as well). Its threads race then. `hazards` finds such loops
with a quick test of its own, so that they are not run in parallel. That test knows no bounds: of a
factorisation it suspects that ``A[1 + i + k, k]`` may be ``A[k, k]``. `confirmed` does; the loops
that it leaves may be reordered.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

from loopbook.errors import IllegalStepError, SdfgError
from loopbook.sdfg import expr
from loopbook.sdfg.dependence import carries_nothing
from loopbook.sdfg.looptree import LoopNode, Statement, read_header, touches
from loopbook.sdfg.nest import Access, Loop, Nest

Json = dict[str, Any]

Dimensions = Mapping[expr.Monomial, expr.Polynomial]
"""The symbols that multiply an index (its stride) to the index: ``i*N + j`` is two dimensions."""


def hazards(nest: Nest) -> frozenset[int]:
    """Indices of the loops that docc calls maps, but whose iterations may depend on their order."""
    return frozenset(
        loop.index
        for loop in nest.loops
        if loop.kind == "map" and (_is_left_early(nest, loop) or _may_carry(nest, loop))
    )


def confirmed(nest: Nest, suspects: Iterable[int]) -> frozenset[int]:
    """Those of some `hazards` of which the loops' bounds do not show either that all iterations
    touch different elements."""
    return frozenset(
        index
        for index in suspects
        if _is_left_early(nest, nest.loops[index]) or not _is_independent(nest, nest.loops[index])
    )


def unordered(nest: Nest) -> frozenset[int]:
    """Indices of the loops that docc wrongly takes for parallel: the `hazards` that are
    `confirmed`; looked for once."""
    if "unordered" not in nest.notes:
        nest.notes["unordered"] = confirmed(nest, hazards(nest))
    return nest.notes["unordered"]


def _is_independent(nest: Nest, loop: Loop) -> bool:
    indices = {name for access in nest.accesses for text in access.subset for name in _names(text)}
    for other in nest.loops:
        indices |= _names(other.init) | _names(other.condition)
    try:
        around: list[LoopNode] = []
        for outer in nest.ancestry(loop.index)[:-1]:
            around.append(read_header(_element(nest.body, outer), _variables(around)))
        return carries_nothing(_tree(_element(nest.body, loop), around, indices), around)
    except (IllegalStepError, SdfgError):
        return False


def _names(text: str) -> set[str]:
    return set(expr.symbols(text))


def _variables(loops: Sequence[LoopNode]) -> frozenset[str]:
    return frozenset(loop.variable for loop in loops)


def _element(body: Json, loop: Loop) -> Json:
    """docc's element of a loop, through loops only.

    Raises:
        IllegalStepError: it stands in a branch.
    """
    waiting = [body]
    while waiting:
        element = waiting.pop()
        if element.get("element_id") == loop.element_id:
            return element
        if "indvar" in element:
            waiting += element["root"]["children"]
    raise IllegalStepError("the loop stands in a branch")


def _tree(element: Json, around: Sequence[LoopNode], indices: set[str]) -> LoopNode:
    """The loop with what it does to arrays, and to scalars that index them; docc has looked at what
    it does to other scalars.

    Raises:
        IllegalStepError: it is not understood.
    """
    node = read_header(element, _variables(around))
    path = [*around, node]
    for child in element["root"]["children"]:
        if "indvar" in child:
            node.children.append(_tree(child, path, indices))
            continue
        counted = _variables(path)
        found = [
            touch
            for touch in touches(child)
            if touch.subset or (touch.container in indices and touch.container not in counted)
        ]
        node.children.append(Statement([child], found))
    return node


def _is_left_early(nest: Nest, loop: Loop) -> bool:
    """Whether something inside jumps out, so that which iterations run depends on the others."""
    return any(
        operation.op in ("break", "return")
        and loop in nest.ancestry(nest.blocks[operation.block].parent)
        for operation in nest.operations
    )


def _may_carry(nest: Nest, loop: Loop) -> bool:
    """Whether two iterations of `loop` may touch one element of an array, one of them writing."""
    inside = {
        access.index
        for access in nest.accesses
        if loop in nest.ancestry(nest.blocks[access.block].parent)
    }
    by_array: dict[int, list[Access]] = {}
    for access in nest.accesses:
        if access.index in inside and nest.containers[access.container].is_array:
            by_array.setdefault(access.container, []).append(access)
    free = {other.indvar for other in nest.loops} - {
        outer.indvar for outer in nest.ancestry(loop.index)
    }
    for accesses in by_array.values():
        writes = [access for access in accesses if access.write]
        for write, other in product(writes, accesses):
            if _may_meet(write, other, loop, free, nest):
                return True
    return False


def _may_meet(a: Access, b: Access, loop: Loop, free: set[str], nest: Nest) -> bool:
    """Whether `a` in one iteration of `loop` may touch what `b` touches in another one.

    They cannot if some dimension has the same index in both, and that index is told apart by the
    loop's variable alone. Variables of loops further inside are `free`: they take any value.
    """
    if len(a.subset) != len(b.subset):
        return True
    indvars = {other.indvar for other in nest.loops}
    try:
        pairs = [
            (_dimensions(x, indvars), _dimensions(y, indvars))
            for x, y in zip(a.subset, b.subset, strict=True)
        ]
    except SdfgError:
        return True
    for x, y in pairs:
        for stride in x.keys() & y.keys():
            index = x[stride]
            used = {symbol for monomial in index for symbol in monomial}
            if index == y[stride] and loop.indvar in used and not used & free:
                return False
    return True


def tiles_may_clash(nest: Nest, first: int, second: int) -> bool:
    """Whether fusing the tiles of two neighbouring loops may change what they compute.

    docc lets each tile of the first loop compute a margin of what the second one reads beyond its
    tile, so some iterations run twice. That is only right if the second loop overwrites nothing
    that the first one uses, and the first one reads nothing that it writes. Where both loops use
    the same elements at the same time there is no margin, and nothing to fear.
    """
    uses = _touched(nest, first), _touched(nest, second)
    shared = {
        container
        for container in uses[0].keys() & uses[1].keys()
        if any(access.write for use in uses for access, _ in use[container])
    }
    margins = any(
        len({index for use in uses for _, index in use[container]}) > 1 for container in shared
    )
    if not margins:
        return False
    if any(access.write for container in shared for access, _ in uses[1][container]):
        return True
    return any(len({access.write for access, _ in accesses}) > 1 for accesses in uses[0].values())


def _touched(nest: Nest, loop: int) -> dict[int, list[tuple[Access, tuple[str, ...]]]]:
    """Accesses below `loop` by container, each with its subset in terms of loop depths."""
    found: dict[int, list[tuple[Access, tuple[str, ...]]]] = {}
    for access in nest.accesses:
        around = nest.ancestry(nest.blocks[access.block].parent)
        if any(other.index == loop for other in around):
            depths = {other.indvar: f"@{other.depth}" for other in around}
            subset = tuple(
                expr.normal_form(text, lambda name, known=depths: known.get(name, name))
                for text in access.subset
            )
            found.setdefault(access.container, []).append((access, subset))
    return found


def _dimensions(text: str, indvars: set[str]) -> Dimensions:
    dimensions: dict[expr.Monomial, dict[expr.Monomial, int]] = {}
    for monomial, factor in expr.polynomial(text).items():
        stride = tuple(symbol for symbol in monomial if symbol not in indvars)
        index = tuple(symbol for symbol in monomial if symbol in indvars)
        dimensions.setdefault(stride, {})[index] = factor
    return dimensions
