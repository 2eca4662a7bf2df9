"""Arguments of NumPy's functions that are less common, and functions that are called by others."""

from __future__ import annotations

import numpy as np
import pytest

from loopbook.errors import LoweringError
from loopbook.frontend import lower
from loopbook.frontend.lowered import SupposedError
from loopbook.sdfg import program
from loopbook.sdfg.frontend import trace

from .kit import check, data, function

PLACES = np.array([2, 0, 2, 1, 0])

ARGUMENTS = [
    "return np.divide(x, y, out=np.zeros_like(x), where=y > 0), np.sqrt(x, where=True)",
    "np.log(x, out=y, where=x > 0)\nnp.add(A, y, out=A, where=(A > 0) & (y > 0)[None, :])",
    "z = x * 2\nnp.exp(z, out=z)\nreturn z + 1, z",
    "z = x - 1\nnp.multiply(z, s, out=z, where=z[0] > 0)\nreturn z",
    "return np.trace(C, axis1=1, axis2=2), np.trace(A, 1), np.trace(A, offset=-2)",
    "return np.diagonal(C, axis1=0, axis2=2), np.diagonal(C), np.trace(C, 1, 2, 0)",
    "return np.linalg.norm(A, 1), np.linalg.norm(A, np.inf), np.linalg.norm(A, -1)",
    "return np.linalg.norm(x, -np.inf), np.linalg.norm(A, -np.inf), np.linalg.norm(C, 1, -1)",
    "a, b = map(np.sin, (x, y))\nc, d = map(lambda u, v: u @ v, (x, y), (y, y))\nreturn a, b, c, d",
    "return np.hypot(*A[:2]), np.add(*C[:, 0, :2].T[:, :1]), max(*x)",
    "return np.polyder(x), np.polyder(np.polyder(y)), np.polyder((1, 2, 3)), np.polyder(x, 3)",
    "np.maximum.at(A, (k, k), x)\nnp.minimum.at(x, k, y)\nnp.multiply.at(y, k, 2)",
    "np.add.at(A, k, x)\nnp.subtract.at(C, k[:3], A[:3, :4])\nnp.add.at(A, k % 2, 1.0)",
    "np.add.at(C, (k, k % 2), np.ones((5, 4)))\nnp.divide.at(A, k, A[0] + 3)",
    "return np.digitize(x, [-1.0, 0.0, 0.5]), np.digitize(x, np.linspace(-2, 2, 7), right=True)",
    "return np.digitize(A, np.sort(y)), np.digitize(s, (0, 1, 2))",
]


@pytest.mark.parametrize("body", ARGUMENTS)
def test_it_gives_the_same(body):
    given = data(5, 5), data(3, 3, 4), data(5), data(5, seed=1), PLACES, 0.5
    check(function(body, "A, C, x, y, k, s"), *given)


def test_edges_that_fall_are_pythons():
    places = function("return np.digitize(x, y * 1)", "x, y")
    lowered = check(places, data(4), np.array([0.0, 1.0, 1.0, 2.0]))
    with pytest.raises(SupposedError):
        lowered.plain(data(4), np.array([0.0, 1.0, 0.5, 2.0]))


def test_elements_that_nothing_is_stored_into_are_refused():
    with pytest.raises(LoweringError, match="where= without out="):
        lower(function("return np.log(x, where=x > 0)", "x"), [data(4)])


def test_docc_reads_rounding_of_single_precision():
    lowered = check(function("return np.rint(x), np.round(x * 3)", "x"), data(4, dtype=np.float32))
    program.parse(trace(lowered.kernel, list(lowered.prepare(data(4, dtype=np.float32)))))


@pytest.mark.parametrize(("own", "other"), [(np.float32, np.float64), (np.int32, np.int64)])
def test_wider_numbers_are_put_into_elements_of_their_kind(own, other):
    kernel = function("np.add.at(x, k, y)\nnp.maximum.at(x, k[::-1], y * 2)", "x, y, k")
    check(kernel, data(5, dtype=own), 40 * data(5, dtype=other), PLACES)


def test_arrays_are_not_copied_to_round_numbers():
    """Numbers beside floats of 32 bits are rounded to such once a call; the arrays are such."""
    scaled = function("return s * (x + y) - s", "x, y, s")
    x, y = (data(4, dtype=np.float32, seed=n) for n in (0, 1))
    lowered = check(scaled, x, y, 0.1)
    assert [text for _, text in lowered.definitions] == ["np.array([s], np.float32)"]
    assert lowered.holds(x, y, "no number")  # which is not rounded to find out


def test_solving_for_a_single_column_needs_no_loop_over_it():
    body = "z = np.linalg.solve(A, x)\nreturn z, z.argmin() if not s else 0"
    lowered = check(function(body, "A, x, s"), data(5, 5), data(5), 0.5)
    assert "range(1)" not in lowered.kernel_source


def test_truth_values_are_pythons_where_they_are_in_python():
    body = "return bool(np.all(x > 0)), np.allclose(x, x), bool(x[0]), np.all(x > 0)"
    found = check(function(body, "x"), data(4)).plain(data(4))
    assert [type(value) for value in found] == [bool, bool, bool, np.bool_]


def test_numbers_that_are_sizes_are_told_by_them():
    """Other numbers are other variants, and small ones are equal to a size by chance."""
    halved = function(
        "for i in range(1, n):\n    A[i, :n] += A[i - 1, :n] / n\nn = 3\nA[0] *= n", "n, A"
    )
    lowered = check(halved, 9, data(9, 9))
    assert "n == A.shape[0]" in lowered.guards
    assert not lowered.holds(8, data(9, 9))
    check(halved, 8, data(9, 9))
    assert "n == A.shape[0]" not in check(halved, 4, data(4, 4)).guards
