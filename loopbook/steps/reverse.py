from __future__ import annotations

from dataclasses import replace

from loopbook.dependence import check_order
from loopbook.dependence.body import LoopNode, Statement, statements, write_loop
from loopbook.dependence.linear import text
from loopbook.dependence.model import Linear, minus, plus, shifted
from loopbook.errors import IllegalStepError
from loopbook.steps.arguments import Loop
from loopbook.steps.base import Step
from loopbook.steps.editor import Editor
from loopbook.steps.region import put_for, read_in_place


class Reverse(Step):
    """The iterations of a loop from the last one to the first one.

    Before ``reverse L0``::

        for i in a … b: S(i)

    and after it::

        for i in a … b: S(a + b - 1 - i)

    A sweep back and a loop that may run either way can then be fused, and what is read before it is
    overwritten still is.
    """

    name = "reverse"
    textbook = "loop reversal"
    source = "Wolf and Lam, A loop transformation theory, IEEE TPDS 1991"
    example = "reverse L0"
    only_orders = True
    traits = {"reverse": 0.4}

    loop = Loop()

    def apply(self, editor: Editor) -> None:
        """Legal if no iteration needs what an earlier one leaves, but for sums and products, and
        the loop has one first and one last iteration: a single bound at each end."""
        whole = editor.loop(self.loop)
        region, loop = read_in_place(editor, self.loop, whole=whole, guards=True)
        ends = plus(loop.lows[0], _last(loop))
        mirrored = minus(ends, {loop.variable: 1})
        if whole.kind != "map":  # whose iterations need nothing of one another
            moved = {statement: {loop.variable: mirrored} for statement, _ in statements(loop)}
            check_order([loop], [loop], moved, region.around)
        body = write_loop(loop).body.children
        turned = [put_for(node, {loop.variable: f"({text(mirrored)})"}) for node in body]
        region.put(loop, replace(loop, children=[Statement(turned)]))


def _last(loop: LoopNode) -> Linear:
    """What the variable is in the last iteration.

    Raises:
        IllegalStepError: it takes more than a linear form to say it.
    """
    if len(loop.lows) != 1 or len(loop.highs) != 1:
        raise IllegalStepError("a loop with several bounds has no one last iteration")
    last = shifted(loop.highs[0], -1)
    if loop.step == 1:
        return last
    length = minus(last, loop.lows[0])
    if set(length) - {""}:
        raise IllegalStepError("where a loop with a step ends is not known")
    return shifted(last, -(length.get("", 0) % loop.step))
