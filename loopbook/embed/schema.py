"""Fits weights that were trained on graphs with other features or relations to today's graphs.

Weights keep the names of what they have learnt from. What graphs have besides is not heard: a
feature gets weights of 0, edges of a relation are left out. What graphs have no longer is never
there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from loopbook.embed.graph import FEATURES, GROUPS, RELATIONS, SCHEMA

Arrays = dict[str, np.ndarray]


def fitted(
    stored: Mapping[str, np.ndarray], schema: Mapping[str, Any], hidden: int
) -> tuple[Arrays, np.ndarray]:
    """The weights for today's graphs, and which of `RELATIONS` they know.

    Args:
        stored: as trained on graphs with `schema`.
        hidden: values of a node's state.

    Raises:
        KeyError: the schema lacks something.
        ValueError: names mean something else today.
    """
    groups, relations = list(schema["groups"]), dict(schema["relations"])
    today = SCHEMA["relations"]
    moved = any(name in today and today[name] != group for name, group in relations.items())
    if schema["meaning"] != SCHEMA["meaning"] or moved:
        raise ValueError("names mean something else")
    arrays = dict(stored)
    arrays["input.weight"] = _rows(arrays["input.weight"], list(schema["features"]), FEATURES)
    for name, array in stored.items():
        if name.endswith(".relation"):
            arrays[name] = _rows(array, list(relations), RELATIONS)
        elif name.endswith(".weight1") and name.startswith("round"):
            state, heard = array[:hidden], array[hidden:]
            if len(heard) % len(groups):
                raise ValueError("groups do not fit")
            by_group = heard.reshape(len(groups), -1, array.shape[1])
            chosen = _rows(by_group, groups, GROUPS)
            arrays[name] = np.concatenate([state, chosen.reshape(-1, array.shape[1])])
    return arrays, np.array([name in relations for name in RELATIONS])


def _rows(array: np.ndarray, names: Sequence[str], wanted: Sequence[str]) -> np.ndarray:
    """The rows of these names, in another order; zeros for those that are not there."""
    if len(array) != len(names):
        raise ValueError("names and weights do not fit")
    if list(names) == list(wanted):
        return array
    places = {name: place for place, name in enumerate(names)}
    padded = np.concatenate([array, np.zeros_like(array[:1])])
    return padded[[places.get(name, len(names)) for name in wanted]]
