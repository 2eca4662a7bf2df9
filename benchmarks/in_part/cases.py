"""Arguments of the programs in `programs.py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

RANDOM = np.random.default_rng(0)


def random(*shape: int) -> np.ndarray:
    return RANDOM.random(shape)


def points() -> tuple[Any, ...]:
    return random(200, 4), random(200), random(100, 4), 0.5, 0.1


CASES: dict[str, Callable[[], tuple[Any, ...]]] = {
    "diffusion_by_modes": lambda: (random(20_000), 0.1, 0.01),
    "band_energy": lambda: (random(40_000), np.linspace(1, 20_000, 30).astype(int)),
    "principal_components": lambda: (random(500, 20), 2),
    "low_rank": lambda: (random(80, 60), 5),
    "pairs_and_counts": lambda: (random(800), 0.01),
    "relaxed_with_log": lambda: (random(100, 100), random(100, 100), 10),
    "area_of_circle": lambda: (50_000, 3),
    "bootstrap": lambda: (random(500), 100, 3),
    "gaussian_process": points,
    "regression_on_kernels": points,
    "distances_to_mean": lambda: (random(3000, 40),),
    "roots_or_nothing": lambda: (random(20_000) + 1.0, 0.5),
    "calls_another": lambda: (random(60, 60), 5),
    "mean_of_smallest": lambda: (random(30_000), 10_000),
    "report_of": lambda: (random(2000), 20, "noise"),
    "letters_by_distance": lambda: (random(3000), "how near is the next one to each of these"),
}
