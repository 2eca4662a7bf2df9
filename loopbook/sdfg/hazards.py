"""Dependences that docc overlooks.

docc 0.8 takes a loop for parallel although one iteration reads what a later one overwrites: it
looks at flow dependences only (``B[i] = B[i + 1]`` becomes a map, and its threads race). `hazards`
finds such loops with a conservative test of its own, so that they are neither run in parallel nor
reordered.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from loopbook.errors import SdfgError
from loopbook.sdfg import expr
from loopbook.sdfg.nest import Access, Loop, Nest

Dimensions = Mapping[expr.Monomial, expr.Polynomial]
"""The symbols that multiply an index (its stride) to the index: ``i*N + j`` is two dimensions."""


def hazards(nest: Nest) -> frozenset[int]:
    """Indices of the loops that docc calls maps, but whose iterations may depend on their order."""
    return frozenset(
        loop.index for loop in nest.loops if loop.kind == "map" and _may_carry(nest, loop)
    )


def _may_carry(nest: Nest, loop: Loop) -> bool:
    """Whether two iterations of `loop` may touch the same element of an array, one of them writing,
    other than by the very same index expression."""
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
            if write.subset != other.subset and _may_meet(write, other, loop, free, nest):
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
    if all(x == y for x, y in pairs):
        return False
    for x, y in pairs:
        for stride in x.keys() & y.keys():
            index = x[stride]
            used = {symbol for monomial in index for symbol in monomial}
            if index == y[stride] and loop.indvar in used and not used & free:
                return False
    return True


def _dimensions(text: str, indvars: set[str]) -> Dimensions:
    dimensions: dict[expr.Monomial, dict[expr.Monomial, int]] = {}
    for monomial, factor in expr.polynomial(text).items():
        stride = tuple(symbol for symbol in monomial if symbol not in indvars)
        index = tuple(symbol for symbol in monomial if symbol in indvars)
        dimensions.setdefault(stride, {})[index] = factor
    return dimensions
