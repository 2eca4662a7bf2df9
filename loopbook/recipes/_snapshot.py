"""What a book keeps in memory to answer within a millisecond: short entries of its records."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

import numpy as np

from loopbook.errors import InputError
from loopbook.recipes._rows import Entry
from loopbook.recipes.embedding import Embedding
from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.store import Store
from loopbook.steps import kind_of


@dataclass
class Snapshot:
    """The book as it was under one stamp.

    Attributes:
        stamp: of the state that was read; a later state may have slipped in, which the next
            look at the stamp then shows.
        by_nest: entries by fingerprint, the best speedup first.
        hardware: profiles by the id that entries name.
        encoders: those that the book has vectors of.
    """

    stamp: str
    by_nest: dict[str, list[Entry]]
    hardware: dict[str, HardwareProfile]
    encoders: list[str]
    _holding: dict[str, list[Entry]] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, store: Store) -> Snapshot:
        # The stamp is read first: if a writer comes in between, the snapshot counts as stale.
        stamp = store.stamp()
        entries, hardware = store.entries(strict=False), store.hardware(strict=False)
        encoders = list(store.encoders(strict=False))
        return cls(stamp, _by_nest(entries, hardware), hardware, encoders)

    def refreshed(self, store: Store) -> Snapshot:
        """The book as it is now; of nests that haven't changed nothing is read again."""
        changes = store.changes_since(self.stamp)
        if changes is None:
            return Snapshot.of(store)
        nests = sorted(changes.recorded)
        entries = store.entries(nests, strict=False)
        hardware = store.hardware(strict=False)
        by_nest = self.by_nest.copy()
        for nest in nests:
            by_nest.pop(nest, None)
        by_nest.update(_by_nest(entries, hardware))
        encoders = store.encoders_now(self.encoders, sorted(changes.embedded))
        return Snapshot(changes.stamp, by_nest, hardware, encoders)

    def encoder_of(self, query: Embedding | np.ndarray, named: str | None) -> str | None:
        """Whose vectors to search; None where the book has none of that encoder.

        Raises:
            InputError: nobody has said, and there are several.
        """
        if isinstance(query, Embedding):
            named = query.encoder
        if named is not None:
            return named if named in self.encoders else None
        if len(self.encoders) > 1:
            told = ", ".join(self.encoders)
            raise InputError(f"the book has vectors of {told}: name the encoder")
        return self.encoders[0] if self.encoders else None

    def holding(self, steps: Collection[str]) -> list[Entry]:
        """The records whose recipes hold any of these steps; looked for once for each step."""
        for op in steps:
            if op not in self._holding:
                words = [f"\n{spelling} " for spelling in kind_of(op).spellings() or (op,)]
                self._holding[op] = [
                    entry
                    for same_nest in self.by_nest.values()
                    for entry in same_nest
                    if any(word in f"\n{entry.recipe}" for word in words)
                ]
        return list({entry.id: entry for op in steps for entry in self._holding[op]}.values())


def _by_nest(
    entries: Iterable[Entry], hardware: dict[str, HardwareProfile]
) -> dict[str, list[Entry]]:
    by_nest: defaultdict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        # A record deleted between the two reads may have taken its hardware with it.
        if entry.hardware_id in hardware:
            by_nest[entry.fingerprint].append(entry)
    for same_nest in by_nest.values():
        same_nest.sort(key=lambda entry: (-entry.speedup, entry.id))
    return dict(by_nest)
