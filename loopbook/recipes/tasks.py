"""Tasks of the queue of work: what is asked for, what a worker gets, and what becomes of it."""

from __future__ import annotations

import hashlib
import json
import math
import zlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Annotated, Any, NamedTuple

import msgspec

from loopbook.errors import InputError
from loopbook.recipes import _demand, _fields
from loopbook.recipes._data import Count, Counts, Data, Figure, Line, Name, Text
from loopbook.targets import TARGETS, choice

TUNE, CONFIRM, REMEASURE, REEMBED = KINDS = ("tune", "confirm", "remeasure", "reembed")
"""Search a recipe for a nest; measure a record that waits in quarantine; measure one that is served
again; make a nest's vectors with the encoder in use."""

WAITING, LEASED, DONE, DEAD = STATES = ("waiting", "leased", "done", "dead")
"""A task waits, is leased, and ends as one of the last two. The dead are those that were given up:
the dead letter."""

MOST_NEST = 1 << 20
"""Characters of a nest's document."""

MOST_COUNT = 1_000_000
MOST_COST_S = 1e5
MOST_GAIN = 1e4
MOST_SIZES = 8
"""Different sizes of a nest that are remembered, the latest first."""

MOST_RECORDS = 64

Document = Annotated[str, msgspec.Meta(max_length=MOST_NEST, pattern=r"\A[^\x00\ud800-\udfff]*\Z")]


@dataclass(frozen=True)
class Wanted(Data):
    """What is known of a nest that somebody would have faster.

    Attributes:
        document: the nest as SDFG JSON text; empty where only a task that is there is meant.
        sizes: that it ran with, such as ``{"NI": 1000}``.
        cost_s: seconds of one run; 0 where that is not known.
        gain: the speedup that the model expects; 0 where it says nothing.

    Raises:
        InputError: a field is over its limits.
    """

    what = "a wanted nest"

    document: Document = field(default="", repr=False)
    sizes: Counts = field(default_factory=dict)
    cost_s: Figure = 0.0
    gain: Figure = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, most in (("cost_s", MOST_COST_S), ("gain", MOST_GAIN)):
            if not getattr(self, name) <= most:  # NaN is not
                raise InputError(f"{self.what}: {name} is at most {most:g}")


@dataclass(frozen=True)
class Ask:
    """A task that is asked for; see `loopbook.recipes.queue.Queue.ask`.

    Attributes:
        kind: one of `KINDS`.
        fingerprint: of the nest.
        target: a name in `loopbook.targets.TARGETS`; empty for re-embedding.
        hardware_key: class of the machines that it is for; empty for re-embedding.
        subject: id of the record to measure, or version of the encoder; empty for tuning.
        count: how often it was asked for.

    Raises:
        InputError: it is no task that can be done.
    """

    kind: str
    fingerprint: str
    target: str = ""
    hardware_key: str = ""
    subject: str = ""
    count: int = 1
    wanted: Wanted = field(default_factory=Wanted)

    def __post_init__(self) -> None:
        what = "a task"
        if self.kind not in KINDS:
            raise InputError(f"{what}: kind is one of {', '.join(KINDS)}")
        _fields.check_text(self.fingerprint, f"{what}: fingerprint", limit=128, empty=False)
        _fields.check_text(self.hardware_key, f"{what}: hardware_key", limit=64)
        _fields.check_text(self.subject, f"{what}: subject", limit=128, empty=self.kind == TUNE)
        if self.kind == REEMBED and (self.target or self.hardware_key):
            raise InputError(f"{what} to re-embed is for no target and no class of hardware")
        if self.kind != REEMBED and self.target not in TARGETS:
            raise InputError(f"{what}: target is {choice()}")
        if self.kind == TUNE and self.subject:
            raise InputError(f"{what} to tune has no subject")
        _fields.check_integer(self.count, f"{what}: count")
        if not 1 <= self.count <= MOST_COUNT:
            raise InputError(f"{what}: count is from 1 to {MOST_COUNT}")

    @property
    def key(self) -> str:
        """The same for all asks that are one task."""
        return key_of(self.kind, self.fingerprint, self.target, self.hardware_key, self.subject)


class Abilities(NamedTuple):
    """What a worker can do.

    Attributes:
        kinds: of tasks.
        hardware: target to the class of its machine as programs for the target use it; see
            `loopbook.recipes.hardware.HardwareProfile.key`.
    """

    kinds: Collection[str]
    hardware: Mapping[str, str]

    @property
    def lanes(self) -> list[str]:
        """The lanes of the tasks that it can do."""
        found = [
            lane_of(kind, target, key)
            for kind in self.kinds
            for target, key in self.hardware.items()
            if kind != REEMBED
        ]
        return found + [lane_of(REEMBED, "", "")] * (REEMBED in self.kinds)


