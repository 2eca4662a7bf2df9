"""The nearest records are those that a look at all records finds."""

from __future__ import annotations

import numpy as np
import pytest

from loopbook.recipes._rows import Entry
from loopbook.recipes._snapshot import Snapshot
from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.index import VectorIndex
from loopbook.recipes.ranking import Filters, rank, rank_among

MACHINES = {
    "here": HardwareProfile(isa="avx512", vector_bits=512, l2_bytes=1 << 20),
    "like": HardwareProfile(isa="avx512", vector_bits=512, l2_bytes=1 << 19),
    "other": HardwareProfile(isa="avx2", vector_bits=256, l2_bytes=1 << 20),
}
NESTS, WIDTH = 300, 8


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("k", [1, 5, 24])
@pytest.mark.parametrize("machine", [None, "here", "other"])
def test_looking_at_the_first_only_finds_what_a_look_at_all_does(seed, k, machine):
    random = np.random.default_rng(seed)
    vectors = random.normal(size=(NESTS, WIDTH)).astype(np.float32)
    vectors[:, 0] += 6  # near each other, so that machines matter
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    by_nest: dict[str, list[Entry]] = {}
    for number in range(NESTS):
        by_nest[f"n{number}"] = [
            Entry(
                f"{number}-{place}",
                f"n{number}",
                str(random.choice(["sequential", "openmp"])),
                "kernel",
                str(random.choice(list(MACHINES))),
                float(random.choice([1.0, 2.0, 3.0])),
                f"tile L0 {random.integers(2, 4)}\n",
            )
            for place in range(random.integers(1, 5))
        ]
    names = list(by_nest)
    tags = [frozenset((one.target, one.hardware_id) for one in by_nest[name]) for name in names]
    index = VectorIndex.build(lambda: [(names, vectors, tags)], NESTS, WIDTH)
    snapshot = Snapshot("", by_nest, MACHINES, ["encoder"])
    filters = Filters("sequential", MACHINES.get(machine or ""), None, ("n3",), 2)
    query = vectors[0] + random.normal(size=WIDTH).astype(np.float32) / 10
    found = rank(snapshot, index, query, k, filters)
    gaps = np.linalg.norm(vectors - query / np.linalg.norm(query), axis=1)
    every = [entry for own in by_nest.values() for entry in own]
    wanted = rank_among(
        snapshot, every, dict(zip(names, map(float, gaps), strict=True)), k, filters
    )
    assert [one.id for one in found] == [one.id for one in wanted]
