from __future__ import annotations

from loopbook.steps.arguments import Loop
from loopbook.steps.base import Step


class Join(Step):
    """Two neighbouring loops that do the same on neighbouring ranges become one loop.

    Before ``join L0 L1``::

        for i in a … b: S(i)
        for i in b … c: S(i)

    and after it::

        for i in a … c: S(i)
    """

    name = "join"
    textbook = "inverse of index-set splitting"
    source = "Wolfe, High Performance Compilers for Parallel Computing, 1996, the other way round"
    example = "join L2 L3"
    traits = {"push": 0.5}

    first_loop = Loop()
    second_loop = Loop()
