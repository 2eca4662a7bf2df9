"""Outlines follow the steps; features have one length, are finite, and say what they should."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
import sdfg_kit
from client_kit import (
    blocked,
    chain,
    nests_of,
    product,
    product_renamed,
    product_transposed,
    stencil,
)
from hypothesis import given
from hypothesis import strategies as st

from loopbook.predict.features import NAMES, Features
from loopbook.predict.outline import UNKNOWN_TRIP, Outline, outline
from loopbook.recipes.recipe import Recipe
from loopbook.rules import TuningContext, propose, random_step
from loopbook.sdfg import frontend, program
from loopbook.steps import Step

TRIPS = {"L0": 1000, "L1": 1000, "L2": 1000}
AROUND = TuningContext("sequential", 8, 32 << 10, 1 << 20, 32 << 20, trips=TRIPS)


def features(text: str = "", kernel=product, around: TuningContext = AROUND) -> dict[str, float]:
    nest = nests_of(kernel)[0]
    steps = Recipe.parse(text.replace("; ", "\n")).steps
    return dict(zip(NAMES, map(float, Features(nest, around)(steps)), strict=True))


def drawn(text: str, kernel=product) -> Outline:
    return outline(nests_of(kernel)[0], Recipe.parse(text.replace("; ", "\n")).steps, TRIPS)


def order(text: str, kernel=product) -> list[str]:
    """The loops around the innermost body."""
    return [node.name for node in max((path for path, _ in drawn(text, kernel).sites()), key=len)]


# -- outlines -------------------------------------------------------------------------------------


def test_tiles_and_interchanges_are_followed():
    assert order("") == ["L0", "L1", "L2"]
    assert order("tile L1 32") == ["L0", "L1.tile", "L1", "L2"]
    text = "tile L0 4; tile L1 32; interchange L0 L1.tile; interchange L1 L2; interchange L0 L2"
    assert order(text) == ["L0.tile", "L1.tile", "L2", "L0", "L1"]
    nodes = drawn(text).nodes
    assert [nodes[name].trip for name in ("L0.tile", "L1.tile", "L0", "L1")] == [250, 31.25, 4, 32]
    assert order("tile L0 64; tile L0 8") == ["L0.tile", "L0.tile2", "L0", "L1", "L2"]
    assert order("interchange L0 L1; interchange L0 L2") == ["L1", "L2", "L0"]


def test_what_does_not_fit_is_counted_and_changes_nothing():
    for text in ("interchange L0 L2", "tile L7 4", "interchange L1 L0", "fuse L1 L2"):
        assert drawn(text).refused == 1, text
        assert order(text) == ["L0", "L1", "L2"]


def test_bodies_are_split_and_joined():
    assert len(list(drawn("", stencil).sites())) == 2
    joined = drawn("fuse L1 L3", stencil)
    assert joined.refused == 0
    paths = [[node.name for node in path] for path, _ in joined.sites()]
    assert paths == [["L0", "L1", "L2"], ["L0", "L1", "L4"]]
    split = drawn("fuse L1 L3; distribute L1", stencil)
    paths = [[node.name for node in path] for path, _ in split.sites()]
    assert paths == [["L0", "L1", "L2"], ["L0", "L1.part", "L4"]]
    marked = drawn("fuse L1 L3; distribute L1; unroll L1*", stencil).nodes
    assert "unroll" in marked["L1"].marks & marked["L1.part"].marks


def test_blocks_are_neither_lost_nor_doubled():
    for kernel in (product, stencil, chain):
        for nest in nests_of(kernel):
            for seed in range(80):
                random = Random(seed)
                steps = [*propose(nest, random, AROUND), random_step(nest, random, AROUND)]
                blocks = [b for _, blocks in outline(nest, steps, TRIPS).sites() for b in blocks]
                assert sorted(blocks) == list(range(len(nest.blocks)))


def test_unknown_trips_are_guessed():
    nodes = outline(nests_of(product)[0], (), {"L1": 7}).nodes
    assert [node.trip for node in nodes.values()] == [UNKNOWN_TRIP, 7, UNKNOWN_TRIP]


# -- features -------------------------------------------------------------------------------------


@given(st.integers(0, 2**32), st.sampled_from([product, stencil, chain]), st.booleans())
def test_features_are_finite_and_of_one_length(seed, kernel, known):
    random = Random(seed)
    around = AROUND if known else TuningContext("openmp", 4, threads=2)
    for nest in nests_of(kernel):
        steps = (*propose(nest, random, around), random_step(nest, random, around))
        row = Features(nest, around)(steps)
        assert row.shape == (len(NAMES),)
        assert row.dtype == np.float32
        assert np.isfinite(row).all()


def test_names_are_unique():
    assert len(set(NAMES)) == len(NAMES)


def test_names_of_variables_do_not_matter():
    for text in ("", "interchange L1 L2", blocked()):
        assert features(text) == features(text, product_renamed)
    assert features() != features("", product_transposed)


def test_steps_that_came_later_are_counted_by_their_names():
    nest = nests_of(product)[0]
    plain = Features(nest, AROUND)(())
    for op in ("mark_parallel", "hoist", "warp"):
        row = Features(nest, AROUND)((Step(op, ("L1",)), Step(op, ("L9",))))
        assert row.shape == plain.shape
        changed = {NAMES[place] for place in np.flatnonzero(row != plain)}
        assert any(name.startswith("steps other") for name in changed)
        assert ("hot other marks" in changed) == (op != "warp"), "of warp nothing is known"
    assert features("tile L0 4")["steps tile"] == 1


def test_strides_follow_the_innermost_loop():
    before, after = features(), features("interchange L1 L2")
    assert before["hot inner symbolic"] == pytest.approx(1 / 3)
    assert after["hot inner symbolic"] == 0
    assert after["hot inner unit"] == pytest.approx(2 / 3)
    assert (before["hot inner reduces"], after["hot inner reduces"]) == (1, 0)


def test_blocking_for_registers_and_caches_shows():
    plain, tiled = features("interchange L1 L2"), features(blocked())
    assert tiled["hot has register tile"] == 1
    assert tiled["hot accumulators"] == 4, "4 rows of 32 columns are 16 vectors"
    assert tiled["hot spilled"] == 0 < plain["hot spilled"]
    assert tiled["hot loads per iteration"] < plain["hot loads per iteration"]
    assert tiled["hot l2 traffic"] < plain["hot l2 traffic"] - 1
    assert tiled["hot unrolled"] == 2
    assert tiled["hot staged out"] == 1
    assert tiled["hot vectorized"] == 1
    more = features(blocked().replace("tile L0 4", "tile L0 16"))
    assert more["hot accumulators"] == 6
    assert more["hot spilled"] == 1


def test_larger_caches_mean_less_traffic():
    small = features("interchange L1 L2", around=TuningContext("sequential", 8, trips=TRIPS))
    large = TuningContext("sequential", 8, 1 << 30, 1 << 31, 1 << 32, trips=TRIPS)
    assert features("interchange L1 L2", around=large)["hot l1 traffic"] < small["hot l1 traffic"]


def test_ragged_tiles_are_peeled_away():
    assert features("tile L0 4")["hot ragged tiles"] == 1
    assert features("tile L0 4; peel L0")["hot ragged tiles"] == 0


def test_the_body_that_runs_most_is_the_hot_one():
    trips = {"L0": 10, "L1": 4, "L2": 4, "L3": 100, "L4": 100}
    around = TuningContext("sequential", 8, trips=trips)
    assert features("vectorize L4", stencil, around)["hot vectorized"] == 1
    assert features("vectorize L2", stencil, around)["hot vectorized"] == 0
    assert 0 < features("vectorize L2", stencil, around)["mean vectorized"] < 0.1


def test_a_loop_in_a_branch_can_be_followed():
    def guarded(a, b):
        for i in range(a.shape[0]):
            if b[i] > 0.5:
                for j in range(a.shape[1]):
                    a[i, j] = 2.0 * a[i, j]

    (nest,) = sdfg_kit.nests_of(guarded, [sdfg_kit.random(9, 8), sdfg_kit.random(9)])
    steps = Recipe.parse("tile L1 8\ntile L0 4").steps
    drawn = outline(nest, steps, {"L0": 40, "L1": 80})
    assert drawn.refused == 0
    assert ["L0.tile", "L0", "L1.tile", "L1"] in [
        [node.name for node in path] for path, _ in drawn.sites()
    ]


def test_who_gets_threads_is_seen():
    shared = TuningContext("openmp", 8, 32 << 10, 1 << 20, 32 << 20, threads=4, trips=TRIPS)
    alone = features("parallel L0")
    assert (alone["hot parallel"], alone["hot threaded"]) == (0, 0), "another target"
    own = features(around=shared)
    assert (own["hot parallel"], own["hot threaded"]) == (0, 1), "docc gives them by itself"
    assert own["hot thread place"] == 0
    single = features("single", around=shared)
    assert (single["hot threaded"], single["hot thread time"]) == (0, 0)
    inner = features("parallel L1", around=shared)
    assert (inner["hot parallel"], inner["hot thread place"]) == (1, 1)
    assert own["hot thread grain"] > inner["hot thread grain"]
    assert inner["hot thread starts"] == pytest.approx(np.log2(1000))
    assert own["hot thread time"] < inner["hot thread time"] < 0
    short = TuningContext("openmp", 8, threads=4, trips={"L0": 1000, "L1": 4, "L2": 4})
    assert features("parallel L1", around=short)["hot thread time"] > 0, "waking them takes longer"


def test_docc_shares_outermost_maps_or_those_right_below_if_there_are_several():
    def time_steps(STEPS, A, B):
        for t in range(STEPS):  # noqa: B007
            for i in range(1, A.shape[0] - 1):
                B[i] = A[i - 1] + A[i + 1]
            for i in range(1, A.shape[0] - 1):
                A[i] = B[i - 1] + B[i + 1]

    def one_map(A, x):
        for k in range(1, A.shape[0]):
            for i in range(A.shape[1]):
                A[k, i] = A[k - 1, A.shape[1] - 1 - i] * x[i]

    several, single = (
        program.nests(program.prepare(frontend.trace(kernel, given)))[0]
        for kernel, given in (
            (time_steps, [3, np.zeros(50), np.zeros(50)]),
            (one_map, [np.zeros((20, 30)), np.zeros(30)]),
        )
    )
    names = [{node.name for node in outline(nest, ()).shared()} for nest in (several, single)]
    assert names == [{"L1", "L2"}, set()]
    around = TuningContext("openmp", 8, 32 << 10, 1 << 20, 32 << 20, threads=2, trips={"L1": 400})
    place = NAMES.index("hot thread time")
    woken = Features(several, around)
    assert woken(())[place] > 4, "two loops of 400 iterations are not worth waking threads"
    assert woken(Recipe.parse("single").steps)[place] == 0
    assert Features(single, around)(())[place] == 0
