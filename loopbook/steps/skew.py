from __future__ import annotations

from loopbook.dependence.body import Statement, read_header
from loopbook.dependence.model import plus
from loopbook.errors import IllegalStepError
from loopbook.steps.arguments import MAX_SKEW, Integer, Loop
from loopbook.steps.base import Step
from loopbook.steps.editor import Editor
from loopbook.steps.region import Region, put_for


class Skew(Step):
    """A loop counted from where the loop around it is; nothing is reordered.

    Before ``skew L0 L1``::

        for i: for j in a … b: S(i, j)

    and after it::

        for i: for j in a + i … b + i: S(i, j - i)

    An interchange then runs along diagonals, and a triangle ``j < n - i`` stands as ``i <= j < n``.
    """

    name = "skew"
    textbook = "loop skewing"
    source = "Wolfe, IJPP 1986"
    example = "skew L0 L1 1"
    frees = True
    only_orders = True
    traits = {"skew": 0.4}

    outer_loop = Loop()
    inner_loop = Loop()
    factor = Integer(-MAX_SKEW, MAX_SKEW, default=1)

    def apply(self, editor: Editor) -> None:
        """Always legal: the order stays what it was."""
        if self.factor != 1:
            raise IllegalStepError("only the factor 1 is known to be right")
        number = editor.id_of(self.inner_loop)
        region = Region.of(editor, number)
        around = editor.id_of(self.outer_loop)
        outer = next((o for o in region.around if o.id == around), None)
        if outer is None:
            raise IllegalStepError("the first loop is not around the second one")
        inner = read_header(editor.loop(self.inner_loop), [o.variable for o in region.around])
        by = {outer.variable: 1}
        inner.lows = [plus(low, by) for low in inner.lows]
        inner.highs = [plus(high, by) for high in inner.highs]
        counted = {inner.variable: f"({inner.variable} - {outer.variable})"}
        nodes = [put_for(node, counted) for node in inner.loop.body.children]
        inner.children = [Statement(nodes)]
        region.put(inner, inner)
