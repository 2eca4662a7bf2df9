"""The graph neural network in PyTorch Geometric, for training.

Every round, each node sends a projection of its state along its edges; the kind of relation adds a
learned vector before the rectifier. What arrives is summed for each group of relations apart, so
that a node can tell what comes from its loop from what comes from its data, and updates the state.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.nn import MessagePassing
from torch_geometric.utils import scatter, softmax

from loopbook.embed.graph import GROUPS, KINDS, RELATION_GROUP, NestGraph
from loopbook.embed.weights import HIDDEN, ROUNDS, shapes


class Round(MessagePassing):
    """One round of messages."""

    def __init__(self, weights: nn.ParameterDict, number: int) -> None:
        super().__init__(aggr=None)
        self._weights = weights
        self._prefix = f"round{number}."

    def forward(self, state: Tensor, edges: Tensor, relation: Tensor, slots: Tensor) -> Tensor:
        """New states ``(n, HIDDEN)``; `slots` says where each edge's message is added up."""
        weight = self._weight
        received = self.propagate(
            edges,
            x=state @ weight("message"),
            kind=weight("relation")[relation],
            slots=slots,
            size=(len(state), len(state)),
        )
        joined = torch.cat([state, received.reshape(len(state), -1)], dim=1)
        change = functional.relu(joined @ weight("weight1") + weight("bias1"))
        return functional.layer_norm(
            state + change @ weight("weight2") + weight("bias2"),
            (HIDDEN,),
            weight("scale"),
            weight("shift"),
        )

    def message(self, x_j: Tensor, kind: Tensor) -> Tensor:
        return functional.relu(x_j + kind)

    def aggregate(self, inputs: Tensor, slots: Tensor, dim_size: int) -> Tensor:
        size = dim_size * len(GROUPS)
        count = torch.bincount(slots, minlength=size).clamp(min=1)
        return scatter(inputs, slots, dim_size=size) / count.sqrt()[:, None]

    def _weight(self, name: str) -> Tensor:
        return self._weights[_key(self._prefix + name)]


class NestEncoder(nn.Module):
    """Nest graphs to vectors; the weights are those that `loopbook.embed.weights` describes."""

    def __init__(self) -> None:
        super().__init__()
        self.weights = nn.ParameterDict()
        for name, shape in shapes().items():
            self.weights[_key(name)] = nn.Parameter(_initial(name, shape))
        self._rounds = [Round(self.weights, number) for number in range(ROUNDS)]

    def forward(self, graph: NestGraph) -> tuple[Tensor, Tensor, Tensor]:
        """Unit vectors of the nests ``(graph.count, 128)``, of all loops, of all arrays."""
        w = {name: self.weights[_key(name)] for name in shapes()}
        device = w["input.bias"].device
        features, source, target, relation, groups = (
            torch.from_numpy(array).to(device)
            for array in (
                graph.features,
                graph.source,
                graph.target,
                graph.relation,
                RELATION_GROUP[graph.relation],
            )
        )
        state = functional.relu(features @ w["input.weight"] + w["input.bias"])
        state = functional.layer_norm(state, (HIDDEN,), w["input.scale"], w["input.shift"])
        slots = target * len(GROUPS) + groups
        edges = torch.stack([source, target])
        for step in self._rounds:
            state = step(state, edges, relation, slots)
        pooled = _pooled(graph, state, state @ w["nest.score"])
        hidden = functional.relu(pooled @ w["nest.weight1"] + w["nest.bias1"])
        loops = state[torch.from_numpy(graph.loops).to(device)]
        containers = state[torch.from_numpy(graph.containers).to(device)]
        return (
            functional.normalize(hidden @ w["nest.weight2"] + w["nest.bias2"]),
            functional.normalize(loops @ w["loop.weight"] + w["loop.bias"]),
            functional.normalize(containers @ w["container.weight"] + w["container.bias"]),
        )

    def arrays(self) -> dict[str, np.ndarray]:
        """The weights as `loopbook.embed.weights.save` takes them."""
        return {name: self.weights[_key(name)].detach().cpu().numpy() for name in shapes()}

    def take(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Use these weights."""
        with torch.no_grad():
            for name in shapes():
                self.weights[_key(name)].copy_(torch.from_numpy(arrays[name]))


def _pooled(graph: NestGraph, state: Tensor, score: Tensor) -> Tensor:
    owner = torch.from_numpy(graph.owner).to(state.device)
    weight = softmax(score, owner, num_nodes=graph.count)
    parts = [scatter(weight * state, owner, dim_size=graph.count)]
    parts.append(scatter(state, owner, dim_size=graph.count, reduce="max"))
    for kind in ("loop", "container"):
        numbers = np.flatnonzero(graph.kind == KINDS.index(kind))
        chosen = torch.from_numpy(numbers).to(state.device)
        parts.append(scatter(state[chosen], owner[chosen], dim_size=graph.count, reduce="mean"))
    return torch.cat(parts, dim=1)


def _initial(name: str, shape: tuple[int, ...]) -> Tensor:
    if name.endswith(".scale"):
        return torch.ones(shape)
    if len(shape) == 1:
        return torch.zeros(shape)
    if name.endswith(".relation"):
        return torch.randn(shape) * 0.5
    return torch.randn(shape) * (2.0 / shape[0]) ** 0.5


def _key(name: str) -> str:
    """ParameterDict keys may hold no dots."""
    return name.replace(".", "__")
