"""docc's names for the extents of arrays: ``_s0``, ``_s1``… (0.8.1).

Each distinct extent has one, in the order of the arguments and their dimensions. An extent of 1 is
counted, too, but written as the number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

NAME = re.compile(r"_s(\d+)")

SHORT = 4
"""Extents up to this one may be numbers in a program: of loops as short as over coordinates,
colours or the matrices of a rotation a compiler makes none, if it knows. Products of 5,000 matrices
of 4 by 4 take half as long, distances of points to eight others two fifths (AVX2, 2026-11-26).
Programs of loops are told as well where rows are as short: what goes down a column is then no
gather by a stride that nobody knows."""


def extent_names(shapes: Iterable[Sequence[int]]) -> dict[int, str]:
    """The name of each extent, in docc's order.

    Args:
        shapes: of the arrays that a program is given, in the order of its arguments.
    """
    every = dict.fromkeys(extent for shape in shapes for extent in shape)
    return {extent: f"_s{number}" for number, extent in enumerate(every)}


def number_of(name: str) -> int:
    """The place of a name in that order.

    Raises:
        ValueError: it is none of these names.
    """
    found = NAME.fullmatch(name)
    if found is None:
        raise ValueError(f"{name} is no name of an extent")
    return int(found[1])
