"""Transfers in compressed Parquet, with all that it takes to learn from them.

A folder holds

- ``pairs-KEY-TARGET.parquet``: a row for each pair of nests, hardware profile and target, with the
  fields of `loopbook.tuner.transfers.rows.Unit` and of `Pair`;
- ``own-KEY-TARGET.parquet``: the same for records of the very nests, whose recipes were measured
  again beside those of others;
- ``places.parquet``: the nests measured, each with the best that is known on every machine;
- ``donors.parquet`` and ``nests.parquet``: the records, and all nests as SDFG JSON;
- ``profiles.parquet``: the machines.

Needs pyarrow, the extra ``corpus``.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loopbook.errors import CorpusError, InputError
from loopbook.recipes.record import Record
from loopbook.tuner import corpus as candidates
from loopbook.tuner import parquet
from loopbook.tuner.transfers import log
from loopbook.tuner.transfers.rows import (
    OUTCOMES,
    OWN,
    Best,
    DonorRow,
    NestRow,
    Pair,
    Place,
    ProfileRow,
    Unit,
)

if TYPE_CHECKING:
    import pyarrow as pa

FOLDER = candidates.CORPUS / "transfers"
"""The transfers in the repository; wheels come without."""

VERSION = b"transfers 1"

Row = dict[str, Any]

_PAIR = (Unit, Pair)
_PLACE = (Unit, Place, Best)
_SIDE = {"donors": (DonorRow,), "nests": (NestRow,), "profiles": (ProfileRow,), "places": _PLACE}
_KEYS = {
    "donors": ("record",),
    "nests": ("fingerprint",),
    "profiles": ("hardware",),
    "places": ("target", "hardware", "program", "preset", "nest"),
    "pairs": ("program", "preset", "nest", "record", "drawn", "port_version", "seed"),
}
"""What rows are told apart by, and sorted by."""


@dataclass(frozen=True)
class Packed:
    """What `pack` did: rows added to those that were there."""

    added: int
    known: int


@dataclass
class Group:
    """The pairs of one target on one kind of machine.

    Attributes:
        outcomes: outcome to how many pairs, as in `OUTCOMES`.
        programs, nests, donors: how many different ones.
        shared: pairs whose generated code is that of another one.
    """

    target: str
    hardware: str
    outcomes: dict[str, int] = field(default_factory=dict)
    programs: int = 0
    nests: int = 0
    donors: int = 0
    shared: int = 0

    @property
    def pairs(self) -> int:
        return sum(self.outcomes.values())

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "pairs": self.pairs}


def pack(logs: Iterable[Path], folder: Path = FOLDER) -> Packed:
    """Add what logs hold to a folder; pairs that it has are not added again.

    Args:
        logs: folders that `loopbook.tuner.transfers.measure.measure` has filled.
        folder: made if missing.

    Raises:
        CorpusError: a log or file cannot be read, or the folder cannot be written.
    """
    fresh = _harvest(logs)
    added = known = 0
    with parquet.locked(folder):
        groups: dict[str, list[Row]] = {}
        for row in fresh.pop("pairs"):
            groups.setdefault(_file_of(row), []).append(row)
        for name, rows in sorted(groups.items()):
            before, after = _merge(folder / name, _PAIR, "pairs", rows)
            added, known = added + after - before, known + before
        for name in ("donors", "nests", "profiles"):
            _merge(folder / f"{name}.parquet", _SIDE[name], name, fresh[name])
        places = _judged(fresh["places"], folder)
        _merge(folder / "places.parquet", _PLACE, "places", places)
    return Packed(added, known)


def load(
    folder: Path = FOLDER,
    *,
    own: bool = False,
    target: str | Collection[str] | None = None,
    hardware: str | Collection[str] | None = None,
    outcome: str | Collection[str] | None = None,
) -> pa.Table:
    """The pairs, or those that have one of the given values in each of these columns.

    Args:
        own: instead, records of the very nests.

    Raises:
        CorpusError: there are none, or a file is damaged or of another make.
    """
    files = sorted(folder.glob("own-*.parquet" if own else "pairs-*.parquet"))
    if not files:
        raise CorpusError(
            f"there are no transfers at {folder}; 'loopbook transfers pack' adds some"
        )
    wanted = {"target": target, "hardware": hardware, "outcome": outcome}
    return parquet.read_all(files, parquet.schema_of(VERSION, *_PAIR), wanted)


def side(name: str, folder: Path = FOLDER) -> pa.Table:
    """One of the tables "donors", "nests", "places" and "profiles".

    Raises:
        CorpusError: there is none, or it is damaged or of another make.
    """
    return parquet.read(folder / f"{name}.parquet", parquet.schema_of(VERSION, *_SIDE[name]))


def summary(table: pa.Table) -> list[Group]:
    """Counts by target and hardware."""
    groups: dict[tuple[str, str], Group] = {}
    different: dict[tuple[str, str], dict[str, set[str]]] = {}
    columns = ["target", "hardware", "outcome", "shared", "program", "fingerprint", "record"]
    for row in parquet.rows_of(table.select(columns)):
        key = row["target"], row["hardware"]
        group = groups.setdefault(key, Group(*key))
        group.outcomes[row["outcome"]] = group.outcomes.get(row["outcome"], 0) + 1
        group.shared += row["shared"]
        for column in ("program", "fingerprint", "record"):
            different.setdefault(key, {}).setdefault(column, set()).add(row[column])
    for key, group in groups.items():
        group.programs, group.nests, group.donors = map(len, different[key].values())
        group.outcomes = {o: group.outcomes[o] for o in OUTCOMES if o in group.outcomes}
    return [groups[key] for key in sorted(groups)]


# -- packing ------------------------------------------------------------------------------------


def _harvest(folders: Iterable[Path]) -> dict[str, list[Row]]:
    """The rows of each kind in logs. Those of places say nothing yet of what is best there."""
    found: dict[str, list[Row]] = {name: [] for name in _KEYS}
    for folder in folders:
        files = sorted(folder.glob("*.jsonl"))
        if not files:
            raise CorpusError(f"there are no logs of transfers in {folder}")
        for path in files:
            _read_log(path, found)
    return found


def _read_log(path: Path, found: dict[str, list[Row]]) -> None:
    unit: Row | None = None
    for key, value in log.lines(path):
        try:
            if key == log.UNIT:
                unit = asdict(Unit(**value))
            elif key == log.PAIR and unit:
                found["pairs"].append(unit | asdict(Pair(**value)))
            elif key == log.PLACE and unit:
                found["places"].append(unit | asdict(Place(**value)))
            elif key == log.NEST:
                found["nests"].append(asdict(NestRow(**value)))
            elif key == log.RECORD:
                record = Record.from_json(value)
                found["donors"].append(asdict(_donor(record)))
                found["nests"].append(asdict(NestRow(record.fingerprint, record.nest_json)))
            elif key == log.PROFILE:
                profile = json.dumps(value["profile"], sort_keys=True)
                found["profiles"].append(asdict(ProfileRow(value["hardware"], profile)))
        except (TypeError, KeyError, InputError):
            continue


def _donor(record: Record) -> DonorRow:
    trips = [one.trips for one in record.measurements if one.trips]
    return DonorRow(
        record=record.id,
        donor=record.nest,
        fingerprint=record.fingerprint,
        kernel=record.kernel,
        target=record.target,
        hardware=record.hardware.key,
        recipe=record.recipe.text(),
        speedup=record.speedup,
        trips=max(trips, key=lambda one: sum(one.values()), default={}),
        source=record.provenance.source,
    )


def _file_of(row: Row) -> str:
    kind = OWN if row["drawn"] == OWN else "pairs"
    return f"{kind}-{row['hardware']}-{row['target']}.parquet"


def _merge(path: Path, kinds: tuple[type, ...], key: str, fresh: Iterable[Row]) -> tuple[int, int]:
    """Add rows to a file, in place of those with the same key; how many there were and are."""
    schema = parquet.schema_of(VERSION, *kinds)
    table = parquet.read(path, schema) if path.exists() else None
    known = {_key(row, key): row for row in parquet.rows_of(table)} if table is not None else {}
    before = len(known)
    known |= {_key(row, key): row for row in fresh}
    if known:
        rows = [known[key] for key in sorted(known)]
        parquet.write(path, parquet.table_of(rows, schema))
    return before, len(known)


def _key(row: Row, kind: str) -> tuple[Any, ...]:
    return tuple(row[column] for column in _KEYS[kind])


def _judged(places: Iterable[Row], folder: Path) -> Iterator[Row]:
    """Places with the best that the pairs in `folder` say, once for each kind of machine."""
    measured: dict[tuple[Any, ...], list[Row]] = {}
    where = ("target", "program", "preset", "nest")
    for own in (False, True):
        if list(folder.glob("own-*.parquet")) or not own:
            for row in parquet.rows_of(load(folder, own=own)):
                measured.setdefault(tuple(row[c] for c in where), []).append(row)
    for place in {tuple(row[c] for c in where): row for row in places}.items():
        by_machine: dict[str, list[Row]] = {}
        for row in measured.get(place[0], ()):
            by_machine.setdefault(row["hardware"], []).append(row)
        for hardware, rows in by_machine.items():
            yield place[1] | asdict(_best(hardware, rows))


def _best(hardware: str, rows: Iterable[Row]) -> Best:
    timed = [row for row in rows if row["speedup"] is not None]
    baseline = statistics.median(row["baseline_s"] for row in timed) if timed else None
    best = max(timed, key=lambda row: row["speedup"], default=None)
    if best is None or best["speedup"] <= 1.0:
        return Best(hardware, baseline, 1.0, "", "docc")
    source = OWN if best["drawn"] == OWN else "pair"
    return Best(hardware, baseline, best["speedup"], best["ported"], source)
