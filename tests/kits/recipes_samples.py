"""Records, embeddings and strategies that the tests of the recipe book share."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from hypothesis import strategies as st

from loopbook.recipes import (
    Embedding,
    HardwareProfile,
    Measurement,
    Provenance,
    Recipe,
    Record,
)
from loopbook.steps import MAX_COLLAPSE, MAX_SIZE, MAX_SKEW

AVX2 = HardwareProfile("Some CPU", "avx2", 256, 4, 1, 32768, 524288, 2**25, 40.0, 20.0)
AVX512 = HardwareProfile("Other CPU", "avx512", 512, 4, 1, 49152, 2**21, 2**25, 90.0, 20.0)
DIMENSION = 16


def record(number: int = 0, **changes) -> Record:
    """Records of different numbers are of different nests."""
    values = {
        "fingerprint": f"nest{number}",
        "nest": f"kernel{number}:0",
        "nest_json": json.dumps({"nest": number}),
        "target": "sequential",
        "hardware": AVX2,
        "recipe": Recipe.parse("tile L0 32\ninterchange L0 L1\nvectorize L1*"),
        "measurements": (Measurement(2.0, 1.0, 0.05, 7, {"N": 1000}),),
        "provenance": Provenance(f"kernel{number}", "polybench", "2025-01-02", seed=number),
    }
    return Record(**(values | changes))


def faster(speedup: float) -> tuple[Measurement, ...]:
    return (Measurement(speedup, 1.0, 0.0, 5, {"N": 10}),)


def vector(number: int) -> np.ndarray:
    return np.random.default_rng(number).normal(size=DIMENSION).astype(np.float32)


def embedding(number: int = 0, encoder: str = "first") -> Embedding:
    rows = np.random.default_rng(1000 + number).normal(size=(5, DIMENSION))
    return Embedding(encoder, vector(number), rows[:2], rows[2:], ("L0", "L1"), ("A0", "A1", "A2"))


_suffixes = st.lists(st.sampled_from([".tile", ".rest", ".flat", ".part0", ".load"]), max_size=3)
loop_names = st.builds(
    lambda number, suffixes, star: f"L{number}{''.join(suffixes)}{star}",
    st.integers(0, 9999),
    _suffixes,
    st.sampled_from(["", "*"]),
)
container_names = st.integers(0, 9999).map(lambda number: f"A{number}")
steps = st.one_of(
    st.tuples(st.just("tile"), st.tuples(loop_names, st.integers(2, MAX_SIZE))),
    st.tuples(
        st.sampled_from(["interchange", "fuse", "fuse_tiles"]), st.tuples(loop_names, loop_names)
    ),
    st.tuples(
        st.just("skew"),
        st.tuples(loop_names, loop_names, st.integers(-MAX_SKEW, MAX_SKEW).filter(bool)),
    ),
    st.tuples(
        st.sampled_from(["distribute", "vectorize", "unroll", "parallel", "peel"]),
        st.tuples(loop_names),
    ),
    st.tuples(st.just("peel"), st.tuples(loop_names, st.just("predicate"))),
    st.tuples(st.just("collapse"), st.tuples(loop_names, st.integers(2, MAX_COLLAPSE))),
    st.tuples(
        st.just("stage"),
        st.tuples(loop_names, container_names, st.sampled_from(["in", "out", "auto"])),
    ),
)
recipes = st.lists(steps, max_size=12).map(lambda pairs: Recipe(tuple(pairs)))

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["tile", "L0", "skew", "stage", "\ud800", "\0", 10**400]),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=8,
)


@st.composite
def damaged(draw, good):
    """A JSON object with one value somewhere inside replaced, or removed."""
    obj = json.loads(json.dumps(good))
    place: Any = obj
    key: Any = None
    while isinstance(place, (dict, list)) and place:
        keys = sorted(place) if isinstance(place, dict) else range(len(place))
        key = draw(st.sampled_from(list(keys)))
        if not isinstance(place[key], (dict, list)) or not place[key] or draw(st.booleans()):
            break
        place = place[key]
    if draw(st.booleans()) and isinstance(place, dict):
        del place[key]
    else:
        place[key] = draw(json_values)
    return obj
