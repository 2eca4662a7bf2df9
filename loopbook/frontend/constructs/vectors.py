"""Products of vectors in space and in the plane: cross.

Before::

    c = np.cross(a, b)

After, for each pair of vectors::

    c[i0, 0] = a[i0, 1] * b[i0, 2] - a[i0, 2] * b[i0, 1]
    c[i0, 1] = a[i0, 2] * b[i0, 0] - a[i0, 0] * b[i0, 2]
    c[i0, 2] = a[i0, 0] * b[i0, 1] - a[i0, 1] * b[i0, 0]
"""

from __future__ import annotations

import numpy as np

from loopbook.frontend import arith, nests, types
from loopbook.frontend.indexing import FULL, load_at
from loopbook.frontend.operators import lift
from loopbook.frontend.registry import lowers
from loopbook.frontend.symbols import ONE, ZERO, Int
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Array, Value, looked_at, whole


@lowers(np.cross, np.linalg.cross)
def cross(t: Translator, a: Value, b: Value, axis: Value | None = None) -> Value:
    """Vectors along the last axis; of vectors in the plane, the one number that is not nought."""
    code = t.code
    left, right = t.array(a), t.array(b)
    if axis is not None and any(t.python(axis) not in (-1, v.rank - 1) for v in (left, right)):
        raise code.fail("cross along another axis than the last; use np.moveaxis")
    widths = [v.shape[-1] if v.rank else Int.of(0) for v in (left, right)]
    count = next((n for n in (2, 3) if all(code.same(w, Int.of(n)) for w in widths)), None)
    if count is None:
        raise code.fail("cross of what are no vectors of the same two or three numbers")
    left, right = (v if v.view is not None else t.stored(v) for v in (left, right))

    def component(first: int, second: int) -> Value:
        def form(p, q, r, s):
            return arith.binary(
                code, "-", arith.binary(code, "*", p, q), arith.binary(code, "*", r, s)
            )

        return lift(
            t, form, _at(t, left, first), _at(t, right, second), _at(t, left, second),
            _at(t, right, first), cost=3,
        )  # fmt: skip

    if count == 2:
        return component(0, 1)
    lead = nests.broadcast(code, [left.shape[:-1], right.shape[:-1]])
    shape = (*lead, Int.of(3))
    dtype = types.promote(left.kind, right.kind)[0]
    result = whole(code.temporary(shape, dtype), shape)
    own = tuple((ZERO, ((axis, ONE),)) for axis in range(len(lead)))
    for place in range(3):
        target = looked_at(result, lead, (*own, (Int.of(place), ())))
        nests.assign(code, target, t.array(component((place + 1) % 3, (place + 2) % 3)))
    return result


def _at(t: Translator, vectors: Array, place: int) -> Value:
    return load_at(t, vectors, [*[FULL] * (vectors.rank - 1), arith.constant(place)])
