from __future__ import annotations

from loopbook.steps.arguments import Loop
from loopbook.steps.base import Step


class Expand(Step):
    """Each iteration of some loops gets a temporary of its own.

    A temporary that every iteration uses anew holds the loop's body together: no part of it can be
    distributed, and the product stays one of a vector with a matrix. Before ``expand L0``::

        for q:
            for p: sum[p] = 0
            for p, s: sum[p] += …
            for p: a[q, p] = sum[p]

    and after it::

        for q:
            for p: wide[q, p] = 0
            for p, s: wide[q, p] += …
            for p: a[q, p] = wide[q, p]
        for p: sum[p] = wide[last q, p]         # L0.last
    """

    name = "expand"
    textbook = "scalar expansion, array expansion"
    source = "Feautrier, Array expansion, ICS 1988"
    example = "expand L0 L1"
    makes = ("{outer_loop}.last",)
    frees = True
    traits = {"expand": 3.0}

    outer_loop = Loop()
    inner_loop = Loop(optional=True)
