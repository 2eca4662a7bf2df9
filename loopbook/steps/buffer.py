from __future__ import annotations

from loopbook.steps.arguments import Loop
from loopbook.steps.base import Step


class Buffer(Step):
    """What runs along two loops, in a buffer with a place for each pair of their iterations.

    `stage` holds a container whole, with one box for all accesses to it: not where a product uses
    an array twice (``A A^T``), and what it writes back is the box, which is more than a triangle.
    This holds the accesses that run along just these two loops, and copies what they use. The
    buffer is laid out as the loops run, so a panel of an operand becomes contiguous. Before
    ``buffer L0.tile L2 L1``::

        for ii: for k in kk … kk + 256: for j in jj … jj + 24: … A[j, k] …

    and after it, the copies being ``L0.tile.load`` and ``L0.tile.store``::

        for k, j: a[k - kk, j - jj] = A[j, k]
        for ii: for k in kk … kk + 256: for j in jj … jj + 24: … a[k - kk, j - jj] …
    """

    name = "buffer"
    textbook = "packing"
    source = "Goto and van de Geijn, ACM TOMS 34(3), 2008"
    example = "buffer L0.tile L2 L1"
    makes = ("{scope}.load", "{scope}.store")
    splits = True
    plain = True
    traits = {"hold": 1.5, "buffer": 0.2}

    scope = Loop()
    outer_loop = Loop()
    inner_loop = Loop()
