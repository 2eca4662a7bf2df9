"""Other ideas of nearness, to compare the trained one with.

Each is an encoder whose nest vectors are made otherwise. Loops and containers keep the vectors of a
trained encoder, so that recipes are ported the same way and only the choice of records differs.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from loopbook.embed.inference import Encoder
from loopbook.embed.weights import Weights, shapes
from loopbook.predict.features import SITE, Features
from loopbook.program.nest import Nest
from loopbook.recipes.embedding import Embedding
from loopbook.rules import TuningContext
from loopbook.steps.workbench import Transformed
from loopbook.targets import DEFAULT

SEED = 0
"""Of untrained weights and of random vectors."""

_PLAIN = TuningContext(DEFAULT, lanes=8)
"""What features of a nest alone are computed for: some machine, sizes unknown."""

_SPREAD = 8.0
"""Raw features differ by tens; divided by this, most distances are as long as those of unit
vectors."""


class Replacing(Encoder):
    """Embeds as another encoder does, but for the nests' vectors."""

    def __init__(self, parts: Encoder, name: str) -> None:
        self._parts = parts
        self._known: dict[str, Embedding] = {}
        self.version = f"{name} {parts.version}"
        self.metadata = {}

    def encode_many(self, nests: Sequence[Nest]) -> list[Embedding]:
        fresh = {n.fingerprint: n for n in nests if n.fingerprint not in self._known}
        vectors = self.vectors(list(fresh.values())) if fresh else ()
        made = self._parts.encode_many(list(fresh.values()))
        for fingerprint, vector, embedding in zip(fresh, vectors, made, strict=True):
            self._known[fingerprint] = replace(embedding, encoder=self.version, nest=vector)
        return [self._known[nest.fingerprint] for nest in nests]

    def vectors(self, nests: Sequence[Nest]) -> np.ndarray:
        """One row for each nest, all of the same length."""
        raise NotImplementedError


class RawFeatures(Replacing):
    """Nearest by hand-made features: those of the nest's bodies, before any recipe."""

    def __init__(self, parts: Encoder) -> None:
        super().__init__(parts, "raw")

    def vectors(self, nests: Sequence[Nest]) -> np.ndarray:
        plain = [Features(nest, _PLAIN)(Transformed.of(nest)) for nest in nests]
        rows = np.stack(plain)[:, : 2 * len(SITE)]
        padded = np.zeros((len(rows), self._parts.encode(nests[0]).dimension), np.float32)
        padded[:, : rows.shape[1]] = rows / _SPREAD
        return padded


class Random(Replacing):
    """Any record is as near as any other: a direction drawn for each nest."""

    def __init__(self, parts: Encoder) -> None:
        super().__init__(parts, "random")

    def vectors(self, nests: Sequence[Nest]) -> np.ndarray:
        width = self._parts.encode(nests[0]).dimension
        draws = [
            np.random.default_rng([SEED, zlib.crc32(nest.fingerprint.encode())]).normal(size=width)
            for nest in nests
        ]
        rows = np.array(draws, np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


class Nearness(Replacing):
    """The nests' vectors of another network."""

    def __init__(self, parts: Encoder, network: Encoder, name: str) -> None:
        super().__init__(parts, f"{name} {network.version}")
        self._network = network

    def vectors(self, nests: Sequence[Nest]) -> np.ndarray:
        return np.stack([made.nest for made in self._network.encode_many(nests)])


def untrained() -> Encoder:
    """The network with weights drawn as training begins with."""
    rng = np.random.default_rng(SEED)
    arrays = {name: _initial(name, shape, rng) for name, shape in shapes().items()}
    return Encoder(Weights(arrays, {}, f"untrained-{SEED}"))


def _initial(name: str, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    if name.endswith(".scale"):
        return np.ones(shape, np.float32)
    if len(shape) == 1:
        return np.zeros(shape, np.float32)
    width = 0.5 if name.endswith(".relation") else (2.0 / shape[0]) ** 0.5
    return (rng.normal(size=shape) * width).astype(np.float32)
