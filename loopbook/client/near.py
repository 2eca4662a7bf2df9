"""The nearest records of several layers as one list, whichever encoder their vectors are of."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from loopbook.client.damaged import asked
from loopbook.errors import BookError
from loopbook.recipes.embedding import Embedding
from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.layer import Kernels, Layer, Neighbour, excludes
from loopbook.recipes.record import Record
from loopbook.recipes.reports import LOST

if TYPE_CHECKING:
    from loopbook.embed.inference import Encoder


class Filter(NamedTuple):
    """Which records may be found; see `loopbook.client.layered.LayeredBook.nearest`."""

    target: str
    hardware: HardwareProfile
    exclude: Kernels
    without: frozenset[str]
    steps: Collection[str]
    per_nest: int


class Nearest:
    """Looks for neighbours in layers.

    Args:
        follow: whether books of one's own are to follow the encoder in use.
    """

    def __init__(self, layers: Sequence[Layer], *, follow: bool) -> None:
        self._layers = layers
        self._follow = follow
        self._anew: dict[str, dict[str, Embedding]] = {}

    def __call__(
        self,
        encoder: Encoder,
        embedding: Embedding,
        fingerprint: str,
        k: int,
        wanted: Filter,
        shifts: Mapping[str, float],
    ) -> list[Neighbour]:
        """The nearest of all layers.

        Args:
            encoder: whose the embedding is.
            fingerprint: of the nest that is asked about; empty where that is not known.
            shifts: what reports have changed (`loopbook.client.layered.LayeredBook.shifts`).
        """
        found: dict[str, Neighbour] = {}
        most = k + sum(shift == LOST for shift in shifts.values())
        for layer in self._layers:
            near = asked(layer, self._of_layer, layer, encoder, embedding, most, wanted)
            for record, vectors in near or ():
                if shifts.get(record.id) == LOST:
                    continue
                same = record.fingerprint == fingerprint
                gap = vectors.nest - embedding.nest
                apart = float(np.sqrt(gap.dot(gap)))
                away = wanted.hardware.distance(record.hardware)
                found[record.id] = Neighbour(record, vectors, 0.0 if same else apart, away)
        return sorted(found.values(), key=lambda near: (near.rank, -near.speedup))[:k]

    def _of_layer(
        self, layer: Layer, encoder: Encoder, embedding: Embedding, k: int, wanted: Filter
    ) -> list[tuple[Record, Embedding]]:
        """The nearest records of one layer, and all those of nests that another encoder
        embedded."""
        anew = self._embedded_anew(layer, encoder)
        found = layer.nearest(
            embedding,
            k,
            target=wanted.target,
            hardware=wanted.hardware,
            exclude=wanted.exclude,
            without=wanted.without,
            steps=wanted.steps,
            per_nest=wanted.per_nest,
        )
        pairs = [(near.record, near.embedding) for near in found]
        left_out = excludes(wanted.exclude)
        for fingerprint, vectors in anew.items():
            if fingerprint in wanted.without:
                continue
            records = [
                record
                for record in layer.exact(fingerprint, wanted.target)
                if not left_out(record.kernel)
                and (not wanted.steps or any(step.op in wanted.steps for step in record.recipe))
            ]
            pairs += [(record, vectors) for record in records[: wanted.per_nest]]
        return pairs

    def _embedded_anew(self, layer: Layer, encoder: Encoder) -> dict[str, Embedding]:
        """Fingerprint to embedding of the nests that the encoder has not embedded, because the
        layer was made with another version of it."""
        from loopbook.client.reembed import embedded, reembed
        from loopbook.recipes.book import Book

        if layer.name not in self._anew:
            # A book of one's own follows the encoder in use; others' vectors are made in memory.
            if self._follow and isinstance(layer, Book) and not layer.readonly:
                with suppress(BookError):  # it cannot be written: in memory, then
                    reembed(layer, encoder)
            missing = layer.without_embedding(encoder.version)
            self._anew[layer.name] = dict(embedded(missing, layer.name, encoder))
        return self._anew[layer.name]
