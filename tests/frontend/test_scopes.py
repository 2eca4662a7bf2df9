"""Names of comprehensions, which are nobody else's."""

from __future__ import annotations

import pytest

from .kit import check, data, function


@pytest.mark.parametrize(
    "body",
    [
        "y = s\nB = [y * A for y in (1.0, 2.0)]\nreturn B[0] + B[1], y",
        "i = 2\nt = np.array([x[i] for i in range(5)]) + i\nreturn t + sum(x[i] for i in (0, 1))",
        "k = 1\nreturn tuple(k + x[j] for j in range(3) for k in (j, 2)), (lambda k: k + s)(3), k",
        "k = 1\nreturn tuple((lambda k: k * x[0])(j + k) for j, k in ((1, 2), (3, 4)))",
        """u, v = x.copy(), y.copy()
for t in range(3):
    du, dv = u - v, u * v
    u, v = (y + s * dy for y, dy in zip((u, v), (du, dv)))
return u, v, y""",
    ],
)
def test_they_are_their_own(body):
    check(function(body, "A, x, y, s"), data(4, 5), data(5), data(5, seed=1), 0.5)
