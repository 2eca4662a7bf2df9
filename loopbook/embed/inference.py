"""Encodes nests with NumPy alone.

The same arithmetic as `loopbook.embed.model`, without torch: importing torch takes longer than
looking a nest up.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from loopbook.embed.graph import (
    GROUPS,
    KINDS,
    RELATION_GROUP,
    NestGraph,
    canonical_graph,
    heard,
    nest_graph,
    side_by_side,
)
from loopbook.embed.weights import MESSAGE, ROUNDS, Weights, load
from loopbook.program.nest import Nest
from loopbook.recipes.embedding import Embedding

_BATCH_NODES = 4096
_LOOP = KINDS.index("loop")
_CONTAINER = KINDS.index("container")


class Encoder:
    """Turns nests into vectors.

    Attributes:
        version: name of the architecture and a short hash of the weights. Vectors of encoders with
            different versions cannot be compared.
    """

    def __init__(self, weights: Weights) -> None:
        self._weights = weights.arrays
        self._relations = weights.relations
        self.version = weights.version
        self.metadata = weights.metadata

    @classmethod
    def load(cls, path: Path | None = None) -> Encoder:
        """The encoder with the weights in `path`, by default those that come with loopbook.

        Raises:
            EncoderError: if the weights are missing, damaged, or made for another nest graph.
        """
        return cls(load(path))

    def encode(self, nest: Nest) -> Embedding:
        """The vectors of `nest`, its loops and its arrays, each of unit length."""
        return self.encode_many([nest])[0]

    def encode_many(self, nests: Sequence[Nest]) -> list[Embedding]:
        """The embedding of each nest; faster than one at a time."""
        done: list[Embedding] = []
        batch: list[Nest] = []
        graphs: list[tuple[NestGraph, NestGraph]] = []
        for nest in nests:
            both = canonical_graph(nest), nest_graph(nest)
            if batch and sum(g.nodes for pair in (*graphs, both) for g in pair) > _BATCH_NODES:
                done += self._embeddings(batch, graphs)
                batch, graphs = [], []
            batch.append(nest)
            graphs.append(both)
        if batch:
            done += self._embeddings(batch, graphs)
        return done

    def _embeddings(
        self, nests: list[Nest], graphs: list[tuple[NestGraph, NestGraph]]
    ) -> list[Embedding]:
        canonical, whole = zip(*graphs, strict=True)
        vectors, loops, containers = self.forward(side_by_side([*canonical, *whole]))
        done, loop, container = [], 0, 0
        for nest, vector in zip(nests, vectors[: len(nests)], strict=True):
            next_loop, next_container = loop + len(nest.loops), container + len(nest.arrays)
            done.append(
                Embedding(
                    encoder=self.version,
                    nest=vector,
                    loops=loops[loop:next_loop],
                    containers=containers[container:next_container],
                    loop_names=tuple(loop.name for loop in nest.loops),
                    container_names=tuple(array.name for array in nest.arrays),
                )
            )
            loop, container = next_loop, next_container
        return done

    def forward(self, graph: NestGraph) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Vectors of the parts of `graph` ``(graph.count, 128)``, of its loops and its arrays."""
        w = self._weights
        if self._relations is not None:
            graph = heard(graph, self._relations)
        state = _relu(graph.features @ w["input.weight"] + w["input.bias"])
        state = _normalised(state, w["input.scale"], w["input.shift"])
        slots = graph.target * len(GROUPS) + RELATION_GROUP[graph.relation]
        by_slot = np.argsort(slots, kind="stable")
        source, relation, slots = (
            graph.source[by_slot],
            graph.relation[by_slot],
            slots[by_slot],
        )
        starts = np.flatnonzero(np.diff(slots, prepend=-1))
        filled = slots[starts]
        damping = (np.diff(starts, append=len(slots)) ** -0.5)[:, None].astype(np.float32)
        received = np.zeros((graph.nodes * len(GROUPS), MESSAGE), np.float32)
        for number in range(ROUNDS):
            name = f"round{number}"
            sent = (state @ w[f"{name}.message"])[source] + w[f"{name}.relation"][relation]
            received[filled] = np.add.reduceat(_relu(sent), starts, axis=0) * damping
            joined = np.concatenate([state, received.reshape(graph.nodes, -1)], axis=1)
            change = _relu(joined @ w[f"{name}.weight1"] + w[f"{name}.bias1"])
            state = _normalised(
                state + change @ w[f"{name}.weight2"] + w[f"{name}.bias2"],
                w[f"{name}.scale"],
                w[f"{name}.shift"],
            )
        pooled = _pooled(graph, state, state @ w["nest.score"])
        hidden = _relu(pooled @ w["nest.weight1"] + w["nest.bias1"])
        return (
            _unit(hidden @ w["nest.weight2"] + w["nest.bias2"]),
            _unit(state[graph.loops] @ w["loop.weight"] + w["loop.bias"]),
            _unit(state[graph.containers] @ w["container.weight"] + w["container.bias"]),
        )


def _pooled(graph: NestGraph, state: np.ndarray, score: np.ndarray) -> np.ndarray:
    """For each nest: attention over its nodes, maximum, mean of loops, mean of containers."""
    starts = np.searchsorted(graph.owner, np.arange(graph.count))
    highest = np.maximum.reduceat(score, starts, axis=0)
    weight = np.exp(score - highest[graph.owner])
    weight /= np.add.reduceat(weight, starts, axis=0)[graph.owner]
    parts = [np.add.reduceat(weight * state, starts, axis=0)]
    parts.append(np.maximum.reduceat(state, starts, axis=0))
    for kind in (_LOOP, _CONTAINER):
        chosen = (graph.kind == kind)[:, None].astype(np.float32)
        count = np.add.reduceat(chosen, starts, axis=0)
        total = np.add.reduceat(chosen * state, starts, axis=0)
        parts.append(total / np.maximum(count, 1))
    return np.concatenate(parts, axis=1)


def _relu(values: np.ndarray) -> np.ndarray:
    """In place."""
    return np.maximum(values, 0, out=values)


def _normalised(values: np.ndarray, scale: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """Layer normalisation, in place."""
    width = values.shape[1]
    values -= np.add.reduce(values, axis=1, keepdims=True) / width
    variance = np.einsum("ij,ij->i", values, values)[:, None] / width
    values /= np.sqrt(variance + 1e-5)
    values *= scale
    values += shift
    return values


def _unit(rows: np.ndarray) -> np.ndarray:
    length = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    return rows / np.maximum(length, 1e-12)
