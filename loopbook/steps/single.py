from __future__ import annotations

from loopbook.steps.base import Step
from loopbook.steps.hosts import Drawing


class Single(Step):
    """No threads but those that the recipe asks for, whatever docc would do.

    docc gives threads to every outermost parallel loop that a recipe leaves alone. Inside of serial
    loops that means to start and stop them anew in every iteration, and a short loop is not worth
    it. Before ``single``::

        for t:
            #pragma omp parallel for
            for i: S(t, i)

    and after it::

        for t:
            for i: S(t, i)
    """

    name = "single"
    textbook = "serial schedule"
    source = "docc's own, where there is but one thread"
    example = "single"
    refines = True
    plain = True
    traits = {"single": 0.1}

    def draw(self, drawing: Drawing) -> bool:
        drawing.single = True
        return True
