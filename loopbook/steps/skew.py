from __future__ import annotations

from loopbook.dependence.body import Statement, read_header
from loopbook.dependence.linear import text
from loopbook.dependence.model import minus, plus, replaced
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
        """Always legal: the order stays what it was. By more than one, bounds would have factors,
        which no other step could read."""
        if abs(self.factor) != 1:
            raise IllegalStepError("only the factors 1 and -1 leave bounds without factors")
        number = editor.id_of(self.inner_loop)
        region = Region.of(editor, number, rooms=True)
        around = editor.id_of(self.outer_loop)
        outer = next((o for o in region.around if o.id == around), None)
        if outer is None:
            raise IllegalStepError("the first loop is not around the second one")
        variables = [loop.variable for loop in region.around]
        inner = read_header(editor.loop(self.inner_loop), variables, rooms=True)
        by = {outer.variable: self.factor}
        inner.lows = [plus(low, by) for low in inner.lows]
        inner.highs = [plus(high, by) for high in inner.highs]
        value = minus({inner.variable: 1}, by)
        inner.rooms = [replaced(room, {inner.variable: value}) for room in inner.rooms]
        counted = {inner.variable: f"({text(value)})"}
        nodes = [put_for(node, counted) for node in inner.loop.body.children]
        inner.children = [Statement(nodes)]
        region.put(inner, inner)
