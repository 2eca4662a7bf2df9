"""docc's names for the extents of arrays, as docc's front end gives them out."""

from __future__ import annotations

import numpy as np
import pytest

from loopbook.program.extent_names import extent_names, number_of
from loopbook.program.json_text import loaded
from loopbook.sdfg import frontend


def added(A, B, c):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            B[i, j] += A[i, j] * c[j]


@pytest.mark.parametrize(
    "shapes", [[(3, 4), (3, 4), (4,)], [(1, 5), (2, 5), (6,)], [(1, 1), (1, 2), (3,)]]
)
def test_they_are_the_arguments_that_docc_adds(shapes):
    document = loaded(frontend.trace(added, [np.zeros(shape) for shape in shapes]))
    names = extent_names(shapes)
    assert document["arguments"][3:] == [name for size, name in names.items() if size != 1]
    assert [number_of(name) for name in names.values()] == [*range(len(names))]


def test_other_names_have_no_number():
    with pytest.raises(ValueError, match="no name of an extent"):
        number_of("_sx")
