from __future__ import annotations

from loopbook.steps.arguments import Loop
from loopbook.steps.base import Step


class Prove(Step):
    """A loop shown to have independent iterations, and marked as parallel.

    docc takes two accesses of one array for dependent unless they are equal, so many parallel loops
    stay serial in its eyes, and `vectorize` and `parallel` are refused. Before ``prove L0``::

        for i: a[2*i] = a[2*i + 1]

    and after it::

        map i: a[2*i] = a[2*i + 1]
    """

    name = "prove"
    textbook = "marking a loop parallel, DOALL"
    source = "Allen and Kennedy, Optimizing Compilers for Modern Architectures, 2001, chapter 2"
    example = "prove L1"
    frees = True
    proves = True
    traits = {"prove": 0.05}

    loop = Loop()
