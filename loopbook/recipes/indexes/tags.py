"""What rows are good for, such as targets and machines, and masks of those that fit a filter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from loopbook.recipes.indexes.column import Column

Tag = tuple[str, str]


class Tags:
    """For each row a set of tags. Rows of equal sets share one number, so that a filter looks at
    each set once and at each row only as a number.

    Args:
        sets: the different sets.
        numbers: for each row, its place in ``sets``.
    """

    def __init__(self, sets: Iterable[frozenset[Tag]], numbers: np.ndarray) -> None:
        self.sets = list(sets)
        self._number_of = {one: number for number, one in enumerate(self.sets)}
        self._numbers = Column(numbers)

    @classmethod
    def of(cls, sets: Sequence[frozenset[Tag]]) -> Tags:
        tags = cls([], np.zeros(0, "<u4"))
        tags.append(sets)
        return tags

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def numbers(self) -> np.ndarray:
        return self._numbers.values

    def append(self, sets: Sequence[frozenset[Tag]]) -> None:
        self._numbers.append(self._numbers_of(sets))

    def replace(self, rows: np.ndarray, sets: Sequence[frozenset[Tag]]) -> None:
        self._numbers.values[rows] = self._numbers_of(sets)

    def rows_with(self, wanted: frozenset[Tag]) -> np.ndarray:
        """Bool for each row: whether it has one of these tags."""
        fits = np.array([not wanted.isdisjoint(one) for one in self.sets], bool)
        return fits[self._numbers.values] if len(fits) else np.zeros(0, bool)

    def _numbers_of(self, sets: Sequence[frozenset[Tag]]) -> np.ndarray:
        numbers = np.zeros(len(sets), "<u4")
        for place, one in enumerate(sets):
            number = self._number_of.setdefault(one, len(self.sets))
            if number == len(self.sets):
                self.sets.append(one)
            numbers[place] = number
        return numbers
