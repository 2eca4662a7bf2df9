from __future__ import annotations

from loopbook.steps.arguments import Loop
from loopbook.steps.base import Step


class Delay(Step):
    """A loop moves behind what follows it in the same body.

    Distribution keeps the order in which a body's parts stand. Where a part feeds nothing that
    follows it in the same iteration, but what follows feeds it in later ones, it must stand last.
    Before ``delay L1``::

        for i:
            for j: S(i, j)
            T(i)

    and after it::

        for i:
            T(i)
            for j: S(i, j)
    """

    name = "delay"
    textbook = "statement reordering"
    source = "Allen and Kennedy, Optimizing Compilers for Modern Architectures, 2001, chapter 5"
    example = "delay L2"
    reorders = True
    traits = {"expand": 0.3}

    loop = Loop()
