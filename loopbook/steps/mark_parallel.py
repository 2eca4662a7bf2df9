from __future__ import annotations

from dataclasses import replace

from loopbook.dependence import carries_nothing
from loopbook.errors import IllegalStepError
from loopbook.steps.arguments import Loop
from loopbook.steps.base import Step
from loopbook.steps.editor import Editor
from loopbook.steps.region import read_in_place


class MarkParallel(Step):
    """A loop shown to have independent iterations, and marked as parallel.

    docc takes two accesses of one array for dependent unless they are equal, so many parallel loops
    stay serial in its eyes, and `vectorize` and `parallel` are refused. Before ``mark_parallel
    L0``::

        for i: a[2*i] = a[2*i + 1]

    and after it::

        map i: a[2*i] = a[2*i + 1]
    """

    name = "mark_parallel"
    recorded_as = "prove"
    textbook = "marking a loop parallel, DOALL"
    source = "Allen and Kennedy, Optimizing Compilers for Modern Architectures, 2001, chapter 2"
    example = "mark_parallel L1"
    frees = True
    traits = {"mark_parallel": 0.05}

    loop = Loop()

    def apply(self, editor: Editor) -> None:
        """Legal if no iteration depends on another one, but for scalars that each sets anew."""
        whole = editor.loop(self.loop)
        region, body = read_in_place(editor, self.loop, whole=whole, whiles=True)
        if not carries_nothing(body, region.around):
            raise IllegalStepError("its iterations may depend on each other")
        region.put(body, replace(body.loop, kind="map", reductions=None))
