from __future__ import annotations

from loopbook.steps.arguments import Loop
from loopbook.steps.base import Step


class Straighten(Step):
    """Branches that keep the lesser or the greater of two whole numbers become minima and maxima.

    Compilers store under a mask where a branch says so, which some processors are slow at; a
    minimum is one vector instruction, and the store after it an ordinary one. Before
    ``straighten L0``::

        if a < x[i]: x[i] = a

    and after it::

        x[i] = min(a, x[i])
    """

    name = "straighten"
    textbook = "if-conversion"
    source = "Allen, Kennedy, Porterfield and Warren, POPL 1983"
    example = "straighten L0"
    traits = {"pivots": 2.0}

    loop = Loop()
