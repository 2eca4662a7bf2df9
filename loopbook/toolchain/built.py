"""What came of compiling a program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

Applied = Mapping[int, tuple[tuple[str, tuple[str | int, ...]], ...]]
"""Position of a nest in its program to the names and arguments of the steps applied to it."""


@dataclass(frozen=True)
class Built:
    """A compiled program.

    Attributes:
        library: the shared library.
        code: hash of the generated C++: equal for candidates that are the same in the end.
        owners: element id of each outermost loop in the finished program to the position of the
            nest that it came from, for reading the timers. For docc's own schedule: its place.
        recipes: the steps that were applied to each nest.
        seconds: that applying them and compiling took; 0 for a compile that was not needed.
    """

    library: Path
    code: str
    owners: Mapping[int, int]
    recipes: Applied
    seconds: tuple[float, float] = (0.0, 0.0)