@dataclass(frozen=True)
class Task(Data):
    """A task as it is now.

    Attributes:
        sizes: that the nest was asked for with, the latest first.
        asked: how often.
        asked_last: when last; all times are seconds since 1970.
        cost_s, gain: see `Wanted`; the latest that were known.
        raised: what was added to `priority` by hand.
        priority: those with the greatest come first.
        state: one of `STATES`.
        due: when its lease or its pause ends; None where it has none.
        attempts: leases since it was asked for, or raised from the dead, without those lost.
        lost: leases that were lost since then: no word came from the worker before the deadline.
        lease: the last lease's id; empty where there was none.
        worker: that had or has it.
        error: what went wrong last.
        records: ids of the records that came of it.
        changed: when it got its state.
    """

    what = "a task"

    id: Name
    key: Name
    kind: Name
    fingerprint: Name
    target: Name
    hardware_key: Name
    subject: Name
    sizes: Annotated[list[Counts], msgspec.Meta(max_length=MOST_SIZES)]
    asked: Count
    asked_last: float
    cost_s: Figure
    gain: Figure
    demand: float
    raised: float
    priority: float
    state: Name
    due: float | None
    attempts: Count
    lost: Count
    lease: Name
    worker: Line
    error: Text
    records: Annotated[list[Name], msgspec.Meta(max_length=MOST_RECORDS)]
    created: float
    changed: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kind not in KINDS or self.state not in STATES:
            raise InputError(f"{self.what}: there is no such kind or state")
        numbers = (self.asked_last, self.demand, self.raised, self.priority, self.due or 0.0)
        if not all(map(math.isfinite, (*numbers, self.created, self.changed))):
            raise InputError(f"{self.what}: a number is not finite")
        own = key_of(self.kind, self.fingerprint, self.target, self.hardware_key, self.subject)
        if self.key not in (own, self.id):
            raise InputError(f"{self.what} differs from what was written")

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Task:
        """The task of a row of the table.

        Raises:
            InputError, ValueError, TypeError: the row is damaged.
        """
        told = {name: row[name] for name in COLUMNS}
        if any(isinstance(value, bytes) for value in told.values()):
            raise InputError(f"{cls.what} holds bytes where there were none")
        return cls(**told | {name: json.loads(row[name]) for name in ("sizes", "records")})

    def told(self, now: float) -> dict[str, Any]:
        """For people and their programs: times as ISO 8601 in UTC, the priority as seconds of run
        time to be saved."""
        found = {name: value for name, value in self.to_json().items() if name not in _OWN}
        found["worth_s"] = float(f"{_demand.worth(self.priority, now):.4g}")
        for name in ("asked_last", "due", "created", "changed"):
            found[name] = _iso(found[name])
        return found


COLUMNS = tuple(one.name for one in fields(Task) if one.name != "others")
"""Of the table, that make a `Task`."""

_OWN = ("key", "demand", "raised", "priority", "others")


class Lease(NamedTuple):
    """The right, and the duty, to do a task until a deadline.

    Attributes:
        id: of its own: whatever is reported under it counts once.
        deadline: seconds since 1970 on the database's clock.
        document: the nest as SDFG JSON text.
    """

    id: str
    task: Task
    deadline: float
    document: str


class Asked(NamedTuple):
    """What became of an ask.

    Attributes:
        task: its id.
        state: of the task.
        new: whether there was none before.
    """

    task: str
    state: str
    new: bool


class Ending(NamedTuple):
    """What became of a report on a lease.

    Attributes:
        changed: whether it counted.
        state: of the task now; empty where there is none any more.
        why: it did not count, in words.
    """

    changed: bool
    state: str
    why: str = ""


def key_of(*parts: str) -> str:
    """32 hexadecimal digits for all that makes two asks the same task."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def lane_of(kind: str, target: str, hardware_key: str) -> str:
    """What a worker has to be able to do for such a task, as one word for the index."""
    return " ".join((kind, target, hardware_key)).rstrip()


def packed(document: str) -> bytes:
    """A nest's document as the table keeps it."""
    return zlib.compress(document.encode()) if document else b""


def unpacked(body: object) -> str:
    """A nest's document from the table.

    Raises:
        InputError, ValueError, zlib.error: it is damaged.
    """
    if not isinstance(body, bytes):
        raise InputError("the nest is no document")
    if not body:
        return ""
    inflate = zlib.decompressobj()
    text = inflate.decompress(body, 4 * MOST_NEST)
    if inflate.unconsumed_tail or not inflate.eof:
        raise InputError("the nest can't be unpacked")
    return text.decode()


def _iso(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return str(seconds)
