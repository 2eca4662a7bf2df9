"""What ``torch.compile(…, options=…)`` may say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from loopbook import targets
from loopbook.client.served import Book
from loopbook.errors import InputError


@dataclass(frozen=True)
class Options:
    """How graphs are compiled.

    Attributes:
        target: a name in `loopbook.targets.TARGETS`.
        book: an open `LayeredBook`, or the path of one to put over the starter book; default the
            user's.
        check: compare the numbers of each graph with eager's at its first call, in a child process.
        measure: time each graph beside eager at its first call, and run the faster one.
        split: take graphs apart that are not faster as a whole.
        threads: of the target ``openmp``; default what OpenMP takes by itself.
    """

    target: str = targets.DEFAULT
    book: Book = None
    check: bool = True
    measure: bool = True
    split: bool = True
    threads: int | None = None

    def __post_init__(self) -> None:
        """Raises `InputError` for a target that nothing can be compiled for here."""
        parallel = targets.runnable(self.target).parallel
        if self.threads is None:
            return
        if not isinstance(self.threads, int) or self.threads < 1:
            raise InputError(f"threads must be a whole number from 1 on, not {self.threads!r}")
        if self.threads > 1 and not parallel:
            raise InputError(f"the target {self.target} has one thread; take 'openmp'")

    @classmethod
    def of(cls, given: Mapping[str, Any] | None) -> Options:
        """What a user's ``options`` say.

        Raises:
            InputError: if one of them is not known, or cannot be used.
        """
        known = [field.name for field in fields(cls)]
        for name in given or {}:
            if name not in known:
                raise InputError(f"there is no option {name!r}; there are {', '.join(known)}")
        return cls(**given or {})
