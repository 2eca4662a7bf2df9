"""The log of trials: one JSON line for each measured candidate, written as soon as it is measured.

A killed search leaves at most one torn line at the end, which reading skips. Searches resume from
their log: what was measured is told to the strategy again instead of being measured again.
"""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from loopbook import private
from loopbook.errors import BookError, RecipeError
from loopbook.recipes.recipe import Recipe


@dataclass(frozen=True)
class Trial:
    """One measured candidate of one nest.

    Attributes:
        number: of the candidate in its search, from 0; a candidate may hold several nests.
        nest: position in the program.
        status: see `loopbook.tuner.session.Outcome`.
        speedup: of the nest over docc's own schedule on it; 0 for a failure.
        seconds: of the whole program; 0 for a failure.
        message: why it failed.
        before_s, after_s: of the nest, under docc's own schedule and with the recipe.
        code: hash of the generated C++.
        date: when it was measured, ISO 8601.
    """

    number: int
    nest: int
    fingerprint: str
    recipe: Recipe
    status: str
    speedup: float = 0.0
    seconds: float = 0.0
    message: str = ""
    before_s: float = 0.0
    after_s: float = 0.0
    code: str = ""
    date: str = ""


def read_trials(path: Path) -> list[Trial]:
    """The trials of a log, whatever search it is of; none where there is no log."""
    return list(_trials(_lines(path))) if path.exists() else []


_MEASURED = ("profile", "date")
"""Parts of a header that differ from run to run of one and the same search."""


@dataclass
class TrialLog:
    """Trials of one search in a file.

    Attributes:
        path: the file, made on first write; None keeps the trials in memory only.
        header: what the search is (kernel, target, sizes, seed…). A file with another header is
            another search's: it is moved aside, not overwritten.
    """

    path: Path | None
    header: dict[str, Any]
    trials: list[Trial] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.path is None or not self.path.exists():
            return
        lines = list(_lines(self.path))
        if not lines or _identity(lines[0]) != _identity(self.header):
            self.path.replace(_aside(self.path))
            return
        self.trials += _trials(lines)

    @property
    def next_number(self) -> int:
        """Number of the next candidate to measure."""
        return max((trial.number for trial in self.trials), default=-1) + 1

    def add(self, *trials: Trial) -> None:
        """Keep `trials`, on disk before this returns.

        Raises:
            BookError: if the file cannot be written.
        """
        self.trials += trials
        if self.path is None:
            return
        try:
            fresh = not self.path.exists()
            private.make_folders(self.path.parent)
            with private.appended(self.path) as file:
                torn = not fresh and _ends_torn(self.path)
                text = "\n" if torn else ""
                if fresh:
                    text += json.dumps(self.header) + "\n"
                for trial in trials:
                    text += json.dumps(asdict(trial) | {"recipe": trial.recipe.to_json()}) + "\n"
                file.write(text.encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise BookError(f"cannot write {self.path}: {error.strerror}") from None


def _identity(header: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in header.items() if key not in _MEASURED}


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text(errors="replace").splitlines():
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value


def _trials(lines: Iterable[dict[str, Any]]) -> Iterator[Trial]:
    """Those behind the header; a line that is none is left out."""
    for line in itertools.islice(lines, 1, None):
        try:
            recipe = Recipe.from_json(line.pop("recipe"))
            yield Trial(recipe=recipe, **line)
        except (KeyError, TypeError, RecipeError):
            continue


def _ends_torn(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(0, os.SEEK_END)
        if not file.tell():
            return False
        file.seek(-1, os.SEEK_END)
        return file.read(1) != b"\n"


def _aside(path: Path) -> Path:
    number = 1
    while (other := path.with_suffix(f".old{number}{path.suffix}")).exists():
        number += 1
    return other
