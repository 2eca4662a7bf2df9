from __future__ import annotations

from loopbook.steps.arguments import Loop
from loopbook.steps.base import Step


class Push(Step):
    """From left-looking to right-looking: results are pushed on as soon as they are final.

    A triangular solve, or the first half of a row in an LU factorisation, gathers what all earlier
    columns give to column j, which walks memory down a column. Pushed, each column is taken off all
    later ones as soon as it is final, along a row. Before ``push L0 L1``::

        for j:
            pre(j)
            for k in low … j: S(j, k)
            post(j)

    and after it::

        for j:
            pre(j)
            post(j)
            for k in j + 1 … high: S(k, j)
    """

    name = "push"
    textbook = "right-looking form"
    source = "Golub and Van Loan, Matrix Computations, section 3.2"
    example = "push L1 L2"
    reorders = True
    traits = {"push": 3.0}

    outer_loop = Loop()
    inner_loop = Loop()
