"""Learning: examples become rows and lessons, forests learn what there is to learn."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from loopbook.embed.inference import Encoder
from loopbook.errors import CorpusError, InputError
from loopbook.learn import boosting
from loopbook.learn.cost_model import train_cost_model
from loopbook.learn.examples import FAILED, Examples, gain_of, tabulate
from loopbook.learn.holdout import check_unseen
from loopbook.learn.lessons import lessons, regret
from loopbook.learn.retrieval import retrieval
from loopbook.predict.cost_model import CostModel
from loopbook.predict.rows import COLUMNS

from .kit import MACHINE, examples

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(find_spec("lightgbm") is None, reason="LightGBM is not installed"),
]


def column(table, name: str) -> np.ndarray:
    return table.rows[:, COLUMNS.index(name)]


def test_gains_are_logarithms_and_failures_are_bad():
    assert gain_of(4.0) == 2.0
    assert gain_of(None) == gain_of(0.0) == FAILED
    assert gain_of(1e9) < 10


def test_examples_become_rows():
    given = examples(30)
    table = tabulate(given, lambda one, other: 0.0 if one == other else 0.5)
    assert len(table) == 2 * 30, "with the tree that the recipe leaves, and without"
    assert table.tried.sum() == 30
    assert (np.isnan(column(table, "hot depth")) == ~table.tried).all()
    ported = np.array([bool(one.donor) for one in table.examples])
    np.testing.assert_array_equal(column(table, "donor known"), ported)
    assert set(column(table, "donor distance")[ported]) == {0.0, 0.5}
    unfit = replace(given, examples=[replace(given.examples[0], fits=False)])
    assert len(tabulate(unfit, lambda one, other: 0.0)) == 0


def test_what_is_held_out_is_not_learnt_from():
    given = examples(30)
    first = given.examples[0].fingerprint
    left = given.without((), {first})
    assert 0 < len(left) < len(given)
    assert first not in left.fingerprints
    assert first in given.fingerprints
    named = given.without({"donor-product"}, ())
    assert "donor-product" in given.programs
    assert "donor-product" not in named.programs
    told = {"programs": sorted(named.programs), "fingerprints": []}
    check_unseen(told, "the cost model", ["donor-product"], [])
    with pytest.raises(InputError, match="learnt from donor-stencil"):
        check_unseen(told, "the cost model", ["donor-stencil"], [])
    with pytest.raises(InputError, match="does not say"):
        check_unseen({}, "the cost model", ["gemm"], [])


def test_forests_in_numpy_give_what_lightgbm_gives():
    import lightgbm

    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, 5)).astype(np.float32)
    gains = rows[:, 0] + (rows[:, 1] > 0.3) * rows[:, 2]
    data = lightgbm.Dataset(rows, gains)
    model = lightgbm.train({"verbosity": -1, "num_threads": 1}, data, num_boost_round=30)
    fresh = rng.normal(size=(500, 5)).astype(np.float32)
    mine = boosting.exported(model.dump_model())(fresh)
    np.testing.assert_allclose(mine, np.asarray(model.predict(fresh)), atol=1e-4)


def test_what_is_not_known_goes_where_lightgbm_sends_it():
    import lightgbm

    rng = np.random.default_rng(0)
    rows = rng.normal(size=(600, 5)).astype(np.float32)
    rows[rng.random(rows.shape) < 0.3] = np.nan
    gains = np.where(np.isnan(rows[:, 0]), 2.0, rows[:, 0]) + np.nan_to_num(rows[:, 1])
    parameters = {"verbosity": -1, "num_threads": 1}
    model = lightgbm.train(parameters, lightgbm.Dataset(rows, gains), num_boost_round=30)
    fresh = rng.normal(size=(500, 5)).astype(np.float32)
    fresh[rng.random(fresh.shape) < 0.3] = np.nan
    mine = boosting.exported(model.dump_model())(fresh)
    np.testing.assert_allclose(mine, np.asarray(model.predict(fresh)), atol=1e-4)


def test_a_head_learns_and_says_from_what(tmp_path: Path):
    given, encoder = examples(), Encoder.load()
    report = train_cost_model(tmp_path / "cost_model.npz", given, encoder, rounds=60)
    assert report.calibration.explained > 0.4
    assert report.calibration.order > 0.7
    cost_model = CostModel.load(tmp_path / "cost_model.npz")
    assert cost_model.version == report.version
    assert cost_model.encoder == encoder.version
    assert cost_model.metadata["examples"] == len(given)
    assert set(cost_model.metadata["programs"]) == given.programs
    again = train_cost_model(tmp_path / "again.npz", given, encoder, rounds=60)
    assert again.version == report.version
    table = tabulate(given, lambda one, other: 0.0)
    expected = cost_model.predict(list(table.rows))
    promising = [
        2**gain >= one.lower
        for gain, one in zip(table.gains, expected, strict=True)
        if one.speedup >= 1.1
    ]
    assert np.mean(promising) > 0.8
    with pytest.raises(CorpusError, match="too few"):
        train_cost_model(tmp_path / "none.npz", examples(9), encoder)


def test_lessons_say_whose_recipes_work():
    given = examples()
    made = lessons(given)
    assert len(made) == 3
    for lesson in made:
        assert len(lesson.donors) == len(lesson.regrets) == 3
        assert 0 <= lesson.regrets.min() <= lesson.regrets.max() <= 1
        assert np.isfinite(lesson.facts[:-1]).all(), "the time is not known where trips are not"
    one = given.examples[0]
    assert regret(replace(one, gain=2.0)) == 0.0
    assert regret(replace(one, gain=1.0)) == 0.5
    assert regret(replace(one, fits=False)) == 1.0
    assert lessons(Examples()) == []
    assert MACHINE.key in given.hardware


def test_retrieval_counts_the_best_record_among_the_first():
    given = examples().keep(lambda one: bool(one.donor))
    perfect = retrieval(given, [regret(one) for one in given.examples])
    worst = retrieval(given, [-regret(one) for one in given.examples])
    assert perfect.nests == worst.nests == 3
    assert perfect.recall[1] == 1.0
    assert worst.recall[1] < 1.0
    assert perfect.regret[1] < worst.regret[1]
