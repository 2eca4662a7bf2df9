"""The kernels of `benchmarks/otherhand` compute what PolyBench's do."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from benchmarks import otherhand
from loopbook.toolchain.run import compare

CASES = [
    (kernel, form)
    for kernel, path in otherhand.files().items()
    for form in otherhand.forms(path)
    if form != "kernel"
]


def test_there_are_three_other_forms_of_each_kernel():
    assert len(otherhand.files()) > 10
    assert len(CASES) == 3 * len(otherhand.files())


@pytest.mark.parametrize(("kernel", "form"), CASES)
def test_another_form_gives_the_same_numbers(kernel, form):
    path = otherhand.files()[kernel]
    mine = otherhand.arguments(path, form, "MINI")
    otherhand.forms(path)[form](*mine)
    got = [value for value in mine if isinstance(value, np.ndarray)]
    if form == "swapped":
        got = [np.ascontiguousarray(array.T) for array in got]
    compare(got, results(kernel))


@cache
def results(kernel: str) -> list[np.ndarray]:
    """What PolyBench's own form computes."""
    path = otherhand.files()[kernel]
    theirs = otherhand.arguments(path, "", "MINI")
    otherhand.forms(path)["kernel"](*theirs)
    return [value for value in theirs if isinstance(value, np.ndarray)]
