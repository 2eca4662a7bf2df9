from __future__ import annotations

from loopbook.steps.arguments import Loop
from loopbook.steps.base import Step


class Library(Step):
    """A nest that does nothing but add matrix products to matrices, as calls of BLAS.

    Before ``library L0``, its loops in any order and its matrices stored either way::

        for r: for c: for k: C[r, c] += alpha * A[r, k] * B[k, c]

    and after it::

        gemm(alpha, A, B, 1, C)

    Axes that lie in memory like one are one; outermost loops may be left over, and run through
    products of parts of the arrays.
    """

    name = "library"
    textbook = "replacement of an idiom by a library call"
    source = "Dongarra, Du Croz, Hammarling and Duff, ACM TOMS 16(1), 1990"
    example = "library L0"
    ends = True
    traits = {"library": 4.0}

    loop = Loop()
