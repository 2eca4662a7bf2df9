"""Several iterations in one pass over what all of them read: with the same numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopbook.frontend.lower import lower

from .kit import function

SIZES = ((3, 3), (9, 9), (17, 17), (11, 20), (20, 11))


def arguments(n: int, m: int) -> list[np.ndarray]:
    random = np.random.default_rng(n)
    shapes = (n, m), (max(n, m), max(n, m)), max(n, m) ** 2, max(n, m), max(n, m)
    return [random.random(shape) + 0.5 for shape in shapes]


def compared(source: str) -> bool:
    """Whether loops were jammed; their numbers are those of the function, at all sizes."""
    func = function(source, "A, B, x, v, w")
    jammed = False
    for sizes in SIZES:
        lowered = lower(func, arguments(*sizes), loops_too=True)
        assert lowered is not None
        jammed |= any(f"{many} * i_" in lowered.kernel_source for many in (4, 8))
        for others in SIZES:
            expected, got = arguments(*others), arguments(*others)
            if lowered.holds(*got):
                func(*expected)
                lowered.plain(*got)
                for mine, own in zip(got, expected, strict=True):
                    np.testing.assert_allclose(mine, own, rtol=1e-12)
    return jammed


def kernel(inner: str, term: str) -> str:
    return (
        "for i in range(A.shape[0]):\n"
        "    s = 0.0\n"
        f"    for j in range({inner}):\n"
        f"        s = s + {term}\n"
        "    v[i] = s\n"
    )


def test_sums_that_read_the_same_array_are_jammed():
    assert compared(kernel("A.shape[1]", "x[j] * w[i]"))
    assert compared(kernel("A.shape[1]", "A[i, j] * x[j]"))


@pytest.mark.parametrize("inner", ["i", "i + 1", "A.shape[0] - i", "i, A.shape[0]", "i % 3"])
def test_loops_that_are_longer_from_row_to_row_are_not(inner):
    assert not compared(kernel(inner, "x[j] * w[i]"))
    assert not compared(kernel(inner, "x[i * (i + 1) // 2 + j] * w[j]"))


TERMS = ("x[j] * w[i]", "A[i, j % A.shape[1]] * x[j]", "B[i, j] * w[j]", "max(x[j] - w[i], 0.0)",
         "abs(w[j] - B[j, i])", "x[i + j] * w[j]", "w[j]")  # fmt: skip
LENGTHS = ("w.shape[0]", "A.shape[1]", "i + 1", "w.shape[0] - i", "3", "i // 2 + 1")
STORES = ("v[i] = s", "v[i] = s + w[i]", "x[i] = s", "w[i] = s", "v[i] = v[i] + s", "v[0] = s")
LINES = ("", "w[j] = w[j] + x[j] * 0.5", "v[j] = v[j] + B[i, j] * x[i]", "B[i, j] = s", "t = w[j]")


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_numbers_stay_the_same(data):
    lines = ["t = 0.0\nfor i in range(A.shape[0]):\n    s = 0.0\n"]
    for _ in range(data.draw(st.integers(1, 2))):
        lines.append(f"    for j in range({data.draw(st.sampled_from(LENGTHS))}):\n")
        lines.append(f"        s = s + {data.draw(st.sampled_from(TERMS))}\n")
        if more := data.draw(st.sampled_from(LINES)):
            lines.append(f"        {more}\n")
    lines.append(f"    {data.draw(st.sampled_from(STORES))}\nv[1] = v[1] + t\n")
    compared("".join(lines))
