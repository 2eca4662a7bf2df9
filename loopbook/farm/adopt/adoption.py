"""Takes nest by nest within a budget: what measuring is worth most a second comes first."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from loopbook.client.layered import LayeredBook
from loopbook.errors import BookError, InputError, LoopbookError
from loopbook.farm.adopt.candidates import Proposals
from loopbook.farm.adopt.comparison import Comparison, best_of
from loopbook.farm.adopt.gains import (
    COMPARED,
    FAILED,
    SEARCHED,
    Outlook,
    Standing,
    carried_over,
    standing,
)
from loopbook.farm.adopt.journal import Journal, Key
from loopbook.farm.adopt.worklist import (
    COMPARING,
    SEARCHING,
    Entry,
    measured_gain,
    worklist,
)
from loopbook.farm.order import Found, Order, found_in, jailed, provenance, search_in_jail
from loopbook.recipes.book import Book
from loopbook.recipes.embedding import Embedding
from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.recipe import Recipe
from loopbook.recipes.record import Measurement, Record
from loopbook.toolchain.sandbox import run_limited

COMPARING_S, SEARCHING_S = 4.0, 30.0
"""What a comparison and a search take, to begin with; what they took is learnt from."""

RUNS = 40.0
"""Runs of docc's own compile that a comparison takes as long as."""

JAIL_S = 5.0
"""What a jail takes besides."""

MOST_S = 60.0, 300.0
"""No comparison and no search takes longer."""

ROOM, LEAST_S = 4.0, 60.0
"""A nest may take so many times what is expected, or these seconds; then it is given up."""

HOPE = 0.5
"""The share of what is missing that a search is expected to find, to begin with."""

LEARNING = 0.2
"""How much one nest counts for what the next one is expected to take, or to find."""


@dataclass(frozen=True)
class Step:
    """What became of one nest.

    Attributes:
        stage: `COMPARED`, `SEARCHED` or `FAILED`.
        speedup: that is served now, measured here; 0 where nothing was.
        expected: on the machine whose record was taken.
        error: why it failed.
        seconds: it took.
        standing: after it.
    """

    entry: Entry
    stage: str
    speedup: float
    expected: float
    error: str
    seconds: float
    standing: Standing


@dataclass(frozen=True)
class Settings:
    """How to adopt.

    Attributes:
        trials: candidates to measure where a nest is searched for.
        seed: of data and searches.
    """

    trials: int = 24
    seed: int = 0


