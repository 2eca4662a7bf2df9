"""Whose records of one nest come first."""

from __future__ import annotations

import dataclasses

import pytest
import recipes_samples as samples

from loopbook.client.machines import ranked
from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.record import ADOPTED, Measurement, Record

HERE = HardwareProfile(isa="avx2", vector_bits=256)
THERE = HardwareProfile(isa="avx512", vector_bits=512)


def known(hardware: HardwareProfile, speedup: float, source: str = "", size: int = 200) -> Record:
    made = samples.record(hardware=hardware)
    measured = Measurement(0.01 * speedup, 0.01, 0.0, 5, {}, {"L0": size, "L1": size})
    origin = dataclasses.replace(made.provenance, source=source)
    return dataclasses.replace(made, measurements=(measured,), provenance=origin)


@pytest.mark.parametrize(
    ("source", "speedup", "size", "first"),
    [
        ("", 2.0, 200, THERE),  # somebody searched here for less long, perhaps
        (ADOPTED, 2.0, 200, HERE),
        (f"{ADOPTED}, searched", 2.0, 300, HERE),
        ("", 18.0, 1000, HERE),
        (ADOPTED, 18.0, 1000, THERE),  # that was at another size
        (ADOPTED, 40.0, 1000, HERE),
    ],
)
def test_what_lost_here_is_not_believed(source, speedup, size, first):
    records = [(0, known(HERE, speedup, source)), (1, known(THERE, 20.0, size=size))]
    found = ranked(records, HERE, {"L0": size, "L1": size})
    assert found[0].hardware == first
    assert len(found) == 2


@pytest.mark.parametrize(("size", "first"), [(200, THERE), (2000, HERE)])
def test_what_another_machine_gained_at_another_size_is_doubted(size, first):
    records = [(0, known(HERE, 1.0, size=200)), (1, known(THERE, 1.39, size=200))]
    assert ranked(records, HERE, {"L0": size, "L1": size})[0].hardware == first


def test_what_was_compared_here_says_nothing_of_another_machine():
    records = [(0, known(HERE, 2.0, ADOPTED)), (1, known(THERE, 20.0))]
    assert ranked(records, THERE, {"L0": 200, "L1": 200})[0].hardware == THERE
