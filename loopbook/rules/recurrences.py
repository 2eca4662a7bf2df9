"""Recurrences along the rows of arrays, several of them side by side.

Each step of a recurrence waits for the one before, and a division takes as long as a dozen of
multiplications. Other rows have recurrences of their own, which a processor works on meanwhile::

    for i: for j: a[i, j] = b[i, j] / a[i, j - 1]

    for ii by 8: for j: for i in ii … ii + 8: a[i, j] = b[i, j] / a[i, j - 1]

Vectors of rows would have to be gathered, so the rows are written out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from loopbook.program.nest import Nest, Stride
from loopbook.rules.bands import Band, bands
from loopbook.rules.base import Steps, rows_written_out
from loopbook.rules.triangular import dependent

TOGETHER = 8
"""Rows at a time. The rows' half of a step of ADI takes 3.2 ns for an element with 8 rows, 3.7 with
4 and 3.9 to 5.0 with 16; with vectors of 16 rows 4.7 (AVX2 and AVX-512, 2026-11-26)."""


def recurrences_together(nest: Nest, trips: Mapping[str, int]) -> Iterator[tuple[set[str], Steps]]:
    """The loops of a nest that are recurrences along rows, two and two, with what puts these side
    by side."""
    for band in bands(nest):
        if len(band.loops) < 2 or nest.children(band.loops[-1].index):
            continue
        row, along = pair = band.loops[-2:]
        if row.kind != "map" or along.kind != "for" or dependent(pair) is not None:
            continue
        if trips.get(row.name, 0) >= TOGETHER and _goes_along(band):
            yield {row.name, along.name}, rows_written_out(row.name, along.name, TOGETHER)


def _goes_along(band: Band) -> bool:
    """Whether all elements lie beside each other for the innermost loop, and none for the one
    around it."""
    across, beside = (band.strides(loop) for loop in band.loops[-2:])
    return (
        any(write and stride != Stride.ZERO for stride, write in beside)
        and all(stride in (Stride.ZERO, Stride.UNIT) for stride, _ in beside)
        and all(stride not in (Stride.ZERO, Stride.UNIT) for stride, _ in across)
    )
