"""The cost model: trees give what LightGBM gives, files are checked, rows say what they should."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from client_kit import blocked, nests_of, product, stencil

from loopbook.errors import EncoderError
from loopbook.predict import cost_model as predict_cost_model
from loopbook.predict.cost_model import TRUST, CostModel
from loopbook.predict.features import SITE, TREE
from loopbook.predict.rows import COLUMNS, NO_DONOR, Donor, Rows
from loopbook.predict.trees import Forest
from loopbook.recipes import HardwareProfile, Recipe
from loopbook.rules import TuningContext
from loopbook.rules.schedule_rule import applicable
from loopbook.steps.workbench import Transformed, transformed

MACHINE = HardwareProfile("a CPU", "avx512", 512, 2, 1, 32 << 10, 1 << 20, 32 << 20)
TRIPS = {"L0": 500, "L1": 500, "L2": 500}


def stump(
    column: int, threshold: float, low: float, high: float, otherwise: bool = False
) -> Forest:
    """One question: `low` where the column is at most the threshold, else `high`; where it is not
    known, `low` if that is said."""
    return Forest(
        np.array([0], np.int32),
        np.array([column, 0, 0], np.int16),
        np.array([threshold, 0, 0], np.float32),
        np.array([otherwise, False, False]),
        np.array([1, 1, 2], np.int32),
        np.array([2, 1, 2], np.int32),
        np.array([0, low, high], np.float32),
    )


def cost_model(low: float = -1.0, shift: float = 0.0) -> CostModel:
    forests = {"mean": stump(0, 2.0, 1 / TRUST, 3 / TRUST), "low": stump(0, 2.0, low, low)}
    shifts = {"sequential": shift, "openmp": 2 * shift}
    return CostModel(dict.fromkeys(shifts, forests), shifts, "gnn1-00000000", {"seed": 0})


def rows(*firsts: float) -> list[np.ndarray]:
    table = np.zeros((len(firsts), len(COLUMNS)), np.float32)
    table[:, 0] = firsts
    return list(table)


def test_a_forest_sums_the_leaves_that_rows_fall_into():
    forest = stump(0, 2.0, 1.0, 3.0)
    assert forest(np.stack(rows(1.0, 2.0, 2.5))).tolist() == [1.0, 1.0, 3.0]
    assert forest(np.empty((0, len(COLUMNS)), np.float32)).shape == (0,)


def test_what_is_not_known_takes_the_way_that_was_learnt():
    unknown = np.stack(rows(float("nan"), 1.0))
    assert stump(0, 2.0, 1.0, 3.0)(unknown).tolist() == [3.0, 1.0]
    assert stump(0, 0.5, 1.0, 3.0, otherwise=True)(unknown).tolist() == [1.0, 3.0]


def test_forests_written_before_anything_was_missing_take_it_for_0():
    for threshold, told in ((2.0, 1.0), (-2.0, 3.0)):
        arrays = stump(0, threshold, 1.0, 3.0).arrays("mean")
        del arrays["mean.otherwise"]
        assert Forest.of(arrays, "mean")(np.stack(rows(float("nan")))).tolist() == [told]


def test_the_shipped_weights_work_on_when_columns_come_and_go(monkeypatch: pytest.MonkeyPatch):
    """A step that is added is not asked about, and what is gone is not known."""
    shipped = CostModel.load()
    nest = nests_of(product)[0]
    steps = Recipe.parse(blocked()).steps
    row = Rows(nest, MACHINE, "sequential", TRIPS)(steps, transformed(nest, steps)[0])
    (known,) = shipped.predict([row])
    monkeypatch.setattr(predict_cost_model, "COLUMNS", (*COLUMNS, "step warp"))
    assert CostModel.load().predict([np.append(row, np.float32(7.0))]) == [known]
    monkeypatch.setattr(predict_cost_model, "COLUMNS", COLUMNS[:-1])
    without = row.copy()
    without[-1] = np.nan
    assert CostModel.load().predict([row[:-1]]) == shipped.predict([without])


def test_predictions_are_speedups_with_a_lower_bound():
    first, second = cost_model(low=-0.5, shift=1.0).predict(rows(1.0, 3.0))
    assert (first.speedup, second.speedup) == pytest.approx((2.0, 8.0))
    assert (first.lower, second.lower) == pytest.approx((2**-0.5, 2**1.5))
    quick = cost_model(low=-0.5, shift=1.0).predict(rows(1.0, 3.0), sure=False)
    assert [(one.speedup, one.lower) for one in quick] == [(first.speedup, 0), (second.speedup, 0)]
    near = rows(1.0)
    near[0][[COLUMNS.index("donor known"), COLUMNS.index("donor expected")]] = 1.0, 3.0
    (told,) = cost_model().predict(near)
    assert told.speedup == pytest.approx(16.0), "it starts from what near records say"
    (capped,) = cost_model(low=5.0).predict(rows(1.0))
    assert capped.lower == capped.speedup, "the bound is never above what is expected"
    assert capped.speedup == pytest.approx(2.0)
    assert cost_model().predict([]) == []
    threads = rows(1.0)
    threads[0][COLUMNS.index("machine openmp")] = 1.0
    (shared,) = cost_model(low=-0.5, shift=1.0).predict(threads)
    assert shared.lower == pytest.approx(2**-1.5), "each target has a shift of its own"


def test_what_costs_more_cycles_than_it_saves_is_not_sure_to_gain():
    for openmp, cycles, sure in (
        (1, 1.0, False),
        (1, 0.2, True),
        (1, np.nan, True),
        (0, 1.0, True),
    ):
        (row,) = rows(3.0)
        places = [COLUMNS.index("machine openmp"), COLUMNS.index("change cycles")]
        row[places] = openmp, cycles
        (told,) = cost_model(low=-0.5).predict([row])
        assert told.speedup == pytest.approx(8.0), "it may be measured"
        assert (told.lower > 1) == sure
        assert (told.lower * told.speedup > 1) == sure


def test_a_head_is_saved_and_loaded(tmp_path: Path):
    saved = cost_model(shift=0.25).save(tmp_path / "cost_model.npz")
    loaded = CostModel.load(tmp_path / "cost_model.npz")
    assert loaded.version == saved.version != ""
    assert loaded.shifts == {"sequential": 0.25, "openmp": 0.5}
    assert loaded.encoder == "gnn1-00000000"
    assert loaded.metadata["seed"] == 0
    assert loaded.predict(rows(1.0, 3.0)) == cost_model(shift=0.25).predict(rows(1.0, 3.0))
    assert cost_model(shift=0.5).save(tmp_path / "other.npz").version != saved.version


@pytest.mark.parametrize(
    "broken",
    [
        stump(len(COLUMNS), 0.0, 0.0, 0.0),
        stump(0, float("nan"), 0.0, 0.0),
        stump(0, 0.0, float("inf"), 0.0),
        Forest(*(np.zeros(0, np.int32) for _ in range(7))),
        # A node whose child is itself, by way of the root: walking it would never end.
        Forest(
            np.array([0], np.int32),
            np.zeros(2, np.int16),
            np.zeros(2, np.float32),
            np.zeros(2, bool),
            np.array([1, 0], np.int32),
            np.array([1, 0], np.int32),
            np.zeros(2, np.float32),
        ),
    ],
)
def test_damaged_forests_are_refused(tmp_path: Path, broken: Forest):
    made = cost_model()
    made.forests["openmp"]["mean"] = broken
    with pytest.raises(EncoderError, match="damaged"):
        made.save(tmp_path / "cost_model.npz")


@pytest.mark.parametrize("content", [b"", b"no cost model", b"PK\x03\x04"])
def test_damaged_files_are_refused(tmp_path: Path, content: bytes):
    (tmp_path / "cost_model.npz").write_bytes(content)
    with pytest.raises(EncoderError, match="damaged"):
        CostModel.load(tmp_path / "cost_model.npz")
    with pytest.raises(EncoderError, match="no cost model at"):
        CostModel.load(tmp_path / "none.npz")


def test_rows_tell_nest_recipe_machine_and_donor():
    nest = nests_of(product)[0]
    make = Rows(nest, MACHINE, "sequential", TRIPS)
    plain = dict(zip(COLUMNS, make((), Transformed.of(nest)).tolist(), strict=True))
    assert plain["donor known"] == 0.0
    assert plain["donor distance"] == NO_DONOR
    assert plain["change depth"] == 0.0
    assert plain["machine vector bits"] == 9.0
    steps = Recipe.parse(blocked()).steps
    left, _ = transformed(nest, steps)
    before, after = make.bodies(left)
    near = Donor(before, after, expected=4.0, speedup=8.0, distance=0.25, hardware_distance=1.0)
    tuned = dict(zip(COLUMNS, make(steps, left, near, 1).tolist(), strict=True))
    assert tuned["step tile"] == 2.0
    assert tuned["change depth"] == 2.0
    assert tuned["donor speedup"] == 3.0
    assert tuned["donor expected"] == 2.0
    assert tuned["donor distance"] == 0.25
    assert tuned["donor dropped"] == 1.0
    assert all(tuned[f"donor after {name}"] == 0.0 for name in SITE), "its own recipe"
    assert np.isfinite(make(steps, left, near, 1)).all()
    untried = dict(zip(COLUMNS, make(steps, None, near, 1).tolist(), strict=True))
    unknown = {name for name, value in untried.items() if np.isnan(value)}
    kinds = ("change", "donor after")
    assert unknown == {
        *TREE, "change cycles", *(f"{kind} {name}" for kind in kinds for name in SITE)
    }  # fmt: skip
    assert all(untried[name] == tuned[name] for name in untried.keys() - unknown)


def test_rows_see_another_nest():
    first, second = nests_of(product)[0], nests_of(stencil)[0]
    one = Rows(first, MACHINE, "sequential", TRIPS)((), Transformed.of(first))
    other = Rows(second, MACHINE, "openmp", {})((), Transformed.of(second))
    assert one.shape == other.shape == (len(COLUMNS),)
    assert not np.array_equal(one, other)


def test_rows_see_what_sort_of_nest_it_is():
    nest = nests_of(product)[0]
    rules = applicable(nest, TuningContext.of(MACHINE, "sequential", TRIPS))
    plain = Transformed.of(nest)
    row = dict(
        zip(COLUMNS, Rows(nest, MACHINE, "sequential", TRIPS, rules)((), plain), strict=True)
    )
    assert (row["nest depth"], row["nest serial outside"], row["nest triangular"]) == (3, 0, 0)
    assert row["nest fits register_tiles"] == 1.0
    assert row["nest fits pivot_cuts"] == 0.0
    bare = dict(zip(COLUMNS, Rows(nest, MACHINE, "sequential", TRIPS)((), plain), strict=True))
    assert {name for name in COLUMNS if row[name] != bare[name]} == {
        f"nest fits {rule}" for rule in rules
    }
