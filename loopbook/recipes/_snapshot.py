"""What a book keeps in memory to answer within a millisecond: short entries and the index."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.index import VectorIndex, index_of
from loopbook.recipes.store import Entry, Store


@dataclass
class Snapshot:
    """The book as it was under one stamp.

    Attributes:
        stamp: of the state that was read; a later state may have slipped in, which the next
            look at the stamp then shows.
        by_nest: entries by fingerprint, the best speedup first.
        hardware: profiles by the id that entries name.
        indexes: one for each encoder asked for so far.
    """

    stamp: str
    by_nest: dict[str, list[Entry]]
    hardware: dict[str, HardwareProfile]
    encoders: list[str]
    indexes: dict[str, VectorIndex] = field(default_factory=dict)

    @classmethod
    def of(cls, store: Store) -> Snapshot:
        # The stamp is read first: if a writer comes in between, the snapshot counts as stale.
        stamp = store.stamp()
        by_nest: defaultdict[str, list[Entry]] = defaultdict(list)
        entries, hardware = store.entries(), store.hardware()
        for entry in entries:
            # A record deleted between the two reads may have taken its hardware with it.
            if entry.hardware_id in hardware:
                by_nest[entry.fingerprint].append(entry)
        for same_nest in by_nest.values():
            same_nest.sort(key=lambda entry: (-entry.speedup, entry.id))
        return cls(stamp, dict(by_nest), hardware, list(store.encoders()))

    def index(self, store: Store, encoder: str) -> VectorIndex:
        """The index of one encoder, loaded or built at first need."""
        if encoder not in self.indexes:
            self.indexes[encoder] = index_of(store, encoder)
        return self.indexes[encoder]
