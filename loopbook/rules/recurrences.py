"""Recurrences along the rows of arrays, several of them side by side.

Each step of a recurrence waits for the one before, and a division takes as long as a dozen of
multiplications. Other rows have recurrences of their own, which a processor works on meanwhile::

    for i: for j: a[i, j] = b[i, j] / a[i, j - 1]

    for ii by 8: for j: for i in ii … ii + 8: a[i, j] = b[i, j] / a[i, j - 1]

Vectors of rows would have to be gathered, so the rows are written out. So are those of a sweep,
where an element also needs the one above it: while one row waits for itself, the next one goes on
with what the first has left behind (Gauss and Seidel's iteration, prefix sums in two dimensions,
alignments of two sequences).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from loopbook.dependence.updates import BYTES
from loopbook.program.nest import Nest, Stride
from loopbook.rules.bands import Band, bands
from loopbook.rules.base import Steps, rows_written_out
from loopbook.rules.triangular import dependent

TOGETHER = 8
"""Rows at a time. The rows' half of a step of ADI takes 3.2 ns for an element with 8 rows, 3.7 with
4 and 3.9 to 5.0 with 16; with vectors of 16 rows 4.7 (AVX2 and AVX-512, 2026-11-26). Sweeps over
1,500 by 1,500 take 1.1 to 2.3 ms with 8 rows, 1.9 to 3.1 with 4, 1.1 to 9.4 with 16, and 2.2 to 9.6
one row after the other (AVX-512, 2026-11-28)."""


def recurrences_together(nest: Nest, trips: Mapping[str, int]) -> Iterator[tuple[set[str], Steps]]:
    """The loops of a nest that are recurrences along rows, two and two, with what puts these side
    by side."""
    for band in _recurrences(nest, trips):
        row, along = band.loops[-2:]
        if row.kind == "map" and _goes_along(band):
            yield {row.name, along.name}, rows_written_out(row.name, along.name, TOGETHER)


def sweeps_together(nest: Nest, trips: Mapping[str, int]) -> Iterator[tuple[set[str], Steps]]:
    """`recurrences_together` for rows that need those above them, too: legal if no element needs
    one that lies above it and farther on, as the diagonal's neighbour. Of whole numbers, sums and
    comparisons are too quick to wait for (longest common subsequences: 58 us, 86 with 8 rows)."""
    if {array.dtype for array in nest.arrays if array.written} & BYTES.keys():
        return
    for band in _recurrences(nest, trips):
        row, along = band.loops[-2:]
        if row.kind == "for" and _stores_along(band) and _waits(band):
            yield {row.name, along.name}, rows_written_out(row.name, along.name, TOGETHER)


def _recurrences(nest: Nest, trips: Mapping[str, int]) -> Iterator[Band]:
    """Bands of which the innermost loop is a recurrence, in as many rows as are put together."""
    for band in bands(nest):
        if len(band.loops) < 2 or nest.children(band.loops[-1].index):
            continue
        row, along = pair = band.loops[-2:]
        many = trips.get(row.name, 0) >= TOGETHER
        if many and along.kind == "for" and dependent(pair) is None:
            yield band


def _goes_along(band: Band) -> bool:
    """Whether all elements lie beside each other for the innermost loop, and none for the one
    around it."""
    across, beside = (band.strides(loop) for loop in band.loops[-2:])
    return (
        any(write and stride != Stride.ZERO for stride, write in beside)
        and all(stride in (Stride.ZERO, Stride.UNIT) for stride, _ in beside)
        and all(stride not in (Stride.ZERO, Stride.UNIT) for stride, _ in across)
    )


def _stores_along(band: Band) -> bool:
    """Whether all elements lie beside each other for the innermost loop, and what is stored moves
    on with both."""
    across, beside = (band.strides(loop) for loop in band.loops[-2:])
    return all(stride in (Stride.ZERO, Stride.UNIT) for stride, _ in beside) and all(
        along == Stride.UNIT and over not in (Stride.ZERO, Stride.UNIT)
        for (along, write), (over, _) in zip(beside, across, strict=True)
        if write
    )


def _waits(band: Band) -> bool:
    """Whether what is stored is loaded at another place of the same row, or of one that moves on
    with it: elements of a fixed row, as in an elimination, are there already."""
    accesses = band.accesses
    stores = {(one.container, one.subset) for one in accesses if one.write}
    stored = {container for container, _ in stores}
    depths = [loop.depth for loop in band.loops[-2:]]
    return any(
        not one.write
        and one.container in stored
        and (one.container, one.subset) not in stores
        and len(one.strides) > max(depths)
        and all(one.strides[depth] != Stride.ZERO for depth in depths)
        for one in accesses
    )
