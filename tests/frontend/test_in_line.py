"""Stores through reshape, ravel and flat: seen in the array that they are of, as in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from loopbook.errors import LoweringError
from loopbook.frontend import lower

from .kit import check, data, function

BODIES = {
    "a diagonal": "A.flat[:: A.shape[1] + 1] += s\nreturn A.trace()",
    "places": "A.ravel()[p] = 2.0\nB.reshape(-1)[p] += 1\nreturn A + B",
    "another name": "b = A.ravel()\nb[p] = -1\nb[0] += 5\nreturn A * 2, b[1:3]",
    "the array changes": "b = A.ravel()\nif s < 0:\n    A[0] = 5\nreturn b.sum(), b",
    "either changes": "b = A.reshape(-1)\nif s < 0:\n    b[p] = s\n    A[1] *= 2\n"
    "return A.sum(), b",
    "what is new": "H = np.zeros((3, 4))\nnp.add.at(H.ravel(), p, 1)\nH.flat[3] = s\nreturn H, H.T",
    "in loops": "for k in range(4):\n    r = A.ravel()\n    r[k] += r.mean()\n    A[1] *= 0.5",
    "other axes": "b = A.reshape(-1, 2)\nc = b.reshape(A.shape[0], -1)\nc[0, 1] = s\n"
    "d = A.reshape(2, -1)\nd[1] -= d[0]\nreturn A.sum()",
    "copies of NumPy's": "b = A.T.ravel()\nb[0] = 7\nA[0, 0] = s\nc = A.flatten()\nc[1] = s\n"
    "return b, c",
}


@pytest.mark.parametrize("dtype", [np.float64, np.complex128, np.int32, np.uint8])
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_stores_are_seen_in_the_array_itself(body, dtype):
    arrays = np.abs(data(4, 6, dtype=dtype)), np.abs(data(4, 6, dtype=dtype, seed=1))
    given = [array.astype(dtype) for array in arrays]
    if dtype == np.uint8:
        body = body.replace("r.mean()", "r[0]").replace("0.5", "2").replace("-1\nb", "9\nb")
    if dtype == np.int32:
        body = body.replace("r.mean()", "r[0]").replace("0.5", "2")
    kernel = function(body, "A, B, p, s")
    for s in (2, -3):
        if dtype != np.uint8 or s > 0:
            check(kernel, *given, np.array([1, 5, 7]), s)


def test_what_lies_otherwise_is_left_to_numpy():
    """It makes a copy there, or none."""
    kernel = function("b = A.ravel()\nb[0] = 7\nreturn A.sum()", "A")
    with pytest.raises(LoweringError, match="not contiguous"):
        lower(kernel, [data(4, 6)[:, ::2]])
    lowered = check(kernel, data(4, 6))
    assert not lowered.holds(data(6, 4).T)
