"""An array that grows at its end."""

from __future__ import annotations

import numpy as np


class Column:
    """Rows in one buffer that doubles when it is full: appending one costs no copy of the rest."""

    def __init__(self, values: np.ndarray) -> None:
        self._buffer = values
        self._used = len(values)

    def __len__(self) -> int:
        return self._used

    @property
    def values(self) -> np.ndarray:
        """The rows; a view, good until the next :meth:`append`."""
        return self._buffer[: self._used]

    def append(self, values: np.ndarray) -> None:
        used = self._used + len(values)
        if used > len(self._buffer):
            shape = (max(used, 2 * len(self._buffer)), *self._buffer.shape[1:])
            buffer = np.zeros(shape, self._buffer.dtype)
            buffer[: self._used] = self.values
            self._buffer = buffer
        self._buffer[self._used : used] = values
        self._used = used
