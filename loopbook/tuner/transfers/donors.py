"""Whose recipes are tried on a nest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random

import numpy as np

from loopbook.client.layered import LayeredBook
from loopbook.embed.inference import Encoder
from loopbook.program.nest import Nest
from loopbook.recipes.book import Book
from loopbook.recipes.embedding import Embedding
from loopbook.recipes.record import Record
from loopbook.workloads.synthetic import FAMILIES

SHARES = {"near": 0.4, "family": 0.2, "kind": 0.2, "random": 0.2}
"""How donors are drawn: the nearest by embedding; programs of the same family; those with kinds of
steps that few recipes have; any."""

MISFITS = 2


@dataclass(frozen=True)
class Donor:
    """A record with what porting its recipe takes."""

    record: Record
    nest: Nest
    embedding: Embedding


def family_of(program: str) -> str:
    """What a program is one of many of: a synthetic family, else itself alone."""
    first = program.partition(".")[0]
    return first if first in FAMILIES else program


class Donors:
    """Records with steps of some books, for one target."""

    def __init__(self, donors: Iterable[Donor]) -> None:
        self._donors = list({donor.record.id: donor for donor in donors}.values())
        vectors = [donor.embedding.nest for donor in self._donors]
        self._vectors = np.array(vectors) if vectors else np.zeros((0, 0))
        self._rarity = Counter(op for donor in self._donors for op in _kinds(donor))

    def __len__(self) -> int:
        return len(self._donors)

    @classmethod
    def load(cls, books: Sequence[Path], target: str, encoder: Encoder) -> Donors:
        """
        Raises:
            BookError: a book cannot be opened or read.
        """
        found: list[Donor] = []
        for path in books:
            with Book.open(path, readonly=True) as book:
                layered = LayeredBook([book], encoder)
                records = [r for r in book.records(target=target) if len(r.recipe)]
                nests = [layered.source(record) for record in records]
                embeddings = encoder.encode_many(nests)
                found += map(Donor, records, nests, embeddings)
        return cls(found)

    def own(self, nest: Nest) -> list[Donor]:
        """Records of this very nest, each recipe once."""
        mine = (d for d in self._donors if d.record.fingerprint == nest.fingerprint)
        return list({donor.record.recipe: donor for donor in mine}.values())

    def draw(
        self,
        nest: Nest,
        embedding: Embedding,
        program: str,
        count: int,
        random: Random,
        fits: Callable[[Donor], bool],
    ) -> list[tuple[str, Donor]]:
        """At most `count` records of other nests, each with a key of `SHARES`: why it was drawn.

        Args:
            fits: whether the recipe can be ported. Where it cannot, there is nothing to measure:
                `MISFITS` such records are drawn on top.
        """
        others = [
            place
            for place, donor in enumerate(self._donors)
            if donor.record.fingerprint != nest.fingerprint
        ]
        if not others:
            return []
        random.shuffle(others)
        orders = {
            "near": self._nearest(others, embedding),
            "family": [
                place
                for place in others
                if family_of(self._donors[place].record.kernel) == family_of(program)
            ],
            "kind": list(self._by_kind(others)),
            "random": others,
        }
        drawn: dict[int, str] = {}
        for why, share in {**SHARES, "random": 1.0}.items():
            wanted = min(round(count * share), count - len(drawn))
            good = (p for p in orders[why] if p not in drawn and fits(self._donors[p]))
            drawn |= dict.fromkeys(islice(good, wanted), why)
        misfits = (place for place in others if not fits(self._donors[place]))
        drawn |= dict.fromkeys(islice(misfits, MISFITS), "random")
        return [(why, self._donors[place]) for place, why in drawn.items()]

    def _nearest(self, places: Sequence[int], embedding: Embedding) -> list[int]:
        apart = np.linalg.norm(self._vectors - embedding.nest, axis=1)
        return sorted(places, key=lambda place: apart[place])

    def _by_kind(self, places: Sequence[int]) -> Iterator[int]:
        """One donor of each kind of step in turn, the rarest kind first."""
        waiting = list(places)
        while waiting:
            for kind, _ in reversed(self._rarity.most_common()):
                place = next((p for p in waiting if kind in _kinds(self._donors[p])), None)
                if place is not None:
                    waiting.remove(place)
                    yield place


def _kinds(donor: Donor) -> set[str]:
    return {step.op for step in donor.record.recipe}
