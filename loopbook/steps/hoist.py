from __future__ import annotations

from loopbook.steps.arguments import Loop
from loopbook.steps.base import Step


class Hoist(Step):
    """What an innermost loop reads and never changes, loaded once before the loop.

    A compiler does this itself unless the loop writes to the same array: then it asks while the
    program runs whether what is written may be what is read. Here the indices tell. Before
    ``hoist L1``::

        for j: a[i, j] = min(a[i, j], a[i, k] + a[k, j])

    and after it::

        s = a[i, k]
        for j: a[i, j] = min(a[i, j], s + a[k, j])
    """

    name = "hoist"
    textbook = "scalar replacement of an invariant element"
    source = "Callahan, Carr and Kennedy, PLDI 1990"
    example = "hoist L1"
    traits = {"pivots": 1.0}

    loop = Loop()
