"""How much a nest computes for each byte, and how fast it was: the two points of a roofline.

Williams, Waterman and Patterson, Roofline: an insightful visual performance model, CACM 2009.

Operations are those of the nest's statements, each as often as the loops around it run. Bytes are
those that have to be moved, about: each element of each array once, and once more where it is
written. Both are of the nest, not of the machine: a recipe changes neither, only the time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from loopbook.explorer.documents import Point, Roofline
from loopbook.program import expr
from loopbook.program.nest import Access, Loop, Nest, Stride
from loopbook.recipes.record import Measurement, Record

_FLOPS = {"fp_fma": 2, "assign": 0, "fp_neg": 0}
_BYTES = {"double": 8, "float": 4, "int64": 8, "uint64": 8, "int32": 4, "uint32": 4}

NOTE = "operations counted in the nest; each element of each array moved once"


def roofline(record: Record, nest: Nest) -> Roofline | None:
    """The machine's roof and both points, at the largest size of which the loops were counted; None
    where nothing was, or the nest computes nothing in floating point."""
    counted = [one for one in record.measurements if one.trips]
    if not counted:
        return None
    largest = max(counted, key=lambda one: math.prod(one.trips.values()))
    return _at(record, nest, largest)


def _at(record: Record, nest: Nest, measured: Measurement) -> Roofline | None:
    operations = flops(nest, measured.trips)
    moved = least_bytes(nest, measured.trips)
    if not operations or not moved:
        return None
    machine = record.hardware
    intensity = operations / moved
    points = [
        Point(label, round(intensity, 5), float(f"{operations / time / 1e9:.5g}"))
        for label, time in (("before", measured.baseline_s), ("after", measured.tuned_s))
    ]
    peak, bandwidth = machine.peak_gflops or None, machine.bandwidth_gbs or None
    return Roofline(peak, bandwidth, points, NOTE)


def flops(nest: Nest, trips: Mapping[str, int]) -> float | None:
    """Floating-point operations of the nest; None where a loop's trips are not known."""
    runs = _runs(nest, trips)
    if runs is None:
        return None
    total = 0.0
    for one in nest.operations:
        floating = one.op.startswith(("fp_", "cmath:"))
        parent = nest.blocks[one.block].parent
        total += (_FLOPS.get(one.op, 1) if floating else 0) * runs[parent]
    return total


def least_bytes(nest: Nest, trips: Mapping[str, int]) -> float | None:
    """Bytes that the nest has to move at least; None where a loop's trips are not known."""
    runs = _runs(nest, trips)
    if runs is None:
        return None
    elements: dict[int, float] = {}
    for access in nest.accesses:
        if not nest.containers[access.container].is_array:
            continue
        count = _elements(access, nest.ancestry(nest.blocks[access.block].parent), trips)
        elements[access.container] = max(count, elements.get(access.container, 0.0))
    total = 0.0
    for number, count in elements.items():
        container = nest.containers[number]
        total += count * _BYTES.get(container.dtype, 8) * (2 if container.written else 1)
    return total


def _elements(access: Access, around: Sequence[Loop], trips: Mapping[str, int]) -> float:
    """How many elements an access comes to. Loops that move it equally far, as those of i and k do
    in ``A[i + k]``, reach as many together as their trips add up to."""
    reached: dict[object, int] = {}
    for loop, stride in zip(around, access.strides, strict=False):
        if stride == Stride.ZERO:
            continue
        way = loop.name if stride == Stride.NON_AFFINE else _way(access, loop.indvar)
        reached[way] = reached.get(way, 1) + max(1, trips[loop.name]) - 1
    return float(math.prod(reached.values()))


def _way(access: Access, indvar: str) -> tuple[object, ...]:
    """How far a loop moves an access in each dimension, as factors of its variable."""
    return tuple(
        frozenset(
            (tuple(symbol for symbol in monomial if symbol != indvar), abs(factor))
            for monomial, factor in expr.polynomial(text).items()
            if indvar in monomial
        )
        for text in access.subset
    )


def _runs(nest: Nest, trips: Mapping[str, int]) -> dict[int, float] | None:
    """How often the body of each loop runs in all; -1 is outside of all loops."""
    runs = {-1: 1.0}
    for loop in nest.loops:
        if loop.name not in trips:
            return None
        runs[loop.index] = runs[loop.parent] * max(0, trips[loop.name])
    return runs
