"""What was tried in vain, remembered beside the book: JSON, a line for each nest."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from loopbook import private
from loopbook.errors import BookError, InputError
from loopbook.farm.adopt.gains import FAILED, SEARCHED
from loopbook.printable import one_line
from loopbook.tuner.transfers.measure import claimed

Key = tuple[str, str, str]
"""Fingerprint, target and key of the hardware."""


def journal_of(path: Path) -> Path:
    """Where the journal of a book lies: beside it."""
    return path.with_name(f"{path.stem}-adopted.jsonl")


class Journal:
    """The stages that failed, or led to nothing, by nest. A line that was cut short by the end of
    whoever wrote it is left out.

    Args:
        version: of loopbook; what another one has failed at is tried again.
    """

    def __init__(self, path: Path, version: str) -> None:
        self.path = path
        self._version = version
        self._stages: dict[Key, str] = {}
        try:
            lines = path.read_text(errors="replace").splitlines() if path.exists() else []
        except OSError as error:
            raise BookError(f"cannot read {path}: {error.strerror}") from None
        for line in lines:
            try:
                told = json.loads(line)
                key = str(told["nest"]), str(told["target"]), str(told["hardware"])
                if told["version"] == version and told["stage"] in (FAILED, SEARCHED):
                    self._stages[key] = told["stage"]
            except (ValueError, KeyError, TypeError):
                continue

    def stage(self, key: Key) -> str:
        """`FAILED`, `SEARCHED` or nothing."""
        return self._stages.get(key, "")

    def note(self, key: Key, stage: str, why: str) -> None:
        """Remember that a stage ended for a nest.

        Raises:
            BookError: the journal cannot be written.
        """
        self._stages[key] = stage
        nest, target, hardware = key
        told = {"nest": nest, "target": target, "hardware": hardware, "stage": stage}
        told |= {"why": one_line(why, 500), "version": self._version}
        try:
            private.make_folders(self.path.parent)
            with self.path.open("a") as file:
                # First a line's end: what was cut short before must not spoil this line.
                file.write("\n" + json.dumps(told) + "\n")
        except OSError as error:
            raise BookError(f"cannot write {self.path}: {error.strerror}") from None

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep others from adopting for the same book at the same time: they would disturb each
        other's times.

        Raises:
            InputError: somebody does so already.
        """
        with claimed(self.path.with_suffix(".lock")) as mine:
            if not mine:
                raise InputError(f"this is being done already: {self.path} is in use")
            yield
