"""The encoder's weights: their names and shapes, and the file that holds them.

The file is an ``.npz`` of float16 arrays and one array of JSON bytes, ``metadata``, that says how
the weights came about. Both the NumPy and the torch encoder read it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from loopbook.embed.graph import GROUPS, RELATIONS, SCHEMA, WIDTH
from loopbook.embed.schema import fitted
from loopbook.errors import EncoderError

NAME = "gnn1"
"""Name of the architecture; a change of it makes old weights useless."""

HIDDEN = 96
MESSAGE = 48
ROUNDS = 4
DIMENSION = 128

DEFAULT_PATH = Path(__file__).resolve().parent.parent / "data" / "encoder.npz"
"""The weights that come with loopbook."""


def shapes() -> dict[str, tuple[int, ...]]:
    """Name and shape of every array of weights."""
    found: dict[str, tuple[int, ...]] = {
        "input.weight": (WIDTH, HIDDEN),
        "input.bias": (HIDDEN,),
        "input.scale": (HIDDEN,),
        "input.shift": (HIDDEN,),
    }
    for number in range(ROUNDS):
        found |= {
            f"round{number}.message": (HIDDEN, MESSAGE),
            f"round{number}.relation": (len(RELATIONS), MESSAGE),
            f"round{number}.weight1": (HIDDEN + len(GROUPS) * MESSAGE, HIDDEN),
            f"round{number}.bias1": (HIDDEN,),
            f"round{number}.weight2": (HIDDEN, HIDDEN),
            f"round{number}.bias2": (HIDDEN,),
            f"round{number}.scale": (HIDDEN,),
            f"round{number}.shift": (HIDDEN,),
        }
    found |= {
        "nest.score": (HIDDEN, 1),
        "nest.weight1": (4 * HIDDEN, DIMENSION),
        "nest.bias1": (DIMENSION,),
        "nest.weight2": (DIMENSION, DIMENSION),
        "nest.bias2": (DIMENSION,),
    }
    for part in ("loop", "container"):
        found |= {f"{part}.weight": (HIDDEN, DIMENSION), f"{part}.bias": (DIMENSION,)}
    return found


@dataclass(frozen=True, eq=False)
class Weights:
    """Trained weights.

    Attributes:
        arrays: float32, named and shaped as in `shapes`.
        metadata: how they came about: seed, date, number of nests, losses, command.
        version: name of the architecture and a short hash of the weights.
        relations: which of the graph's relations they know, ``(len(RELATIONS),)``; None for all.
    """

    arrays: Mapping[str, np.ndarray]
    metadata: Mapping[str, Any]
    version: str
    relations: np.ndarray | None = None


def save(path: Path, arrays: Mapping[str, np.ndarray], metadata: Mapping[str, Any]) -> Weights:
    """Write weights, rounded to float16.

    Returns:
        The weights as `load` would read them.
    """
    rounded = {name: np.asarray(arrays[name], np.float16) for name in shapes()}
    version = _version(rounded)
    write(path, rounded, {**metadata, "version": version, "schema": SCHEMA})
    return load(path)


def write(path: Path, arrays: Mapping[str, np.ndarray], metadata: Mapping[str, Any]) -> None:
    """Write arrays and JSON about them, so that the file is either the old or the new one."""
    text = np.frombuffer(json.dumps(metadata).encode(), np.uint8)
    partial = path.with_name(f"{path.name}.{os.getpid()}.part")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with partial.open("wb") as file:
            np.savez_compressed(file, **arrays, metadata=text)  # type: ignore[arg-type]
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def load(path: Path | None = None) -> Weights:
    """Read and check weights, by default those that come with loopbook.

    Raises:
        EncoderError: if the file is missing, damaged, or what it knows means something else today.
    """
    path = path or DEFAULT_PATH
    try:
        with np.load(path, allow_pickle=False) as file:
            stored = {name: file[name] for name in shapes()}
            metadata = json.loads(file["metadata"].tobytes())
            schema = metadata["schema"]
    except FileNotFoundError:
        raise EncoderError(
            f"there are no encoder weights at {path}: reinstall loopbook, or run 'loopbook train'"
        ) from None
    except Exception as error:  # NumPy reads headers as Python: whatever that may raise
        raise EncoderError(
            f"the encoder weights {path} are damaged ({type(error).__name__}): "
            "reinstall loopbook, or run 'loopbook train'"
        ) from None
    version = _version(stored)
    try:
        stored, relations = fitted(stored, schema, HIDDEN)
    except (KeyError, TypeError, ValueError):
        raise EncoderError(
            f"the encoder weights {path} are for another version of the nest graph: "
            "run 'loopbook train'"
        ) from None
    for name, shape in shapes().items():
        array = stored[name]
        if array.shape != shape or array.dtype.kind != "f" or not np.isfinite(array).all():
            raise EncoderError(
                f"the encoder weights {path} do not fit ({name}): "
                "reinstall loopbook, or run 'loopbook train'"
            )
    arrays = {name: array.astype(np.float32) for name, array in stored.items()}
    return Weights(arrays, metadata, version, None if relations.all() else relations)


def _version(arrays: Mapping[str, np.ndarray]) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        digest.update(np.ascontiguousarray(arrays[name], np.float16).astype("<f2").tobytes())
    return f"{NAME}-{digest.hexdigest()[:8]}"
