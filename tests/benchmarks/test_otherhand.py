"""The kernels of `benchmarks/otherhand` compute what PolyBench's do."""

from __future__ import annotations

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
    functions = otherhand.forms(path)
    mine, theirs = otherhand.arguments(path, form, "MINI"), otherhand.arguments(path, "", "MINI")
    functions[form](*mine)
    functions["kernel"](*theirs)
    got = [value for value in mine if isinstance(value, np.ndarray)]
    if form == "swapped":
        got = [np.ascontiguousarray(array.T) for array in got]
    compare(got, [value for value in theirs if isinstance(value, np.ndarray)])
