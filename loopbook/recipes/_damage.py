"""What of a book cannot be read: an error for whoever needs all of it, a note for who can go on."""

from __future__ import annotations

import threading

from loopbook.errors import BookError


class Damage:
    """The damage that a book's readers have met. Safe to share between threads.

    Args:
        book: its name.
    """

    def __init__(self, book: str) -> None:
        self._book = book
        self._lock = threading.Lock()
        self._met: dict[str, str] = {}

    def met(self, key: str, words: str, *, strict: bool) -> None:
        """Something is damaged.

        Args:
            key: what; met twice, it counts once.
            strict: raise instead of noting it.

        Raises:
            BookError: where it is needed.
        """
        if strict:
            raise BookError(self.line(words))
        with self._lock:
            self._met.setdefault(key, words)

    def line(self, words: str) -> str:
        """Damage to this book, in one line."""
        return f"book {self._book} is damaged: {words}"

    def __contains__(self, key: str) -> bool:
        return key in self._met

    @property
    def lines(self) -> tuple[str, ...]:
        """What was met so far."""
        with self._lock:
            return tuple(self._met.values())
