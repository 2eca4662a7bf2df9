"""Loops are read as steps leave them; features are finite and say what they should."""

from __future__ import annotations

import json
from collections.abc import Sequence
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
    text_of,
)
from hypothesis import given
from hypothesis import strategies as st

from loopbook.errors import IllegalStepError
from loopbook.predict.amounts import UNKNOWN_TRIP
from loopbook.predict.features import NAMES, SITE, TREE, Features
from loopbook.predict.loops import LoopReader, Loops, Node
from loopbook.program.nest import Nest
from loopbook.program.read import read
from loopbook.recipes.recipe import Recipe
from loopbook.rules import TuningContext, propose, random_step
from loopbook.sdfg import frontend, program
from loopbook.steps import Step
from loopbook.steps.workbench import Transformed, Workbench, transformed

TRIPS = {"L0": 1000, "L1": 1000, "L2": 1000}
AROUND = TuningContext("sequential", 8, 32 << 10, 1 << 20, 32 << 20, trips=TRIPS)


def features(text: str = "", kernel=product, around: TuningContext = AROUND) -> dict[str, float]:
    nest = nests_of(kernel)[0]
    return dict(zip(NAMES, map(float, row(nest, parsed(text), around)), strict=True))


def row(nest: Nest, steps: Sequence[Step], around: TuningContext = AROUND) -> np.ndarray:
    return Features(nest, around)(transformed(nest, steps)[0], steps)


def parsed(text: str) -> tuple[Step, ...]:
    return Recipe.parse(text.replace("; ", "\n")).steps


def loops(text: str, kernel=product, trips=TRIPS) -> Loops:
    nest = nests_of(kernel)[0]
    after, refused = transformed(nest, parsed(text))
    assert not refused
    return LoopReader(nest, trips)(after)


def path(text: str, kernel=product) -> list[Node]:
    """The loops around the innermost body."""
    return max((path for path, _ in loops(text, kernel).bodies), key=len)


def bases(text: str, kernel=product) -> list[int]:
    return [node.base for node in path(text, kernel)]


def trips(text: str, kernel=product) -> list[float]:
    return [node.trip for node in path(text, kernel)]


# -- loops ----------------------------------------------------------------------------------------


def test_tiles_and_interchanges_are_followed():
    assert bases("") == [0, 1, 2]
    assert bases("tile L1 32") == [0, 1, 1, 2]
    text = "tile L0 4; tile L1 32; interchange L0 L1.tile; interchange L1 L2; interchange L0 L2"
    assert bases(text) == [0, 1, 2, 0, 1]
    assert trips(text) == [250, 31.25, 1000, 4, 32]
    assert [node.size for node in path(text)] == [0, 0, 0, 4, 32]
    assert trips("tile L0 64; tile L0 8")[:3] == [15.625, 8, 8]
    assert bases("interchange L0 L1; interchange L0 L2") == [1, 2, 0]


def test_a_tile_larger_than_its_loop_is_the_loop():
    for text in ("tile L0 2048", "tile L0 2048; peel L0"):
        assert trips(text)[:2] == [1, 1000], text


def test_incomplete_tiles_are_seen_until_they_are_peeled():
    assert [node.ragged for node in path("tile L0 4")] == [False, True, False, False]
    peeled = path("tile L0 4; peel L0")
    assert not any(node.ragged for node in peeled)
    assert len(loops("tile L0 4; peel L0").bodies) == 1, "the rest is no body of its own"


def test_each_body_has_its_own_loops_and_schedules():
    read_loops = loops("tile L2 32; vectorize L2; tile L4 8; peel L4; unroll L4", stencil)
    around = [[(node.base, sorted(node.marks)) for node in path] for path, _ in read_loops.bodies]
    time = (0, [])
    assert around == [
        [time, (1, []), (2, []), (2, ["vectorize"])],
        [time, (3, []), (4, []), (4, ["unroll"])],
    ]
    assert [node.base for node in read_loops.roots[0].loops] == [1, 3]


def test_what_a_buffer_holds_goes_by_its_array():
    text = "tile L0 4; tile L1 32; interchange L0 L1.tile; interchange L1 L2; interchange L0 L2"
    plain, staged = loops(text), loops(f"{text}; stage L2 A2 out")
    assert len(staged.bodies) == 1, "copying is no body of its own"
    (around, references), (_, before) = staged.bodies[0], plain.bodies[0]
    (buffer,) = around[2].staged
    assert around[2].staged[buffer] == "out"
    (held,) = [one for one in references if one.container == buffer]
    (array,) = [one for one in before if one.write]
    assert (held.write, held.read) == (array.write, array.read) == (True, True)
    assert held.strides.keys() == array.strides.keys() == {0, 1}


