"""docc's names for the extents of arrays: ``_s0``, ``_s1``… (0.8.1).

Each distinct extent has one, in the order of the arguments and their dimensions. An extent of 1 is
counted, too, but written as the number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

NAME = re.compile(r"_s(\d+)")


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
