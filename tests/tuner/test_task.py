"""What is tuned is right to begin with: docc's own compile is compared with Python."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tuner_kit import task

from loopbook.errors import WrongResultError
from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.record import Record
from loopbook.tuner.seed import jobs, seed
from loopbook.tuner.settings import Settings
from loopbook.workloads import call, reference

pytestmark = pytest.mark.apart

LOST = """
import numpy as np

PARAMETERS = {"S": {"N": 12}}


def initialize(N):
    k = np.arange(N)
    k[3] = -1
    return {"k": k, "x": np.arange(N) + 1.0, "y": np.zeros(N)}


def kernel(k, x, y):
    for i in range(k.shape[0]):
        y[i] += 2.0 * x[k[i]]
"""
"""Python counts from the end; docc reads in front of the array, where it is given the loop as it is
written."""


@pytest.fixture
def as_written(monkeypatch):
    """What would be translated is not."""
    monkeypatch.setattr(call, "translated", lambda *_, **__: None)


def test_a_right_program_passes(tmp_path):
    task(tmp_path).check()


def test_a_wrong_one_does_not(tmp_path, as_written):
    with pytest.raises(WrongResultError, match="docc's own compile of mine is wrong"):
        task(tmp_path, text=LOST).check()


def test_nothing_is_learnt_from_it(tmp_path, as_written):
    kept = []

    def keep(records: Sequence[Record]) -> Sequence[Record]:
        kept.extend(records)
        return records

    done = seed(
        jobs([task(tmp_path, text=LOST)], ["sequential"], "S"),
        lambda target: HardwareProfile(),
        Settings(trials=1),
        logs=tmp_path,
        known=lambda job: (),
        keep=keep,
    )
    (only,) = done
    assert "is wrong" in only.error
    assert not kept


def test_python_that_takes_too_long_says_nothing(tmp_path, monkeypatch, as_written):
    monkeypatch.setattr(reference, "PYTHON_SECONDS", 0.0)
    task(tmp_path, text=LOST).check()
