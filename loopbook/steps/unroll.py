from __future__ import annotations

from dataclasses import replace

from loopbook.errors import IllegalStepError
from loopbook.program.expr import plus
from loopbook.steps.arguments import Loop
from loopbook.steps.base import Step
from loopbook.steps.editor import Editor
from loopbook.steps.region import known_bounds

WRITTEN_OUT = "unroll", "full"
"""What docc's schedules say of such a loop."""


class Unroll(Step):
    """All iterations of a loop of constant length, or of its copies, written out.

    Before ``unroll L0``::

        for i in ii … ii + 4: S(i)

    and after it::

        S(ii); S(ii + 1); S(ii + 2); S(ii + 3)
    """

    name = "unroll"
    textbook = "loop unrolling; outside of other loops, unroll-and-jam"
    source = "Carr and Kennedy, ACM TOPLAS 16(6), 1994"
    example = "unroll L0*"
    refines = True
    only_orders = True
    rows = True
    traits = {"unroll": 1.0}

    loop = Loop()

    def apply(self, editor: Editor) -> None:
        """Always legal; only loops that always run equally often can be written out."""
        loop = editor.loop(self.loop)
        bounds = known_bounds(loop)
        if (
            bounds.step is None
            or len(bounds.lows) != 1
            or len(bounds.highs) != 1
            or (plus(bounds.highs[0], bounds.lows[0], -1).keys() - {()})
        ):
            raise IllegalStepError(f"{self.loop} does not always run equally often")
        if WRITTEN_OUT in loop.schedule.properties:
            return
        properties = (*loop.schedule.properties, WRITTEN_OUT)
        schedule = replace(loop.schedule, properties=properties)
        editor.put(self.loop, replace(loop, schedule=schedule))
