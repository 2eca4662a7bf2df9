"""The log of one program's transfers at one size.

JSON lines, each with one key that says what it is: first the `Unit`, then nests and pairs; a last
line says that all is done. A process that is killed leaves at most one torn line, which reading
skips.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from loopbook import private
from loopbook.errors import CorpusError
from loopbook.recipes.record import Record
from loopbook.tuner.transfers.rows import Pair, Place, Unit

UNIT, PLACE, NEST, PAIR, RECORD, PROFILE, DONE = (
    "unit", "place", "nest", "pair", "record", "profile", "done",
)  # fmt: skip


class TransferLog:
    """One file of lines; made on first write."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lines = list(lines(path)) if path.exists() else []
        self._measured = {
            (value["nest"], value["hardware"]) for key, value in self._lines if key == PAIR
        }

    @property
    def empty(self) -> bool:
        return not self._lines

    def done(self, hardware: Iterable[str]) -> bool:
        """Whether all has been measured, on all of these."""
        finished = [value for key, value in self._lines if key == DONE]
        return any(set(hardware) <= set(value) for value in finished)

    def measured(self, nest: int, hardware: str) -> bool:
        """Whether there are pairs of this nest on this kind of machine."""
        return (nest, hardware) in self._measured

    def begin(self, unit: Unit) -> None:
        self._write([{UNIT: asdict(unit)}])

    def place(self, place: Place, nest_json: str) -> None:
        nest = {"fingerprint": place.fingerprint, "nest_json": nest_json}
        self._write([{NEST: nest}, {PLACE: asdict(place)}])

    def pairs(self, pairs: Iterable[Pair]) -> None:
        """Keep the pairs of one nest on one kind of machine, all or none."""
        fresh = list(pairs)
        self._measured |= {(pair.nest, pair.hardware) for pair in fresh}
        self._write([{PAIR: asdict(pair)} for pair in fresh])

    def finish(self, hardware: Iterable[str]) -> None:
        self._write([{DONE: sorted(hardware)}])

    def records(self, records: Iterable[Record]) -> None:
        """Keep the records that recipes came from, each once."""
        known = {value["id"] for key, value in self._lines if key == RECORD}
        fresh = [record for record in records if record.id not in known]
        self._write([{RECORD: record.to_json()} for record in fresh])

    def profile(self, key: str, profile: dict[str, Any]) -> None:
        """Keep a hardware profile; the last one of a key counts."""
        told = PROFILE, {"hardware": key, "profile": profile}
        if told not in self._lines:
            self._write([dict([told])])

    def _write(self, entries: list[dict[str, Any]]) -> None:
        """Append lines, on disk before this returns.

        Raises:
            CorpusError: if the file cannot be written.
        """
        if not entries:
            return
        # A torn line before is ended by the first newline.
        text = "\n" + "".join(json.dumps(entry) + "\n" for entry in entries)
        try:
            private.make_folders(self.path.parent)
            with private.appended(self.path) as file:
                file.write(text.encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise CorpusError(f"cannot write {self.path}: {error.strerror}") from None
        for entry in entries:
            self._lines += entry.items()


def lines(path: Path) -> Iterator[tuple[str, Any]]:
    """What the lines of a log say, and the key of each; those that say nothing are skipped.

    Raises:
        CorpusError: if it cannot be read.
    """
    try:
        text = path.read_text(errors="replace")
    except OSError as error:
        raise CorpusError(f"cannot read {path}: {error.strerror}") from None
    for line in text.splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict):
            yield from entry.items()
