"""Searches of the tuner, as their logs tell them: those that run and those that are over."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from loopbook.explorer.documents import Search

MOST = 30
"""Searches that are shown, the latest first."""

MOST_BYTES = 16 << 20
"""Of one log that are read."""

RUNNING_S = 120.0
"""A log that nobody wrote to for so long is of a search that is over, or was stopped."""


class _Header(msgspec.Struct):
    kernel: str = "?"
    preset: str = ""
    target: str = ""


class _Trial(msgspec.Struct):
    number: int
    status: str
    speedup: float = 0.0


_HEADER = msgspec.json.Decoder(_Header)
_TRIAL = msgspec.json.Decoder(_Trial)


def trial_folders(books: Iterable[Path]) -> list[Path]:
    """Where searches that fill these books keep their logs."""
    return [path.parent / f"{path.stem}-trials" for path in books]


def searches(folders: Iterable[Path]) -> list[Search]:
    """The latest searches whose logs are in these folders."""
    found: list[tuple[float, Path]] = []
    for folder in folders:
        try:
            found += [(path.stat().st_mtime, path) for path in folder.glob("**/*.jsonl")]
        except OSError:
            continue
    found.sort(key=lambda one: -one[0])
    made = (_search(path, changed) for changed, path in found[:MOST])
    return [one for one in made if one is not None]


def _search(path: Path, changed: float) -> Search | None:
    try:
        with path.open("rb") as file:
            lines = file.read(MOST_BYTES).splitlines()
        header = _HEADER.decode(lines[0])
    except (OSError, IndexError, msgspec.MsgspecError):
        return None
    trials = {one.number: one for one in _trials(lines[1:])}
    best: list[tuple[int, float]] = []
    failures = 0
    for number, one in sorted(trials.items()):
        failures += one.status != "ok"
        if one.status == "ok" and (not best or one.speedup > best[-1][1]):
            best.append((number, round(one.speedup, 4)))
    name = f"{header.kernel} {header.preset}".strip()
    state = "running" if time.time() - changed < RUNNING_S else "done"
    identity = hashlib.sha256(str(path).encode()).hexdigest()[:16]
    return Search(identity, name, header.target, state, len(trials), failures, best)


def _trials(lines: list[bytes]) -> Iterator[_Trial]:
    """What of a log can be read: its last line may be torn. A candidate of several nests is one
    trial, by the best of them."""
    best: dict[int, _Trial] = {}
    for line in lines:
        try:
            one = _TRIAL.decode(line)
        except msgspec.MsgspecError:
            continue
        known = best.get(one.number)
        if known is None or one.speedup > known.speedup:
            best[one.number] = one
    yield from best.values()
