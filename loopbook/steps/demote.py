from __future__ import annotations

from loopbook.steps.arguments import Loop
from loopbook.steps.base import Step


class Demote(Step):
    """Scalars that stand for an array element go back to it.

    A scalar that is carried from statement to statement holds them together. In its element of
    memory each iteration has a value of its own, and loops can be interchanged, distributed and
    pushed. Before ``demote L1``::

        for j:
            w = A[i, j]
            for k: w -= A[i, k] * A[k, j]
            A[i, j] = w / A[j, j]

    and after it::

        for j:
            for k: A[i, j] -= A[i, k] * A[k, j]
            A[i, j] = A[i, j] / A[j, j]
    """

    name = "demote"
    textbook = "inverse of scalar replacement"
    source = "Callahan, Carr and Kennedy, Improving register allocation, PLDI 1990"
    example = "demote L1"
    traits = {"push": 0.3}

    loop = Loop()
