"""Samples: single measured candidates with all that is known about them, read from logs of trials.

A log (see `loopbook.tuner.log`) says once for a search what it was, and then only what differs from
trial to trial. A sample says all of it, so that samples of many searches can stand in one table.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loopbook.errors import CorpusError, InputError
from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.recipe import Recipe
from loopbook.targets import TARGETS

MAX_MESSAGE = 500
"""Characters kept of a failure's message; a compiler's goes on for pages."""

_HARDWARE_KEY = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_MAX_LINE = 2**24
_MAX_COUNT = 2**31


@dataclass(frozen=True, slots=True)
class Sample:
    """One candidate for one nest.

    Attributes:
        kernel: the program it was measured in.
        nest: position in the prepared program.
        fingerprint: of the nest.
        steps: the recipe as text, see `loopbook.recipes.recipe.Recipe.text`.
        target: a name in `loopbook.targets.TARGETS`.
        hardware: key of the machine's profile.
        profile: that `HardwareProfile` as JSON text; empty where only the key is known.
        preset, sizes: of the problem; no sizes where the log did not tell.
        strategy, seed: of the search; `number` counts its candidates from 0.
        status: "ok" or the kind of failure, see `loopbook.tuner.session.Outcome`.
        speedup: of the nest over docc's own schedule; None for a failure.
        before_s, after_s: seconds of the nest, by docc's own schedule and with the recipe; None
            for a failure, and in logs that did not tell.
        program_s: seconds of the whole program; None for a failure.
        code: hash of the generated C++; candidates with the same one are measured once.
        message: why it failed.
        docc, compiler, loopbook: versions used; empty where the log did not tell, as `date`.
        date: when it was measured, ISO 8601.
    """

    kernel: str
    nest: int
    fingerprint: str
    steps: str
    target: str
    hardware: str
    profile: str
    preset: str
    sizes: dict[str, int]
    strategy: str
    seed: int
    number: int
    status: str
    speedup: float | None
    before_s: float | None
    after_s: float | None
    program_s: float | None
    code: str
    message: str
    docc: str
    compiler: str
    loopbook: str
    date: str

    @property
    def recipe(self) -> Recipe:
        """The steps as data."""
        return Recipe.parse(self.steps)

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for the same trial of the same search, however often its log is read."""
        search = (self.kernel, self.target, self.hardware, self.preset, tuple(self.sizes.items()))
        drawn = (self.strategy, self.seed, self.number, self.nest, self.steps, self.date)
        return (*search, *drawn, self.status, self.speedup, self.program_s)


@dataclass
class Harvest:
    """What logs hold.

    Attributes:
        skipped: lines that are neither a search nor a trial: torn, damaged, or of another make.
    """

    samples: list[Sample]
    skipped: int = 0


def read_logs(paths: Iterable[Path], profiles: Mapping[str, HardwareProfile]) -> Harvest:
    """All trials of logs. Each is a file of JSON lines, compressed if its name ends in ``.gz``, of
    one search or of several one after the other; or a folder of such files.

    Args:
        profiles: key to profile, for logs that tell the key alone.

    Raises:
        CorpusError: a file cannot be read, or holds no search at all.
    """
    harvest = Harvest([])
    for path in paths:
        if path.is_dir():
            files = sorted([*path.glob("*.jsonl"), *path.glob("*.jsonl.gz")])
        else:
            files = [path]
        for file in files:
            _read_log(file, profiles, harvest)
    return harvest


def _read_log(path: Path, profiles: Mapping[str, HardwareProfile], harvest: Harvest) -> None:
    search: dict[str, Any] | None = None
    searches = lines = 0
    for line in _lines(path):
        lines += 1
        entry = _parsed(line)
        if _is_header(line, entry):
            search = None  # trials after a damaged header are not the last search's
        try:
            if _is_header(line, entry):
                search = _search(entry, profiles)
                searches += 1
            elif search is not None:
                harvest.samples.append(_sample(entry, search))
            else:
                harvest.skipped += 1
        except (ValueError, TypeError, KeyError, AttributeError, InputError):
            harvest.skipped += 1
    if lines and not searches:
        raise CorpusError(f"{path} is no log of trials")


def _parsed(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _is_header(line: bytes, entry: object) -> bool:
    """Also of a torn one, whose `entry` is None."""
    if isinstance(entry, dict):
        return "number" not in entry
    return entry is None and line.startswith(b'{"kernel"')


def _lines(path: Path) -> Iterator[bytes]:
    """The lines of a file; of a compressed one that is cut short, those before the cut."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            while line := file.readline(_MAX_LINE):
                yield line
    except EOFError:
        yield b""  # counts as a torn line
    except (gzip.BadGzipFile, zlib.error):
        raise CorpusError(f"{path} is damaged, or not compressed by gzip") from None
    except OSError as error:
        raise CorpusError(f"cannot read {path}: {error.strerror or error}") from None


def _search(header: Mapping[str, Any], profiles: Mapping[str, HardwareProfile]) -> dict[str, Any]:
    """What all samples of a search have in common.

    Raises:
        ValueError, TypeError, KeyError, InputError: it is no header.
    """
    hardware = _text(header["hardware"])
    if header["target"] not in TARGETS or not _HARDWARE_KEY.fullmatch(hardware):
        raise ValueError("no such target or hardware")  # both name a file
    profile = header.get("profile")
    known = HardwareProfile.from_json(profile) if profile else profiles.get(hardware)
    versions, sizes = header.get("versions") or {}, header.get("sizes") or {}
    return {
        "kernel": _text(header["kernel"]),
        "target": header["target"],
        "hardware": hardware,
        "profile": json.dumps(known.to_json(), sort_keys=True) if known else "",
        "preset": _text(header["preset"]),
        "sizes": {_text(name): _count(size) for name, size in sorted(sizes.items())},
        "strategy": _text(header["strategy"]),
        "seed": _count(header["seed"]),
        "docc": _text(versions.get("docc", "")),
        "compiler": _text(versions.get("compiler", "")),
        "loopbook": _text(versions.get("loopbook", "")),
        "date": _text(header.get("date", "")),
    }


def _sample(trial: Mapping[str, Any], search: Mapping[str, Any]) -> Sample:
    """A trial of a search.

    Raises:
        ValueError, TypeError, KeyError, InputError: it is no trial.
    """
    ok = trial["status"] == "ok"
    own = {"date": _text(trial["date"])} if trial.get("date") else {}
    return Sample(
        **{**search, **own},
        nest=_count(trial["nest"]),
        fingerprint=_text(trial["fingerprint"]),
        steps=Recipe.from_json(trial["recipe"]).text(),
        number=_count(trial["number"]),
        status=_text(trial["status"]),
        speedup=_positive(trial.get("speedup")) if ok else None,
        before_s=_positive(trial.get("before_s")) if ok else None,
        after_s=_positive(trial.get("after_s")) if ok else None,
        program_s=_positive(trial.get("seconds")) if ok else None,
        code=_text(trial.get("code", "")),
        message=_text(trial.get("message", "")),
    )


def _text(value: object) -> str:
    """A string that UTF-8 can hold, of bounded length."""
    if not isinstance(value, str):
        raise TypeError("no text")
    return value[:MAX_MESSAGE].encode("utf-8", "replace").decode("utf-8")


def _count(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < _MAX_COUNT:
        raise ValueError("no count")
    return value


def _positive(value: object) -> float | None:
    """A number that was measured; logs write 0 for what was not."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    # The limit also keeps out infinity, NaN, and a JSON integer too large for a double.
    return float(value) if 0 < value < _MAX_COUNT else None
