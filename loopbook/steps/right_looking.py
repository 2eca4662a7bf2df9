from __future__ import annotations

from dataclasses import replace

from loopbook.dependence import check_order
from loopbook.dependence.body import Statement, statements, write_loop
from loopbook.dependence.model import minus, plus
from loopbook.errors import IllegalStepError
from loopbook.steps.arguments import Loop
from loopbook.steps.base import Step
from loopbook.steps.editor import Editor
from loopbook.steps.region import child_loop, put_for, read_in_place, serialise


class RightLooking(Step):
    """From left-looking to right-looking: results are pushed on as soon as they are final.

    A triangular solve, or the first half of a row in an LU factorisation, gathers what all earlier
    columns give to column j, which walks memory down a column. Pushed, each column is taken off all
    later ones as soon as it is final, along a row. Before ``right_looking L0 L1``::

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

    name = "right_looking"
    recorded_as = "push"
    textbook = "right-looking form"
    source = "Golub and Van Loan, Matrix Computations, section 3.2"
    example = "right_looking L1 L2"
    traits = {"right_looking": 3.0}

    outer_loop = Loop()
    inner_loop = Loop()

    def apply(self, editor: Editor) -> None:
        """Legal if the inner loop runs from the outer one's start up to its variable, and
        dependences allow the order."""
        region, outer = read_in_place(editor, self.outer_loop, whole=editor.loop(self.inner_loop))
        inner = child_loop(outer, editor.id_of(self.inner_loop))
        pivot, gathered = outer.variable, inner.variable
        gaps = [minus(high, {pivot: 1}) for high in inner.highs]
        if (
            inner.lows != outer.lows
            or len(gaps) != 1
            or set(gaps[0]) - {""}
            or (outer.step, inner.step) != (1, 1)
        ):
            raise IllegalStepError("the inner loop does not run up to the outer one's variable")
        first = plus({pivot: 1}, {"": 1 - gaps[0].get("", 0)})
        pushed = replace(inner, lows=[first], highs=outer.highs)
        rest = [child for child in outer.children if child is not inner]
        after = replace(outer, children=[*rest, pushed])
        swap = {pivot: {gathered: 1}, gathered: {pivot: 1}}
        moved = {statement: swap for statement, _ in statements(inner)}
        check_order([outer], [after], moved, region.around)
        serialise(after, pushed)
        names = {pivot: gathered, gathered: pivot}
        nodes = [put_for(node, names) for node in write_loop(pushed).body.children]
        pushed = replace(pushed, children=[Statement(nodes)])
        region.put(outer, replace(after, children=[*rest, pushed]))
