"""The generated programs as workloads, to fill a book with.

The program of seed 17 is ``arrays.17``; its name says all about it, so nothing else is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from loopbook.errors import WorkloadError
from loopbook.workloads.arrays.generate import generate
from loopbook.workloads.call import fingerprints
from loopbook.workloads.workload import Workload, read_workload

PRESETS = {
    "S": {"n": 60, "m": 50},
    "M": {"n": 600, "m": 500},
    "L": {"n": 1200, "m": 1000},
}
"""Sizes of the programs' arrays."""

_PATIENCE = 200
"""So many programs in a row without a new nest, and there seem to be no more."""

_FRAME = """\
\"""A generated chain of array statements.\"""

import numpy as np

PARAMETERS = {presets}


def initialize(n, m):
    rng = np.random.default_rng({seed})
    shapes = (n, m), (m, n), (n, n), (n,), (m,)
    A, B, C, x, y = (rng.uniform(-1, 1, shape) / shape[-1] ** 0.5 for shape in shapes)
    s = 0.75
    return A, B, C, x, y, s


{kernel}"""
"""Rows of about unit length: products of products stay in range at all sizes."""


def load(name: str) -> Workload:
    """One program as a workload.

    Raises:
        WorkloadError: it is no name of a generated program.
    """
    prefix, _, number = name.partition(".")
    if prefix != "arrays" or not (number.isascii() and number.isdigit()):
        raise WorkloadError(
            f"{name!r} is no name of an array program; they are arrays.0, arrays.1…"
        )
    seed = int(number)
    text = _FRAME.format(presets=PRESETS, seed=seed, kernel=generate(seed).source)
    path = Path(__file__).with_name(f"arrays.{seed}.py")  # there is no such file
    return replace(read_workload(text, path), name=f"arrays.{seed}")


def draw(count: int, first: int = 0) -> Iterator[Workload]:
    """Up to `count` programs, each with a nest that none before it has.

    Args:
        first: the seed to begin at.
    """
    seen: set[str] = set()
    seed = first
    barren = 0
    while count > 0 and barren < _PATIENCE:
        workload = load(f"arrays.{seed}")
        seed += 1
        barren += 1
        if found := fingerprints(workload, "S") - seen:
            seen |= found
            barren = 0
            count -= 1
            yield workload
