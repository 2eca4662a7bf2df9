"""Books that are damaged: told once in a process, and what is readable goes on serving."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from loopbook.errors import BookError
from loopbook.printable import show

if TYPE_CHECKING:
    from loopbook.recipes.book import Book
    from loopbook.recipes.layer import Layer

T = TypeVar("T")

_said: set[str] = set()
"""Books whose damage this process has told of."""


def opened(paths: Iterable[Path], *, readonly: bool = False) -> Iterator[Book]:
    """The books that are there and can be opened."""
    from loopbook.recipes.book import Book

    for path in paths:
        try:
            if path.exists():
                book = Book.open(path, readonly=readonly)
                if book.foreign:
                    _complain(str(path), f"others can change the book {path}: close it to them")
                yield book
        except (BookError, OSError) as error:
            _complain(str(path), f"{error}; going on without it")


def asked(book: Layer, question: Callable[..., T], *words: Any) -> T | None:
    """What a book answers; None where it is too damaged for that. What it left out is told."""
    try:
        answer = question(*words)
    except BookError as error:
        _complain(book.name, f"{error}; going on without it")
        return None
    left_out = book.damage
    if left_out:
        count = len(left_out)
        words_ = f"{left_out[0]}; {count} such {'fault' if count == 1 else 'faults'} left out"
        _complain(book.name, f"book {book.name} is damaged: {words_}; see 'loopbook book verify'")
    return answer


def _complain(book: str, words: str) -> None:
    if book not in _said:
        _said.add(book)
        show(f"loopbook: {words}", file=sys.stderr, flush=True)