def test_statements_that_read_a_buffer_are_no_copies():
    def shifted(a, b):
        for i in range(a.shape[0]):
            b[i] = a[i]

    (nest,) = sdfg_kit.nests_of(shifted, [sdfg_kit.random(40), sdfg_kit.random(40)])
    after, refused = transformed(nest, parsed("tile L0 32; stage L0 A0 in"))
    assert not refused
    ((around, references),) = LoopReader(nest, {"L0": 4096})(after).bodies
    assert [len(node.staged) for node in around] == [0, 1]
    assert len(references) == 2


def test_unknown_trips_are_guessed():
    nest = nests_of(product)[0]
    ((path, _),) = LoopReader(nest, {"L1": 7})(Transformed.of(nest)).bodies
    assert [node.trip for node in path] == [UNKNOWN_TRIP, 7, UNKNOWN_TRIP]


def test_a_nest_by_itself_takes_the_steps_that_it_takes_in_its_program():
    for kernel in (product, stencil, chain):
        whole = read(json.loads(program.prepare(text_of(kernel)).to_json()))
        for nest in nests_of(kernel):
            for seed in range(12):
                steps = propose(nest, Random(seed), AROUND)
                bench, refused = Workbench(whole, nest), []
                for step in steps:
                    try:
                        bench.apply(*step)
                    except IllegalStepError:
                        refused.append(step)
                alone = transformed(nest, steps)
                assert alone[1] == refused
                told = Features(nest, AROUND)
                np.testing.assert_array_equal(told(alone[0]), told(bench.transformed))


# -- features -------------------------------------------------------------------------------------


@given(st.integers(0, 2**32), st.sampled_from([product, stencil, chain]), st.booleans())
def test_features_are_finite_and_of_one_length(seed, kernel, known):
    random = Random(seed)
    around = AROUND if known else TuningContext("openmp", 4, threads=2)
    for nest in nests_of(kernel):
        steps = (*propose(nest, random, around), random_step(nest, random, around))
        told = row(nest, steps, around)
        assert told.shape == (len(NAMES),)
        assert told.dtype == np.float32
        assert np.isfinite(told).all()
        untried = Features(nest, around)(None, steps)
        assert np.isnan(untried[: len(TREE)]).all()
        np.testing.assert_array_equal(untried[len(TREE) :], told[len(TREE) :])


def test_names_are_unique():
    assert len(set(NAMES)) == len(NAMES)


def test_names_of_variables_do_not_matter():
    for text in ("", "interchange L1 L2", blocked()):
        assert features(text) == features(text, product_renamed)
    assert features() != features("", product_transposed)


def test_steps_that_came_later_are_counted_by_their_names():
    told = Features(nests_of(product)[0], AROUND)
    plain = told(None)
    for op in ("mark_parallel", "hoist", "warp"):
        counted = told(None, (Step(op, ("L1",)), Step(op, ("L9",))))
        assert counted.shape == plain.shape
        places = np.flatnonzero(~np.isclose(counted, plain, equal_nan=True))
        assert any(NAMES[place].startswith("steps other") for place in places)
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


def test_what_becomes_of_a_body_that_is_not_the_hot_one_shows():
    plain, cut = features("", stencil), features("tile L4 8; interchange L3 L4.tile", stencil)
    assert {name for name in SITE if cut[f"hot {name}"] != plain[f"hot {name}"]} == set()
    assert cut["cycles"] > plain["cycles"], "eight iterations are little for its vectors"


def test_cycles_are_those_of_threads_and_vectors():
    shared = TuningContext("openmp", 8, 32 << 10, 1 << 20, 32 << 20, threads=4, trips=TRIPS)
    assert features(around=shared)["cycles"] == pytest.approx(features()["cycles"] - 2, abs=0.01)
    inner = features("parallel L1", around=shared)["cycles"]
    assert inner > features("parallel L0", around=shared)["cycles"], "woken a thousand times"
    assert features("interchange L1 L2")["cycles"] < features()["cycles"], "along memory"


def test_a_loop_in_a_branch_can_be_followed():
    def guarded(a, b):
        for i in range(a.shape[0]):
            if b[i] > 0.5:
                for j in range(a.shape[1]):
                    a[i, j] = 2.0 * a[i, j]

    (nest,) = sdfg_kit.nests_of(guarded, [sdfg_kit.random(9, 8), sdfg_kit.random(9)])
    after, refused = transformed(nest, parsed("tile L1 8; tile L0 4"))
    assert not refused
    bodies = LoopReader(nest, {"L0": 40, "L1": 80})(after).bodies
    assert [0, 0, 1, 1] in [[node.base for node in path] for path, _ in bodies]


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
    shared = [
        {node.base for node in LoopReader(nest, {})(Transformed.of(nest)).shared()}
        for nest in (several, single)
    ]
    assert shared == [{1, 2}, set()]
    around = TuningContext("openmp", 8, 32 << 10, 1 << 20, 32 << 20, threads=2, trips={"L1": 400})
    place = NAMES.index("hot thread time")
    assert row(several, (), around)[place] > 4, "400 iterations are not worth waking threads"
    assert row(several, parsed("single"), around)[place] == 0
    assert row(single, (), around)[place] == 0
