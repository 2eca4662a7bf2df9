"""The pages' documents: what the web application reads, and what ``.json`` addresses answer.

Numbers that are not known are None, never made up. Times are seconds, moments seconds since 1970,
places on the map from -1 to 1 in both directions.
"""

from __future__ import annotations

from typing import Any

import msgspec


class Document(msgspec.Struct, omit_defaults=False):
    """What can be written as JSON."""

    def json(self) -> bytes:
        return msgspec.json.encode(self)


# -- about ---------------------------------------------------------------------------------------


class About(Document):
    """What is looked at.

    Attributes:
        pages: those that there are; a file has no live page.
        commands: page to the command lines that say the same on a terminal.
    """

    version: str
    book: str
    records: int
    families: int
    machines: int
    misses: int
    read_only: bool
    pages: list[str]
    commands: dict[str, list[str]]


# -- map -----------------------------------------------------------------------------------------


class Projection(Document):
    """How vectors became places: "tsne", "pca", or "none" where there are no vectors."""

    method: str
    encoder: str


class Machine(Document):
    id: str
    name: str


class Columns(Document):
    """Records, one entry in each list; `family`, `machine` and `target` are places in the lists of
    the map."""

    id: list[str]
    name: list[str]
    x: list[float]
    y: list[float]
    speedup: list[float | None]
    family: list[int]
    machine: list[int]
    target: list[int]
    created: list[int]


class Cluster(Document):
    """A crowd on the map, named after what most of it is."""

    x: float
    y: float
    name: str
    size: int


class Misses(Document):
    """Nests asked for in vain; `state` is "open", "leased", "done" or "failed", and `record` what
    came of it."""

    id: list[str]
    x: list[float]
    y: list[float]
    asked: list[int]
    state: list[str]
    record: list[str | None]


class Map(Document):
    generated: str
    count: int
    projection: Projection
    families: list[str]
    machines: list[Machine]
    targets: list[str]
    columns: Columns
    clusters: list[Cluster]
    misses: Misses


# -- record --------------------------------------------------------------------------------------


class State(Document):
    """A nest before any step (`step` is None) or after one more.

    Attributes:
        summary: what the step does, as its class says.
        cpp: the nest's C++; None where it was not asked for, or there is none.
        refused: why the step is not legal here; the nest is what it was before.
        pending: there was no time for the step; it comes with the C++.
    """

    step: str | None
    summary: str
    nest: str
    cpp: str | None = None
    refused: str | None = None
    pending: bool = False


class Size(Document):
    preset: str
    sizes: dict[str, int]
    baseline_s: float
    optimized_s: float
    speedup: float
    machine: str


class Point(Document):
    """`intensity`: floating-point operations for each byte that has to come from memory."""

    label: str
    intensity: float
    gflops: float


class Roofline(Document):
    """`measured`: whether the machine was; else peak and bandwidth are None."""

    peak_gflops: float | None
    bandwidth_gb_s: float | None
    points: list[Point]
    note: str = ""


class Related(Document):
    id: str
    name: str
    distance: float
    speedup: float


class RecordPage(Document):
    id: str
    name: str
    family: str
    target: str
    machine: dict[str, Any]
    speedup: float
    created: int
    provenance: dict[str, Any]
    nest: str
    recipe: list[str]
    steps: list[State]
    sizes: list[Size]
    roofline: Roofline | None
    related: list[Related]
    commands: list[str]
    problems: list[str]


class Code(Document):
    """The states of a record's nest, all of them, with their C++.

    Attributes:
        problem: why some have none.
    """

    id: str
    steps: list[State]
    problem: str | None = None


# -- locate --------------------------------------------------------------------------------------


class Expected(Document):
    """Speedup to expect: `mid`, and with high probability not less than `low`; `high` is what the
    record itself reached, which a port rarely exceeds."""

    low: float
    mid: float
    high: float


class Near(Document):
    """A neighbour. `fingerprint` is for finding its place, and not sent."""

    record: str
    name: str
    x: float | None
    y: float | None
    distance: float
    speedup: float
    expected: Expected | None
    taken: bool
    why: str
    refused: list[str]
    recipe: list[str]
    fingerprint: str | msgspec.UnsetType = msgspec.UNSET


class Decision(Document):
    """`tier`: "exact", "neighbour" or "none"."""

    tier: str
    record: str | None
    why: str
    recipe: list[str]
    expected: float


class Located(Document):
    """A nest of what was pasted. `vector` and `encoder` are for finding its place, and not sent."""

    name: str
    loops: str
    x: float | None
    y: float | None
    fingerprint: str
    decision: Decision
    neighbours: list[Near]
    vector: list[float] | msgspec.UnsetType = msgspec.UNSET
    encoder: str | msgspec.UnsetType = msgspec.UNSET


class Location(Document):
    nests: list[Located]
    problems: list[str]
    command: str


# -- live ----------------------------------------------------------------------------------------


class Queue(Document):
    open: int
    leased: int
    done: int
    failed: int


class Task(Document):
    id: str
    kind: str
    name: str
    state: str
    worker: str | None
    since: float
    error: str = ""


class Worker(Document):
    name: str
    machine: str
    state: str
    task: str | None
    seen: float


class Miss(Document):
    id: str
    name: str
    asked: int
    state: str
    record: str | None


class LiveMisses(Document):
    open: int
    done: int
    latest: list[Miss]


class Event(Document):
    time: float
    kind: str
    text: str
    record: str | None


class Search(Document):
    """`best`: trial and speedup, wherever a better one was found."""

    id: str
    name: str
    target: str
    state: str
    trials: int
    failures: int
    best: list[tuple[int, float]]


class Live(Document):
    generated: str
    queue: Queue
    tasks: list[Task]
    workers: list[Worker]
    misses: LiveMisses
    events: list[Event]
    searches: list[Search]


# -- evaluation ----------------------------------------------------------------------------------


class Column(Document):
    """`kind`: "text", "number", "times", "percent" or "seconds"."""

    key: str
    label: str
    kind: str


class Table(Document):
    id: str
    title: str
    note: str
    columns: list[Column]
    rows: list[list[Any]]


class Axis(Document):
    label: str
    log: bool


class Series(Document):
    name: str
    points: list[list[Any]]


class Figure(Document):
    """`kind`: "lines", "points" or "bars", whose x is a name; `diagonal`: with the line x = y."""

    id: str
    title: str
    note: str
    kind: str
    x: Axis
    y: Axis
    diagonal: bool
    series: list[Series]


class Evaluation(Document):
    generated: str
    commands: list[str]
    tables: list[Table]
    figures: list[Figure]
    problem: str | None = None
