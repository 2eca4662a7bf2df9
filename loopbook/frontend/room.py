"""Memory for the temporaries of one compiled function, kept from one call to the next.

New memory is dear where it is first touched: the system has to find and clear each page, which
takes longer than many a loop over it. NumPy has few temporaries at a time, and soon gets the same
memory again; a kernel of loops has all of its own at once.
"""

from __future__ import annotations

import numpy as np

MOST_BYTES = 1 << 27
"""No more is kept: what is larger is made for each call."""

Shapes = tuple[tuple[int, ...], ...]


class Room(dict[Shapes, tuple[np.ndarray, ...]]):
    """The temporaries of the last call, by their shapes. A call takes them out while it runs, so
    that one in another thread makes its own."""

    def put(self, shapes: Shapes, temporaries: tuple[np.ndarray, ...]) -> None:
        """Keep them for the next call."""
        if shapes not in self:
            if sum(array.nbytes for array in temporaries) > MOST_BYTES:
                return
            self.clear()
        self[shapes] = temporaries
