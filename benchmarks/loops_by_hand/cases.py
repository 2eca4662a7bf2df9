"""Arguments of the kernels in `kernels.py`, and the sizes that `kernels.c` wants behind them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

RANDOM = np.random.default_rng(0)

ANGLES = -2 * np.pi * np.arange(512) / 1024


def random(*shape: int) -> np.ndarray:
    return RANDOM.random(shape)


def zeros(*shape: int) -> np.ndarray:
    return np.zeros(shape)


def rows_of_places(n: int, each: int) -> tuple[np.ndarray, ...]:
    """A sparse matrix with so many elements in each row, and two vectors."""
    places = RANDOM.integers(0, n, n * each)
    return random(n * each), places, np.arange(0, n * each + 1, each), random(n), zeros(n)


Case = tuple[Callable[[], tuple[Any, ...]], tuple[int, ...]]

CASES: dict[str, Case] = {
    "prolong": (lambda: (random(400, 400), zeros(800, 800)), (400,)),
    "restricted": (lambda: (random(800, 800), zeros(400, 400)), (400,)),
    "small": (lambda: (random(5000, 4, 4), random(5000, 4, 4), zeros(5000, 4, 4)), (5000,)),
    "conv_nhwc": (
        lambda: (random(34, 34, 16), random(3, 3, 16, 32), zeros(32, 32, 32)),
        (32, 32, 16, 32),
    ),
    "maxpool": (lambda: (random(16, 128, 128), zeros(16, 64, 64)), (16, 64, 64)),
    "integral": (lambda: (random(500, 500), zeros(501, 501)), (500,)),
    "dtw": (
        lambda: (
            random(500),
            random(500),
            np.pad(np.zeros((500, 500)), ((1, 0), (1, 0)), constant_values=1e30),
        ),
        (500,),
    ),
    "resize": (lambda: (random(200, 200), zeros(500, 500)), (200, 200, 500, 500)),
    "batched_thomas": (
        lambda: (random(200, 300), random(200, 300) + 3, random(200, 300), random(200, 300)),
        (200, 300),
    ),
    "horner": (lambda: (random(32 * 1000), random(12), zeros(32000)), (32000, 12)),
    "life": (lambda: (RANDOM.integers(0, 2, (500, 500)), np.zeros((500, 500), int)), (500,)),
    "nbody": (lambda: (random(600, 3), random(600), zeros(600, 3)), (600,)),
    "layernorm": (
        lambda: (random(500, 512), random(512), random(512), zeros(500, 512)),
        (500, 512),
    ),
    "softmax_grad": (lambda: (random(500, 512), random(500, 512), zeros(500, 512)), (500, 512)),
    "lstm": (
        lambda: (
            random(128) - 0.5,
            random(256) - 0.5,
            random(256),
            random(1024, 128) - 0.5,
            random(1024, 256) - 0.5,
            random(1024),
            zeros(1024),
        ),
        (256, 128),
    ),
    "ewma": (lambda: (random(500, 400), zeros(500, 400), 0.2), (500, 400)),
    "rgb2gray": (lambda: (random(500, 500, 3), zeros(500, 500)), (500,)),
    "spmv": (lambda: rows_of_places(20000, 12), (20000,)),
    "covar": (lambda: (random(600, 150), random(150), zeros(150, 150)), (600, 150)),
    "householder": (lambda: (random(200, 200), zeros(200), zeros(200)), (200,)),
    "fft": (lambda: (random(1024), random(1024), np.cos(ANGLES), np.sin(ANGLES)), (1024,)),
    "blackscholes": (
        lambda: (
            random(20000) + 0.5,
            random(20000) + 0.5,
            random(20000) + 0.1,
            0.03,
            0.2,
            zeros(20000),
        ),
        (20000,),
    ),
    "binomial": (lambda: (zeros(1001), 100.0, 105.0, 1.01, 1 / 1.01, 0.51, 0.9999), (1001,)),
    "viterbi": (
        lambda: (
            random(64, 64),
            random(64, 20),
            RANDOM.integers(0, 20, 200),
            random(200, 64),
            np.zeros((200, 64), int),
        ),
        (200, 64, 20),
    ),
    "sor": (lambda: (random(400, 400), random(400, 400), 1.5), (400,)),
    "redblack": (lambda: (random(400, 400), random(400, 400)), (400,)),
    "colsum": (lambda: (random(2000, 2000), zeros(2000)), (2000,)),
    "gemvt": (lambda: (random(2000, 2000), random(2000), zeros(2000)), (2000,)),
    "gemm_dot": (lambda: (random(300, 300), random(300, 300), zeros(300, 300)), (300,)),
    "cumdown": (lambda: (random(2000, 2000), zeros(2000, 2000)), (2000,)),
    "transpose": (lambda: (random(800, 800), zeros(800, 800)), (800,)),
    "scan_rows": (lambda: (random(400, 400), zeros(400, 400)), (400,)),
    "hist": (lambda: (random(100000), np.zeros(64, int), 64), (100000,)),
    "lcs": (
        lambda: (RANDOM.integers(0, 4, 400), RANDOM.integers(0, 4, 400), np.zeros((401, 401), int)),
        (400,),
    ),
    "jacobi_conv": (lambda: (random(200, 200), zeros(200, 200), 1e-9), (200,)),
    "csc": (lambda: rows_of_places(20000, 8), (20000,)),
    "dist": (lambda: (random(300, 16), random(300, 16), zeros(300, 300)), (300, 16)),
    "kde": (lambda: (random(2000), random(200), 0.1, zeros(200)), (2000, 200)),
    "softmax": (lambda: (random(300, 512), zeros(300, 512)), (300, 512)),
    "gelu": (lambda: (random(50000) - 0.5, zeros(50000)), (50000,)),
    "batchnorm": (
        lambda: (random(8, 16, 28, 28), random(16), random(16), zeros(8, 16, 28, 28)),
        (8, 16, 784),
    ),
    "conv_nchw": (
        lambda: (random(16, 34, 34), random(32, 16, 3, 3), zeros(32, 32, 32)),
        (32, 16, 32),
    ),
    "depthwise": (lambda: (random(32, 66, 66), random(32, 3, 3), zeros(32, 64, 64)), (32, 64)),
    "attention": (
        lambda: (random(200, 64), random(200, 64), random(200, 64), zeros(200, 64), zeros(200)),
        (200, 64),
    ),
    "packed": (lambda: (random(500 * 501 // 2), random(500), zeros(500)), (500,)),
    "autocorr": (lambda: (random(5000), zeros(64)), (5000, 64)),
    "decimate": (lambda: (random(4 * 4000 + 32), random(32), zeros(4000)), (4000, 32)),
    "dct8": (lambda: (random(128, 128), random(8, 8), zeros(128, 128)), (128,)),
    "lu": (lambda: (random(250, 250) + 250 * np.eye(250),), (250,)),
    "mandel": (
        lambda: (np.linspace(-2, 0.5, 150), np.linspace(-1, 1, 150), np.zeros((150, 150), int)),
        (150,),
    ),
    "kmeans": (lambda: (random(3000, 8), random(16, 8), np.zeros(3000, int)), (3000, 16, 8)),
    "heat3": (lambda: (random(80, 80, 80), zeros(80, 80, 80)), (80,)),
    "upwind": (
        lambda: (random(400, 400), random(400, 400) - 0.5, random(400, 400) - 0.5, zeros(400, 400)),
        (400,),
    ),
    "gather": (
        lambda: (random(100000), RANDOM.integers(0, 100000, 100000), zeros(100000)),
        (100000,),
    ),
    "lbp": (lambda: (random(400, 400), np.zeros((400, 400), int)), (400,)),
}
