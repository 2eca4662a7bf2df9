"""The records of some books as columns, read again only after a change."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

import numpy as np

from loopbook.recipes._briefs import Brief
from loopbook.recipes.book import Book
from loopbook.recipes.hardware import HardwareProfile


@dataclass(frozen=True)
class Shown:
    """All records once, those of the first books first.

    Attributes:
        stamps: of the books, when they were read.
        briefs: by their places.
        machines: profiles by the id that briefs name.
        encoder: whose vectors the map is made of.
    """

    stamps: tuple[str, ...]
    briefs: list[Brief]
    machines: dict[str, HardwareProfile]
    encoder: str


class Catalogue:
    """Books to look at. Safe to share between threads.

    Args:
        encoder: whose vectors are wanted.
    """

    def __init__(self, books: Sequence[Book], encoder: str) -> None:
        self.books = tuple(books)
        self._wanted = encoder
        self._lock = threading.Lock()
        self._shown: Shown | None = None

    @property
    def names(self) -> list[str]:
        return [book.name for book in self.books]

    def shown(self) -> Shown:
        """The records as they are now.

        Raises:
            BookError: a book cannot be read.
        """
        stamps = tuple(book.stamp for book in self.books)
        with self._lock:
            if self._shown is None or self._shown.stamps != stamps:
                briefs: dict[str, Brief] = {}
                machines: dict[str, HardwareProfile] = {}
                for book in self.books:
                    machines |= book.machines()
                    for one in book.briefs():
                        briefs.setdefault(one.id, one)
                listed = [one for one in briefs.values() if one.hardware_id in machines]
                self._shown = Shown(stamps, listed, machines, self._encoder())
            return self._shown

    def _encoder(self) -> str:
        """The encoder at hand, or whichever the books have vectors of."""
        known = [name for book in self.books for name in book.encoders()]
        return self._wanted if self._wanted in known or not known else known[0]

    def vectors(self, encoder: str, names: Sequence[str] | None) -> tuple[list[str], np.ndarray]:
        """One encoder's vectors of nests; see `loopbook.explorer.layout.Vectors`."""
        seen: set[str] = set()
        found: list[str] = []
        parts: list[np.ndarray] = []
        for book in self.books:
            for some, vectors in book.vectors(encoder, names):
                fresh = [row for row, name in enumerate(some) if name not in seen]
                seen.update(some)
                found += [some[row] for row in fresh]
                parts.append(vectors[fresh])
        width = parts[0].shape[1] if parts else 1
        same = [part for part in parts if part.shape[1] == width]
        return found, np.concatenate(same) if same else np.zeros((0, width), np.float32)


def machine_name(profile: HardwareProfile) -> str:
    """A machine in a few words."""
    threads = f"{profile.threads} thread{'s' if profile.threads != 1 else ''}"
    return f"{profile.cpu or 'unknown processor'} {profile.isa}, {threads}"


@lru_cache(maxsize=200_000)
def seconds(date: str) -> int:
    """An ISO 8601 date as seconds since 1970; 0 where it is none."""
    try:
        return int(datetime.fromisoformat(date).timestamp())
    except (ValueError, OverflowError, OSError):
        return 0
