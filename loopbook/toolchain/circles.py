"""How often Python searches for objects that hold each other in circles, which it does not let go
by itself.

By default it does so each time that 700 more objects have been made than let go, and through all
objects that there are now and then. Whatever plans or compiles makes a hundred thousand, of which
nearly none are in circles: half of the processor time of a first call went into these searches.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

SELDOM = 20_000, 20, 20
"""More objects made than let go before the youngest are searched, and how often these are before
older ones are. It costs some megabytes until circles are found."""

_lock = threading.Lock()
_inside = 0
_before = gc.get_threshold()


@contextmanager
def seldom_searched() -> Iterator[None]:
    """Search seldom for a while, in whosever process it is; afterwards as often as before."""
    global _inside, _before
    with _lock:
        _inside += 1
        if _inside == 1:
            _before = gc.get_threshold()
            gc.set_threshold(*SELDOM)
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if not _inside:
                gc.set_threshold(*_before)
