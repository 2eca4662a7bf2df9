"""Strides, and views that are made of them."""

from __future__ import annotations

import numpy as np
import pytest

from loopbook.errors import LoweringError
from loopbook.frontend import lower

from .kit import check, data, function

BODIES = {
    "windows": "s = x.strides[0]\nv = as_strided(x, (len(x) - 2, 3), (s, s))\n"
    "return v.mean(axis=1), as_strided(x, (3, 2), (2 * x.itemsize, x.itemsize))",
    "patches": "h, w = A.shape\nv = as_strided(A, (h - 1, w - 1, 2, 2), A.strides + A.strides)\n"
    "return v.max(axis=(2, 3)), A.strides[0] // A.itemsize",
    "a diagonal": "d = as_strided(A, (4,), (A.strides[0] + A.strides[1],))\nd += 1\nreturn A.sum()",
    "again and again": "y = x[1::2]\nreturn as_strided(y, (2,), y.strides), "
    "as_strided(x, (3, len(x)), strides=(0, x.strides[0]))",
    "turned": "B = A.T\nreturn as_strided(B, B.shape, B.strides), B.strides",
}


@pytest.mark.parametrize("dtype", [np.float64, np.complex64, np.uint8])
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_views_of_multiples_of_strides(body, dtype):
    body = "from numpy.lib.stride_tricks import as_strided\n" + body
    if dtype == np.complex64:
        body = body.replace("max", "sum")
    check(function(body, "A, x"), abs(data(4, 5, dtype=dtype)).astype(dtype), data(8).astype(dtype))


def test_strides_of_what_is_in_another_order_are_left_to_numpy():
    with pytest.raises(LoweringError, match="C order"):
        lower(function("return A.strides", "A"), [data(4, 5).T])
