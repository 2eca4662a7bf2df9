"""Ways of choosing recipes that are compared with each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from loopbook.embed.inference import Encoder
from loopbook.errors import InputError
from loopbook.learn.baselines import Nearness, Random, RawFeatures, untrained
from loopbook.predict.cost_model import CostModel

ANY = 1e9
"""No record is too far away."""


@dataclass(frozen=True, eq=False)
class Method:
    """A way of choosing recipes.

    Attributes:
        title: what tables call it.
        cost_model: None serves the nearest record whose recipe can be ported.
        max_distance: neighbours farther away are not used; None is what the client has.
    """

    name: str
    title: str
    encoder: Encoder
    cost_model: CostModel | None
    max_distance: float | None = None


def methods(
    names: list[str], encoder: Encoder, cost_model: CostModel | None, contrastive: Path | None
) -> list[Method]:
    """The methods of these names; see `METHODS`.

    Args:
        contrastive: weights of a network that was trained without transfers.

    Raises:
        InputError: there is no such method, or what it needs is not there.
    """
    made = []
    for name in names:
        if name not in METHODS:
            raise InputError(f"there is no method {name!r}; there are {', '.join(METHODS)}")
        made.append(METHODS[name](encoder, cost_model, contrastive))
    return made


def _ours(encoder: Encoder, cost_model: CostModel | None, _: Path | None) -> Method:
    if cost_model is None:
        raise InputError("there is no cost model: run 'loopbook train'")
    return Method("ours", "learned nearness and cost model", encoder, cost_model)


def _nearest(encoder: Encoder, cost_model: CostModel | None, _: Path | None) -> Method:
    return Method("nearest", "learned nearness alone", encoder, None, ANY)


def _contrastive(encoder: Encoder, cost_model: CostModel | None, path: Path | None) -> Method:
    if path is None:
        raise InputError("the method 'contrastive' needs weights: name them with --contrastive")
    other = Nearness(encoder, Encoder.load(path), "contrastive")
    return Method("contrastive", "contrastive network", other, None)


def _raw(encoder: Encoder, cost_model: CostModel | None, _: Path | None) -> Method:
    return Method("raw", "nearest by raw features", RawFeatures(encoder), None, ANY)


def _untrained(encoder: Encoder, cost_model: CostModel | None, _: Path | None) -> Method:
    other = Nearness(encoder, untrained(), "untrained")
    return Method("untrained", "untrained network", other, None, ANY)


def _random(encoder: Encoder, cost_model: CostModel | None, _: Path | None) -> Method:
    return Method("random", "a random record", Random(encoder), None, ANY)


METHODS: dict[str, Callable[[Encoder, CostModel | None, Path | None], Method]] = {
    "ours": _ours,
    "nearest": _nearest,
    "contrastive": _contrastive,
    "raw": _raw,
    "untrained": _untrained,
    "random": _random,
}
"""Name to how it is made: of the encoder and cost model in use, and weights to compare with."""
