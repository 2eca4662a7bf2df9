"""The encoder and the cost model that come with loopbook, loaded once."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loopbook.embed.inference import Encoder
    from loopbook.predict.cost_model import CostModel


@lru_cache(maxsize=1)
def encoder() -> Encoder:
    """What makes nests comparable."""
    from loopbook.embed.inference import Encoder

    return Encoder.load()


@lru_cache(maxsize=1)
def cost_model() -> CostModel | None:
    """What predicts speedups; None where there is no file: the nearest neighbour is served then."""
    from loopbook.predict.cost_model import DEFAULT_PATH, CostModel

    return CostModel.load() if DEFAULT_PATH.exists() else None
