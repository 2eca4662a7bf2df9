from __future__ import annotations

from loopbook.steps.arguments import Loop
from loopbook.steps.base import Step


class Serial(Step):
    """A reduction as a plain loop in its own order, whose sums can then be held in buffers.

    Before ``serial L2``::

        reduce k with +: s += a[k]

    and after it::

        for k: s += a[k]
    """

    name = "serial"
    textbook = "serialisation of a reduction"
    source = "its program's own order"
    example = "serial L2"
    only_orders = True
    plain = True
    traits = {"serial": 0.1}

    loop = Loop()
