"""Classes of strides: how far an access moves with each loop around it."""

from __future__ import annotations

from collections.abc import Sequence

from loopbook.program import expr
from loopbook.program.nest import Access, Loop, Stride

STRIDES = (
    "zero",
    "unit",
    "constant-0",
    "constant-1",
    "constant-2",
    "symbolic-0",
    "symbolic-1",
    "symbolic-2",
    "non-affine",
)
"""Stride classes of an access in an enclosing loop. Constant and symbolic strides carry the number
of shorter ones among the same access's loops, so that the loops over a 3-d array differ."""


def stride_classes(access: Access, loops: Sequence[Loop]) -> list[int]:
    """Index into `STRIDES` for each enclosing loop."""
    if sum(s in (Stride.CONSTANT, Stride.SYMBOLIC) for s in access.strides) < 2:
        return [_STRIDE_CLASS[stride] for stride in access.strides]
    lengths = [
        _stride_length(access.subset, loop.indvar)
        if stride in (Stride.CONSTANT, Stride.SYMBOLIC)
        else None
        for loop, stride in zip(loops, access.strides, strict=True)
    ]
    shortest_first = sorted({length for length in lengths if length is not None})
    return [
        _STRIDE_CLASS[stride]
        if length is None
        else _STRIDE_CLASS[stride] + min(shortest_first.index(length), 2)
        for stride, length in zip(access.strides, lengths, strict=True)
    ]


_STRIDE_CLASS = {
    Stride.ZERO: STRIDES.index("zero"),
    Stride.UNIT: STRIDES.index("unit"),
    Stride.CONSTANT: STRIDES.index("constant-0"),
    Stride.SYMBOLIC: STRIDES.index("symbolic-0"),
    Stride.NON_AFFINE: STRIDES.index("non-affine"),
}


def _stride_length(subset: tuple[str, ...], indvar: str) -> tuple[int, int, int]:
    """Something to order strides by: dimensions skipped, size symbols multiplied, coefficient."""
    longest = (0, 0, 0)
    for dimension, text in enumerate(subset):
        for monomial, factor in expr.polynomial(text).items():
            if indvar in monomial:
                length = (len(subset) - dimension, len(monomial) - 1, abs(factor))
                longest = max(longest, length)
    return longest
