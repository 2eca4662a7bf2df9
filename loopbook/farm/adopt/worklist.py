"""The nests of books that this machine may adopt, and how much each of them matters."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from loopbook.client.machines import ranked
from loopbook.client.sizes import exact_speedup
from loopbook.farm.adopt.gains import COMPARED, SEARCHED, Outlook
from loopbook.farm.adopt.journal import Journal, Key
from loopbook.recipes.book import Book
from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.record import ADOPTED, Measurement, Record
from loopbook.tuner.transfers.donors import family_of

COMPARING, SEARCHING = ADOPTED, f"{ADOPTED}, searched"
"""Sources of the records that came of adopting, as their provenance tells."""

SHORT_S = 0.2
"""Recipes are compared at the largest size that was measured at which a run of docc's own compile
takes no longer than this; where there is none, at the smallest."""

MADE_UP = 0.1
"""What a program counts that was made up to be learnt from, which nobody runs: others count 1."""

ARRAYS = "arrays"
"""What the names of generated chains of NumPy statements begin with."""


@dataclass(frozen=True)
class Entry:
    """One nest for one target.

    Attributes:
        record: what planning would serve here if nothing was measured here: of another machine;
            one of this machine where there is no other.
        size: the measurement at whose size recipes are compared.
        strange: only strangers' books have it; it is built and run in a jail.
    """

    record: Record
    size: Measurement | None
    strange: bool
    outlook: Outlook

    @property
    def trips(self) -> Mapping[str, int]:
        """Of the size to compare at; empty where nobody knows."""
        return self.size.trips if self.size else {}

    @property
    def baseline_s(self) -> float:
        """Seconds of a run at that size, where it was measured."""
        return self.size.baseline_s if self.size else 0.0


def worklist(
    books: Sequence[Book],
    trusted: Collection[str],
    hardware: Mapping[str, HardwareProfile],
    journal: Journal,
) -> dict[Key, Entry]:
    """All nests that books have for some targets.

    Args:
        trusted: names of the books whose nests may be run outside of jails.
        hardware: target to this machine as programs for it use it.

    Raises:
        BookError: a book can't be read.
    """
    found: dict[Key, list[tuple[int, Record]]] = defaultdict(list)
    safe: set[Key] = set()
    for place, book in enumerate(books):
        own = book.name in trusted and not book.foreign
        for target, here in hardware.items():
            for record in book.records(target=target):
                key = record.fingerprint, target, here.key
                found[key].append((place, record))
                if own:
                    safe.add(key)
    matters = Counter(dict(_programs(r for rows in found.values() for _, r in rows)))
    for book in books:
        for miss in book.misses():
            matters[miss.fingerprint, miss.target] += miss.count
    return {
        key: _entry(
            rows, hardware[key[1]], key not in safe, matters[key[0], key[1]], journal.stage(key)
        )
        for key, rows in found.items()
    }


def _entry(
    rows: Sequence[tuple[int, Record]],
    here: HardwareProfile,
    strange: bool,
    weight: float,
    failed: str,
) -> Entry:
    own = [record for _, record in rows if record.hardware.key == here.key]
    others = [row for row in rows if row[1].hardware.key != here.key]
    first = ranked(others or rows, here, {})[0]
    size = usual_size(first)
    there = math.log(max(1.0, size.speedup)) if size else 0.0
    away = here.distance(first.hardware)
    outlook = Outlook(weight, there, away, measured_gain(own, size), stage_of(own) or failed)
    if own and failed:
        outlook = Outlook(weight, there, away, outlook.here, SEARCHED)
    return Entry(first, size, strange, outlook)


def usual_size(record: Record) -> Measurement | None:
    """The measurement of the size to compare at; None where nothing was measured."""
    short = [one for one in record.measurements if one.baseline_s <= SHORT_S]
    if short:
        return max(short, key=lambda one: one.baseline_s)
    return min(record.measurements, key=lambda one: one.baseline_s, default=None)


def measured_gain(own: Iterable[Record], size: Measurement | None) -> float | None:
    """The gain of the best of this machine's records at a size; None without records."""
    trips = size.trips if size else {}
    gains = [math.log(max(1.0, exact_speedup(record, trips))) for record in own]
    return max(gains, default=None)


def stage_of(own: Iterable[Record]) -> str:
    """How far this machine's records of a nest go: what was tuned here was searched for."""
    sources = {record.provenance.source for record in own}
    if not sources:
        return ""
    return COMPARED if sources == {COMPARING} else SEARCHED


def _programs(records: Iterable[Record]) -> Iterator[tuple[tuple[str, str], float]]:
    """Fingerprint and target of each nest, and what it is worth: the sum of its shares of the time
    that the programs take which have it."""
    seconds: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    nests: dict[tuple[str, str], set[tuple[str, str]]] = defaultdict(set)
    for record in records:
        if record.adopted:
            continue
        longest = max((one.baseline_s for one in record.measurements), default=0.0)
        program = seconds[record.kernel, record.target]
        program[record.nest] = max(longest, program.get(record.nest, 0.0))
        nests[record.fingerprint, record.target].add((record.kernel, record.nest))
    for (fingerprint, target), where in nests.items():
        worth = 0.0
        for kernel, nest in where:
            program = seconds[kernel, target]
            whole = sum(program.values())
            share = program[nest] / whole if whole else 1 / len(program)
            worth += share * (MADE_UP if made_up(kernel) else 1.0)
        yield (fingerprint, target), worth


def made_up(kernel: str) -> bool:
    """Whether a program is one of those that loopbook makes to learn from."""
    return family_of(kernel) != kernel or kernel.partition(".")[0] == ARRAYS
