"""Array programs as workloads: the same by name, each with a nest of its own, made into loops."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from loopbook.errors import WorkloadError
from loopbook.workloads import arrays
from loopbook.workloads.call import Call, fingerprints


def test_a_name_says_all_about_a_program() -> None:
    workload = arrays.load("arrays.17")
    assert workload.name == "arrays.17"
    assert inspect.getsource(workload.kernel) == arrays.generate(17).source
    first, again = (workload.arguments("S") for _ in range(2))
    for one, other in zip(first, again, strict=True):
        np.testing.assert_array_equal(one, other)
    assert first[0].shape == (60, 50)


@pytest.mark.parametrize("name", ["arrays", "arrays.", "arrays.x", "arrays.-1", "gemm.1"])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(WorkloadError, match="no name of an array program"):
        arrays.load(name)


def test_every_program_drawn_brings_a_nest_that_none_before_it_has() -> None:
    drawn = list(arrays.draw(3, first=41))
    assert drawn[0].name == "arrays.41"
    seen: set[str] = set()
    for workload in drawn:
        assert Call.of(workload, workload.arguments("S")).lowered is not None
        found = fingerprints(workload, "S")
        assert found - seen
        seen |= found
