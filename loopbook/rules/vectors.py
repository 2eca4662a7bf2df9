"""Products of a matrix and vectors: every element of the matrix is used once.

What they cost is reading the matrix, and the vectors over and over. Some rows at a time are as many
streams for a processor to fetch ahead, and each element of a vector is read once for all of them
(unroll-and-jam, Carr and Kennedy, ACM TOPLAS 16(6), 1994)::

    for i: for j: y[i] += A[i, j] * x[j]

    for ii by 8: for j: for i in ii … ii + 8: y[i] += A[i, j] * x[j]

The same helps the transpose, ``y[j] += A[i, j] * x[i]``, and both in one nest.
"""

from __future__ import annotations

from loopbook.program.nest import Access, Loop, Nest, Stride
from loopbook.rules.bands import bands
from loopbook.rules.base import Steps, reorder, rows_written_out
from loopbook.rules.triangular import dependent

TOGETHER = 8
"""Rows at a time. With 4 a product of 2,000 by 2,000 takes 1.2 ms, with 8 it takes 1.0, and one row
after the other 1.3, as long as a call of GEMV (OpenBLAS 0.3.21, AVX2, 2026-11-26)."""


def rows_together(nest: Nest) -> Steps:
    """Some rows of a matrix in one pass over the vectors that it is multiplied by.

    Nothing where a nest is not just sums of such products, or reads more than one matrix: with
    twice as many streams nothing is gained.
    """
    first, *others = bands(nest)
    if others or len(first.loops) != 2 or dependent(first.loops) is not None:
        return []
    found = [
        (row, along)
        for row, along in (first.loops, first.loops[::-1])
        if _is_product(nest, row, along)
    ]
    if len(found) != 1:
        return []
    ((row, along),) = found
    return [
        *reorder(first.names, [row.name, along.name]),
        *rows_written_out(row.name, along.name, TOGETHER),
    ]


def _is_product(nest: Nest, row: Loop, along: Loop) -> bool:
    """Whether a nest adds products of elements of one matrix and of vectors to vectors; elements of
    a row lie beside each other."""
    arrays = [one for one in nest.accesses if nest.containers[one.container].is_array]
    matrices = {one.container for one in arrays if _moves(one, row) and _moves(one, along)}
    summed = {one.container for one in arrays if one.write}
    added = {one.container for one in arrays if not one.write} & summed
    return (
        len(matrices) == 1
        and summed == added
        and matrices.isdisjoint(summed)
        and all(_moves(one, row) or _moves(one, along) for one in arrays if one.write)
        and all(one.strides[along.depth] in (Stride.ZERO, Stride.UNIT) for one in arrays)
        and all(
            one.strides[row.depth] not in (Stride.ZERO, Stride.UNIT)
            for one in arrays
            if one.container in matrices
        )
    )


def _moves(access: Access, loop: Loop) -> bool:
    return access.strides[loop.depth] != Stride.ZERO
