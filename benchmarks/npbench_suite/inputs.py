"""A program's arguments in files: made once for all systems, whatever NumPy they have."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

PROTOCOL = 4
"""NumPy 1 reads what NumPy 2 pickles so."""


def save(folder: Path, values: Sequence[Any]) -> None:
    """Write arguments to a new folder."""
    folder.mkdir()
    others = {}
    for place, value in enumerate(values):
        if isinstance(value, np.ndarray):
            np.save(folder / f"{place}.npy", value, allow_pickle=False)
        else:
            others[place] = value
    # Last: the folder is whole when this file is there.
    (folder / "others").write_bytes(pickle.dumps((len(values), others), protocol=PROTOCOL))


def load(folder: Path) -> list[Any]:
    """The arguments that `save` wrote there."""
    count, others = pickle.loads((folder / "others").read_bytes())
    return [
        others[place] if place in others else np.load(folder / f"{place}.npy")
        for place in range(count)
    ]


def nudged(values: Sequence[Any], seed: int) -> list[Any]:
    """Arguments of which no number is more than about one unit in the last place off."""
    rng = np.random.default_rng(seed)

    def off(value: np.ndarray) -> np.ndarray:
        signs = rng.integers(-1, 2, value.shape)
        return (value * (1 + np.finfo(value.dtype).eps * signs)).astype(value.dtype)

    return [
        off(value) if isinstance(value, np.ndarray) and value.dtype.kind in "fc" else value
        for value in values
    ]
