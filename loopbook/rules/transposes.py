"""What walks one array along its rows and another one across them."""

from __future__ import annotations

from collections.abc import Mapping

from loopbook.program.nest import Nest, Stride
from loopbook.rules.bands import bands
from loopbook.rules.base import Steps, step

CONFLICTS = 64
"""Elements of which a row's length is a multiple where a walk across rows meets few sets of a
cache: lines are thrown out before their other elements are used. 1,024 by 1,024 and 2,048 by 2,048
doubles copied to their transpose take 6.5 and 34 ms as they are, 0.7 and 6.0 in tiles; 2,000 by
2,000 take 5.2 as they are, and 7.9 in tiles (AVX-512, 2026-11-28)."""

LEAST, COLUMNS = 256, 16
"""Rows from which on it matters, and columns that are done together: two lines' worth."""


def transposed(nest: Nest, trips: Mapping[str, int]) -> Steps:
    """Tiles of some columns, where a walk across rows would meet the same sets of the caches; none
    where sizes are not known, or it does not.

    ::

        for i: for j: B[j, i] = A[i, j]
        for jj, 16 at a time: for i: for j in jj … jj + 16: B[j, i] = A[i, j]
    """
    band, *others = bands(nest)
    if others or len(band.loops) < 2:
        return []
    outer, inner = band.loops[-2:]
    rows, columns = trips.get(outer.name, 0), trips.get(inner.name, 0)
    if columns < LEAST or rows < LEAST or rows % CONFLICTS:
        return []
    pairs = [
        (a.strides[outer.depth], a.strides[inner.depth])
        for a in nest.accesses
        if nest.containers[a.container].is_array and len(a.strides) > inner.depth
    ]
    far = {Stride.CONSTANT, Stride.SYMBOLIC}
    across = any(one == Stride.UNIT and other in far for one, other in pairs)
    along = any(one in far and other == Stride.UNIT for one, other in pairs)
    if not (across and along):
        return []
    return [
        step("tile", inner.name, COLUMNS),
        step("interchange", outer.name, f"{inner.name}.tile"),
    ]
