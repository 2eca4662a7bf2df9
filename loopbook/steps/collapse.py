from __future__ import annotations

from loopbook.errors import IllegalStepError
from loopbook.program.expr import mentioned, text
from loopbook.program.tree import Loop as TreeLoop
from loopbook.program.tree import Node
from loopbook.program.walk import band
from loopbook.steps.arguments import MAX_COLLAPSE, Integer, Loop
from loopbook.steps.base import Step
from loopbook.steps.editor import Editor, assignments
from loopbook.steps.region import known_bounds


class Collapse(Step):
    """One loop over all iterations of several parallel loops in each other.

    Before ``collapse L0 2``::

        for i in 0 … n:
            for j in 0 … m: S(i, j)

    and after it, ``L0.flat``::

        for k in 0 … n * m: S(k / m, k % m)
    """

    name = "collapse"
    textbook = "loop collapsing, coalescing"
    source = "Polychronopoulos, ICPP 1987"
    example = "collapse L0 2"
    makes = ("{loop}.flat",)
    refines = True
    traits = {"threads": 0.3}

    loop = Loop()
    loops_together = Integer(2, MAX_COLLAPSE, label="count")

    def apply(self, editor: Editor) -> None:
        """Legal for parallel loops from 0 on that are all that the one around them holds, and whose
        ends do not depend on each other."""
        top = editor.loop(self.loop)
        loops = band(top)[: self.loops_together]
        if len(loops) < self.loops_together:
            raise IllegalStepError(f"{self.loop} does not hold so many loops in each other")
        ends = [_end(loop, loops) for loop in loops]
        variable = editor.variable(f"{top.variable}_flat", top.variable)
        values: list[tuple[str, str]] = []
        rest = variable
        for loop, end in zip(loops[:0:-1], ends[:0:-1], strict=True):
            values.append((loop.variable, f"imod({rest}, {end})"))
            rest = f"idiv({rest}, {end})"
        body: tuple[Node, ...] = (
            assignments([*values, (top.variable, rest)]),
            *loops[-1].body.children,
        )
        count = "*".join(f"max(0, {end})" for end in ends)  # two may be below zero
        flat = editor.new_loop(f"{self.loop}.flat", variable, "0", count, body, like=top)
        editor.put(self.loop, flat)


def _end(loop: TreeLoop, loops: list[TreeLoop]) -> str:
    """Where a loop of a band ends."""
    bounds = known_bounds(loop)
    counted = {other.variable for other in loops}
    if (
        loop.kind != "map"
        or bounds.step != 1
        or bounds.lows != ({},)
        or len(bounds.highs) != 1
        or not counted.isdisjoint(mentioned(bounds.highs[0]))
    ):
        raise IllegalStepError(
            f"the loop over {loop.variable} is no parallel loop from 0 to an end"
        )
    return text(bounds.highs[0])