class Adoption:
    """What there is to adopt from a layered book into its first layer.

    Args:
        layered: the own book is the first layer.
        trusted: names of the books whose nests may be run outside of jails.
        hardware: target to this machine as programs for it use it.
        jails: whether this machine has any; without, strangers' nests are left alone.

    Raises:
        BookError: a book can't be read.
        InputError: the first layer is no book that can be written.
    """

    def __init__(
        self,
        layered: LayeredBook,
        trusted: Sequence[str],
        hardware: Mapping[str, HardwareProfile],
        journal: Journal,
        settings: Settings | None = None,
        *,
        jails: bool = True,
    ) -> None:
        self._layered = layered
        self._hardware = hardware
        self._journal = journal
        self._settings = settings or Settings()
        self._propose = Proposals(layered)
        self._pace = {COMPARED: 1.0, SEARCHED: 1.0}
        self._hope = HOPE
        entries = worklist(layered.books, trusted, hardware, journal)
        self.entries = {k: one for k, one in entries.items() if jails or not one.strange}

    @property
    def standing(self) -> Standing:
        """Where this machine stands."""
        return standing([one.outlook for one in self.entries.values()])

    def run(self, seconds: float) -> Iterator[Step]:
        """Take nests, one by one, as long as there is time; each one's records are in the book when
        it is told of.

        Raises:
            BookError: the book can't be written.
            InputError: the first layer is no book that can be written.
        """
        book = self._layered.layers[0] if self._layered.layers else None
        if not isinstance(book, Book) or book.readonly:
            raise InputError("what is adopted needs a book of your own that can be written")
        deadline = time.monotonic() + seconds
        while (todo := self._next(deadline - time.monotonic())) is not None:
            yield self._take(book, *todo, deadline)

    def _next(self, left: float) -> tuple[Key, str] | None:
        """The nest and the stage that are worth most a second, of those that there is time for."""
        carried = carried_over(one.outlook for one in self.entries.values())
        best, most = None, 0.0
        for key, entry in self.entries.items():
            outlook = entry.outlook
            if outlook.stage == COMPARED:
                stage, gain = SEARCHED, self._hope * outlook.missing(carried)
            elif not outlook.stage:
                stage, gain = COMPARED, outlook.unsure()
            else:
                continue
            takes = self._takes(entry, stage)
            worth = outlook.weight * gain / takes
            if worth > most and takes <= left:
                best, most = (key, stage), worth
        return best

    def _takes(self, entry: Entry, stage: str) -> float:
        """Seconds that a stage of a nest is expected to take."""
        return self._pace[stage] * self._planned(entry, stage)

    def _planned(self, entry: Entry, stage: str) -> float:
        jail = JAIL_S if entry.strange else 0.0
        if stage == COMPARED:
            return COMPARING_S + RUNS * entry.baseline_s + jail
        return SEARCHING_S + self._settings.trials * RUNS / 4 * entry.baseline_s + jail

    def _take(self, book: Book, key: Key, stage: str, deadline: float) -> Step:
        entry, begun = self.entries[key], time.monotonic()
        most = MOST_S[stage == SEARCHED]
        limit = min(most, max(ROOM * self._takes(entry, stage), LEAST_S), deadline - begun)
        error = ""
        try:
            found = self._measured(key, entry, stage, limit)
            records = [self._record(entry, key, stage, one) for one in found]
            book.add_many((record, self._vectors(record)) for record in records)
            entry = self._measured_now(key, entry, stage, records)
        except BookError:
            raise
        except LoopbookError as failure:
            error = str(failure)
            if time.monotonic() < deadline:  # else only the budget's end may have cut it short
                self._journal.note(key, FAILED if stage == COMPARED else SEARCHED, error)
            ended = FAILED if stage == COMPARED else SEARCHED
            entry = replace(entry, outlook=replace(entry.outlook, stage=ended))
        if stage == SEARCHED:
            self._learn_hope(self.entries[key].outlook, entry.outlook)
        self.entries[key] = entry
        took = time.monotonic() - begun
        pace = min(max(took / self._planned(entry, stage), 0.1), 10.0)
        self._pace[stage] += LEARNING * (pace - self._pace[stage])
        gain = entry.outlook.here
        return Step(
            entry,
            FAILED if error else stage,
            0.0 if gain is None else math.exp(gain),
            math.exp(entry.outlook.there),
            error,
            took,
            self.standing,
        )

    def _learn_hope(self, before: Outlook, after: Outlook) -> None:
        """A search has ended: what did it find of what was missing?"""
        missing = before.missing(carried_over(one.outlook for one in self.entries.values()))
        if missing:
            found = min(1.0, max(0.0, after.now - before.now) / missing)
            self._hope += LEARNING * (found - self._hope)

    def _measured(self, key: Key, entry: Entry, stage: str, limit: float) -> list[Found]:
        """What comparing or searching finds.

        Raises:
            LoopbookError: it fails.
        """
        if stage == SEARCHED:
            return self._searched(key, entry, limit)
        begun = time.monotonic()
        recipes = self._propose(entry)
        if not recipes:
            raise InputError("there is no recipe to compare")
        comparison = Comparison(
            document=entry.record.nest_json,
            fingerprint=entry.record.fingerprint,
            target=entry.record.target,
            trips=dict(entry.trips),
            recipes=[one.text() for one in recipes],
            hardware=self._hardware[entry.record.target].to_json(),
            seed=self._settings.seed,
        )
        left = max(0.1, limit - (time.monotonic() - begun))
        return best_of(comparison, left, jailed=entry.strange)

    def _searched(self, key: Key, entry: Entry, limit: float) -> list[Found]:
        own = self._layered.exact(key[0], key[1], key[2])
        sizes = [dict(m.sizes) for one in own[:1] for m in one.measurements]
        order = Order(
            document=entry.record.nest_json,
            fingerprint=entry.record.fingerprint,
            target=entry.record.target,
            sizes=sizes,
            hardware=self._hardware[key[1]].to_json(),
            starts=[one.text() for one in self._propose(entry)],
            trials=self._settings.trials,
            seed=self._settings.seed,
        )
        if entry.strange:
            return search_in_jail(order, limit)
        what = "the search"
        return found_in(run_limited(jailed, order.to_json(), seconds=limit, what=what))

    def _record(self, entry: Entry, key: Key, stage: str, found: Found) -> Record:
        """A record of this machine, under the names of the one that was taken."""
        taken = entry.record
        source = COMPARING if stage == COMPARED else SEARCHING
        return Record(
            fingerprint=taken.fingerprint,
            nest=taken.nest,
            nest_json=taken.nest_json,
            target=taken.target,
            hardware=self._hardware[key[1]],
            recipe=Recipe.parse(found.recipe),
            measurements=tuple(map(Measurement.from_json, found.measurements)),
            provenance=provenance(taken.kernel, source, self._settings.seed, found.trials),
        )

    def _vectors(self, record: Record) -> list[Embedding]:
        """What the books know of the nest already; without any it is embedded when it is next
        asked for."""
        for book in self._layered.books:
            vectors = book.embedding(record.fingerprint, self._layered.encoder.version)
            if vectors is not None:
                return [vectors]
        return []

    def _measured_now(self, key: Key, entry: Entry, stage: str, records: Sequence[Record]) -> Entry:
        own = self._layered.exact(*key)
        here = measured_gain([*own, *records], entry.size)
        return replace(entry, outlook=replace(entry.outlook, here=here, stage=stage))
