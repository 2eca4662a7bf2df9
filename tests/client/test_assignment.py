"""Assignments are those of scipy, ties included."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopbook.client.assignment import assign


@pytest.mark.heavy
@given(
    st.integers(0, 7).flatmap(
        lambda rows: st.tuples(
            st.just(rows), st.integers(max(rows, 1), 9), st.integers(0, 2**32 - 1), st.booleans()
        )
    )
)
def test_assignments_are_those_of_scipy(drawn: tuple[int, int, int, bool]) -> None:
    from scipy.optimize import linear_sum_assignment

    rows, columns, seed, ties = drawn
    rng = np.random.default_rng(seed)
    shape = rows, columns
    similar = rng.integers(-2, 3, shape).astype(float) if ties else rng.normal(size=shape)
    assert assign(similar) == linear_sum_assignment(similar, maximize=True)[1].tolist()
