"""Arguments of the programs in `programs.py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

RANDOM = np.random.default_rng(0)

N = 100_000
"""Elements of a vector."""


def random(*shape: int) -> np.ndarray:
    return RANDOM.random(shape)


def whole(low: int, high: int, *shape: int) -> np.ndarray:
    return RANDOM.integers(low, high, shape)


def definite(n: int) -> np.ndarray:
    """A symmetric matrix that is positive definite."""
    factor = random(n, n)
    return factor @ factor.T + n * np.eye(n)


def gas(n: int) -> np.ndarray:
    """Density, momentum and energy."""
    return np.stack([1.0 + 0.3 * random(n), 0.1 * random(n), 2.5 + 0.3 * random(n)])


def vector() -> tuple[Any, ...]:
    return (random(N),)


def vectors() -> tuple[Any, ...]:
    return random(N), random(N)


def both_signs(*more: Any) -> Callable[[], tuple[Any, ...]]:
    return lambda: (random(N) * 20.0 - 10.0, *more)


def complex_vector() -> tuple[Any, ...]:
    return (random(N) + 1j * random(N),)


def matrix() -> tuple[Any, ...]:
    return (random(500, 500),)


def heads() -> tuple[Any, ...]:
    return random(256, 64), random(256, 64), random(256, 64)


def filtered() -> tuple[Any, ...]:
    return random(N), random(9)


def window() -> tuple[Any, ...]:
    return random(300, 300), random(5, 5)


def numbers() -> tuple[Any, ...]:
    return (whole(0, N, N),)


LATTICE = (
    np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4),
    np.array([0, 1, 0, -1, 0, 1, -1, -1, 1]),
    np.array([0, 0, 1, 0, -1, 1, 1, -1, -1]),
)
"""Weights and directions of the nine velocities of a lattice gas."""

Case = Callable[[], tuple[Any, ...]]

CASES: dict[str, Case] = {
    "kmeans": lambda: (random(5000, 8), random(16, 8)),
    "rbf": lambda: (random(400, 20), 0.7),
    "water": lambda: (1 + random(300, 300), random(300, 300), random(300, 300), 10, 0.01),
    "lbm": lambda: (0.1 + random(9, 200, 200) * 0.01, *LATTICE, 1.2),
    "mlp_grad": lambda: (
        *(random(256, 64), random(64, 128) - 0.5, random(128)),
        *(random(128, 10) - 0.5, random(10), random(256, 10)),
    ),
    "batchnorm": lambda: (random(16, 32, 28, 28), random(32), random(32)),
    "filter_of_windows": lambda: (random(50_000), random(15)),
    "sobel": matrix,
    "bilateral": lambda: (random(200, 200), 1.5, 0.1),
    "redblack": lambda: (random(301, 301), random(301, 301), 5),
    "euler": lambda: (gas(2000), 50, 0.1),
    "nbody": lambda: (random(400, 3), random(400)),
    "kalman": lambda: (random(500), np.eye(4) + 0.1 * random(4, 4), random(4), np.eye(4) / 10, 0.5),
    "garch": lambda: (random(20_000) - 0.5, 0.01, 0.1, 0.85),
    "em": lambda: (random(5000), random(4), 0.2 + random(4), np.full(4, 0.25), 5),
    "cg": lambda: (definite(500), random(500), 20),
    "pyramid": lambda: (random(800, 800),),
    "adam": lambda: (random(N), random(N), random(N), random(N), 7),
    "cross_entropy": lambda: (random(2000, 100), whole(0, 100, 2000)),
    "attention": heads,
    "bfgs": lambda: (definite(200), random(200), random(200)),
    "tree": lambda: (random(1500), 0.55, 0.999),
    "minmod": lambda: (random(4000), 0.5, 50),
    "forward": lambda: (random(64, 64), random(64, 20), random(64), whole(0, 20, 300)),
    "haversine": lambda: (random(300, 2), random(300, 2)),
    "equalise": lambda: (whole(0, 256, 500, 500),),
    "thomas": lambda: (random(200, 300), random(200, 300) + 3, random(200, 300), random(200, 300)),
    "grayscott": lambda: (random(256, 256), random(256, 256) * 0.3, 10),
    "lagrange": lambda: (np.arange(12.0), random(12), random(2000) * 11),
    "zscore": lambda: (random(50_000), 30),
    "dft": lambda: (random(300),),
    "correlations_of_columns": lambda: (random(1000, 100),),
    "softmax": matrix,
    "attention_plain": heads,
    "attention_added": heads,
    "attention_where": heads,
    "attention_by_index": heads,
    "attention_heads": lambda: (*(random(128, 128) for _ in range(5)), 4),
    "attention_batch": lambda: (random(4, 128, 32), random(4, 128, 32), random(4, 128, 32)),
    "dense_relu": lambda: (random(256, 128), random(128, 256) - 0.5, random(256)),
    "logreg": lambda: (
        *(random(2000, 50) - 0.5, whole(0, 2, 2000).astype(float), np.zeros(50), 0.1, 20),
    ),
    "gram_norm": lambda: (random(2000, 50),),
    "cosine": lambda: (random(300, 64), random(300, 64)),
    "tanh_net": lambda: (random(256, 128), random(128, 256) - 0.5, random(256, 64) - 0.5),
    "angles": vectors,
    "hypotenuse": vectors,
    "powers_of_data": vectors,
    "nearest_images": lambda: (random(400) * 5, 1.3),
    "periodic_steps": lambda: (random(N), random(N), 0.1, 1.0, 10),
    "left_by_division": lambda: (random(N) * 20 - 10, random(N)),
    "interpolated": lambda: (random(N) * 10, np.arange(11.0), random(11)),
    "places_in_sorted": lambda: (np.sort(random(1000)), random(N)),
    "bins": lambda: (random(N), np.linspace(0, 1, 20)),
    "kronecker": lambda: (random(20, 20), random(20, 20)),
    "contracted": lambda: (random(30, 20, 20), random(20, 20, 40)),
    "last_axis_by_vector": lambda: (random(50, 50, 50), random(50)),
    "batch_of_grams": lambda: (random(100, 20, 30),),
    "covariances": lambda: (random(1000, 50),),
    "tiled": lambda: (random(2000),),
    "weighted_counts": lambda: (random(3), random(N), whole(0, 100, N)),
    "log_of_sum": vectors,
    "sizes_and_angles": complex_vector,
    "rotated_phase": complex_vector,
    "polynomial": lambda: (random(6), random(N)),
    "cross_products": lambda: (random(20_000, 3), random(20_000, 3)),
    "quotients_of_ints": numbers,
    "bits": numbers,
    "rows_by_place": lambda: (random(1000, 50), whole(0, 1000, 2000)),
    "columns_by_place": lambda: (random(500, 500), whole(0, 500, 300)),
    "equal_rows": lambda: (whole(0, 3, 200, 8), whole(0, 3, 200, 8)),
    "correlation": vectors,
    "two_products_by_vector": lambda: (random(500, 500), random(500)),
    "distance_on_circle": vectors,
    "grey": lambda: (random(300, 300, 3),),
    "area": lambda: (np.sort(random(N)), random(N)),
    "outer_sums": lambda: (random(400), random(400)),
    "divisors": lambda: (whole(1, 1000, 10_000), whole(1, 1000, 10_000)),
    "sinc": lambda: (random(N) + 0.1,),
    "rows_convolved": lambda: (random(200, 500), random(9)),
    "moving_average": lambda: (random(N), 20),
}
"""Those that take something else than one vector."""

CASES |= dict.fromkeys(("image_by_shifts", "image_by_einsum", "image_by_windows"), window)
CASES |= dict.fromkeys(
    (
        "convolved",
        "products_of_windows",
        "correlated",
        "sum_of_shifts",
        "dots_of_windows",
        "convolved_same",
    ),
    filtered,
)
CASES |= dict.fromkeys(
    ("fractions", "phases", "floors_of_quotients", "whole_and_rest"), both_signs()
)
CASES |= dict.fromkeys(
    ("wrapped", "wrapped_by_name", "wrapped_in_a_loop", "remainder_and_quotient"), both_signs(3.7)
)
CASES |= dict.fromkeys(
    (
        *("medians_of_rows", "sums_down", "sums_along", "slopes_down", "greatest_of_rows"),
        *("greatest_of_columns", "variances_of_columns", "norms_of_rows", "triangles", "turned"),
        *("mirrored_edges", "transposed_copy", "rows_to_shares", "columns_to_unit", "stacked"),
        *("sums_of_tens", "means_of_blocks", "determinant_and_trace", "any_in_rows", "mean_step"),
    ),
    matrix,
)
CASES |= dict.fromkeys(
    (
        *("ten_greatest", "distinct", "percentiles", "histogram", "pieces_by_where"),
        *("pieces_by_select", "running_maximum", "sum_but_nan", "any_bad", "product", "bell"),
        *("mean_of_some", "crossings", "windowed_maximum", "remainder", "rounded", "floors"),
        *("first_of_order", "least_hundred", "range_and_deviation", "sums_of_parts", "logarithms"),
        *("tangents", "hyperbolic", "arcs", "arcs_of_cosine", "expm1", "cbrt", "sincos"),
        *("signed_roots", "floors_and_remainders"),
    ),
    vector,
)
