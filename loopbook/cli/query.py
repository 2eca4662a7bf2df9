"""What `nearest`, `explain` and `optimize` are asked: a program, a target, and books to look in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from loopbook import targets
from loopbook.cli import options
from loopbook.cli.progress import progress
from loopbook.cli.source import SECONDS, Source, load_source

T = TypeVar("T")


@dataclass(frozen=True)
class Query:
    """A look-up of all nests of a program.

    Attributes:
        file: what the command line named.
        book: put over the starter book; None for the user's.
        exclude: kernels whose records are ignored.
        json: print JSON.
    """

    file: str
    source: Source
    target: str
    book: Path | None
    exclude: list[str]
    json: bool

    @classmethod
    def of(
        cls,
        file: options.File,
        target: options.Target = targets.DEFAULT,
        preset: options.Preset = "",
        size: options.Size = None,
        book: options.BookPath = None,
        exclude: options.Exclude = None,
        json: options.Json = False,
    ) -> Query:
        """The query that a command line's words make.

        Raises:
            InputError: if one of them names nothing that there is.
        """
        with progress(f"reading {file}"):
            source = load_source(file, preset, options.read_sizes(size))
        return cls(file, source, targets.named(target).name, book, exclude or [], json)

    def run(self, function: Callable[..., T], *args: Any) -> T:
        """``function(query, *args)`` in a child process, whose crash or hang is an error here."""
        from loopbook.toolchain.sandbox import TRIES, run_limited

        what = f"reading {self.file}"
        with progress(f"looking up the nests of {self.file}"), self.source.names.in_errors():
            return run_limited(function, self, *args, seconds=SECONDS, what=what, tries=TRIES)


asking = options.made_by(Query.of)
"""Makes a command of a function of a query."""
