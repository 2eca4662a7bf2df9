"""What training makes small.

Regret decides what is near: of the records tried on a nest, those whose recipes worked are pulled
to it, the others pushed away (`regret_loss`). Contrast keeps what was never tried in its place: a
batch holds two views, a and b, of each of its classes. Nests are pulled to the other view of
their class, less strongly to those of their family or access pattern, and away from the rest.
Loops, and containers, are pulled to those of the other view that play the same part, and away from
the others there.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

TEMPERATURE = 0.1
FAMILY_WEIGHT = 0.15
"""How strongly a nest is pulled to another class of its family or access pattern; 1 is its own."""


SHARPNESS = 0.15
"""Of regrets: a donor whose regret is so much larger deserves 1/e of the weight."""

REACH = 1.2
"""The distance at which a donor whose recipe is of no use at all should be, at least."""


def regret_loss(targets: Tensor, donors: Tensor, owner: Tensor, regrets: Tensor) -> Tensor:
    """How badly distances tell regrets.

    Listwise: a softmax over the negated squared distances of one target's donors should give each
    what its regret deserves (after ListNet, Z. Cao et al., ICML 2007, with regret for relevance).
    And pointwise: a donor should not be nearer than its regret says.

    Args:
        targets: unit vectors ``(t, d)``.
        donors: unit vectors ``(n, d)``; donor i was tried on target ``owner[i]``.
        regrets: ``(n,)`` from 0 to 1.
    """
    squared = ((targets[owner] - donors) ** 2).sum(1)
    scores = -squared / (2 * TEMPERATURE)
    wanted = torch.exp(-regrets / SHARPNESS)
    count = len(targets)
    deserved = wanted / _sums(wanted, owner, count)[owner]
    highest = torch.full((count,), -torch.inf, device=scores.device)
    highest = highest.scatter_reduce(0, owner, scores.detach(), "amax")
    shifted = scores - highest[owner]
    normal = torch.log(_sums(torch.exp(shifted), owner, count))[owner]
    entropy = _sums(deserved * torch.log(deserved + 1e-9), owner, count)
    listwise = _sums(-deserved * (shifted - normal), owner, count) + entropy
    distance = torch.sqrt(squared + 1e-6)
    near = functional.relu(REACH * regrets - distance) ** 2
    far = (1 - regrets) ** 2 * functional.relu(distance - 0.5 * REACH) ** 2
    return listwise.mean() + (near + far).mean()


def _sums(values: Tensor, owner: Tensor, count: int) -> Tensor:
    return torch.zeros(count, device=values.device).index_add(0, owner, values)


def facts_loss(told: Tensor, facts: Tensor) -> Tensor:
    """Mean absolute error of what is told of nests, where the facts are known (not NaN)."""
    known = ~torch.isnan(facts)
    error = functional.smooth_l1_loss(told[known], facts[known], reduction="sum")
    return error / known.sum().clamp(min=1)


def nest_loss(a: Tensor, b: Tensor, family: Tensor, shape: Tensor) -> Tensor:
    """InfoNCE with soft targets; row i of `a` and of `b` belong to class i. Unit vectors."""
    near = (family[:, None] == family[None, :]) | (shape[:, None] == shape[None, :])
    alike = FAMILY_WEIGHT * near.float()
    alike.fill_diagonal_(1.0)
    wanted = alike / alike.sum(1, keepdim=True)
    scores = a @ b.T / TEMPERATURE
    there = functional.cross_entropy(scores, wanted)
    back = functional.cross_entropy(scores.T, wanted)
    return (there + back) / 2


def matching_loss(
    a: Tensor,
    b: Tensor,
    parts: tuple[Tensor, Tensor],
    owners: tuple[Tensor, Tensor],
    family: Tensor,
) -> Tensor:
    """How badly parts (loops or containers) of one view find theirs in the other one.

    Each part of class x in view a chooses among the parts of class y in view b, for x = y and, with
    `FAMILY_WEIGHT`, for all x and y of one family.

    Args:
        a, b: unit vectors of the parts, ``(n, d)`` and ``(m, d)``.
        parts: for each view, numbers of the parts that they play.
        owners: for each view, the class of each, an index into `family`.
        family: family of each class in the batch.
    """
    scores = torch.exp((a @ b.T - 1.0) / TEMPERATURE)
    member = functional.one_hot(owners[1], len(family)).float()
    same = (parts[0][:, None] == parts[1][None, :]).float()
    chosen = (scores * same) @ member
    all_of = scores @ member
    own = owners[0][:, None] == torch.arange(len(family), device=a.device)[None, :]
    weight = (family[owners[0]][:, None] == family[None, :]).float() * FAMILY_WEIGHT
    weight = torch.where(own, torch.ones_like(weight), weight)
    # Where all parts play the same, or none does, there is nothing to choose.
    weight = weight * ((same @ member > 0) & ((1.0 - same) @ member > 0))
    loss = torch.log(all_of + 1e-9) - torch.log(chosen + 1e-9)
    return (weight * loss).sum() / weight.sum().clamp(min=1.0)
