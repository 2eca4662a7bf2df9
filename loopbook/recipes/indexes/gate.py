"""Many may pass at once, or one alone."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Gate:
    """A lock for readers and writers. A writer waits for the readers inside and holds back new
    ones, so that it gets its turn. Not to be entered twice by one thread."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._readers = 0
        self._writer = False

    @contextmanager
    def reading(self) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: not self._writer)
            self._readers += 1
        try:
            yield
        finally:
            with self._changed:
                self._readers -= 1
                self._changed.notify_all()

    @contextmanager
    def writing(self) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: not self._writer)
            self._writer = True
            self._changed.wait_for(lambda: self._readers == 0)
        try:
            yield
        finally:
            with self._changed:
                self._writer = False
                self._changed.notify_all()
