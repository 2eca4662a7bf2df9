from __future__ import annotations

from dataclasses import replace

from loopbook.dependence import Meeting
from loopbook.errors import IllegalStepError
from loopbook.program import tree
from loopbook.program.expr import Expr, smallest, text
from loopbook.program.walk import band, preorder, with_children
from loopbook.steps.arguments import MAX_SIZE, Integer, Loop, Threads
from loopbook.steps.base import Step
from loopbook.steps.editor import Editor
from loopbook.steps.plain import MAX_FACTOR, PlainNest
from loopbook.steps.region import put_for
from loopbook.steps.waves import Tiles, in_turn, in_waves

ROWS = 8
"""Rows that a tile does at a time where a recipe does not say."""


class Wavefront(Step):
    """Time steps that run at the same time, each some rows behind the one before.

    Before ``wavefront L0 16``, a sweep in place such as Gauss-Seidel's::

        for t: for i: for j: S(t, i, j)

    and after it::

        for tt by 16:                           # L0.tile
            for X:                              # L0.space
                for j:
                    for t in tt … tt + 16: S(t, X - factor*(t - tt), j)

    where the factor is such that rows that meet in one X do not touch each other: the loop over t
    inside is parallel, and runs several of the recurrences over j side by side. With a count and
    rows, so many tiles of time run in parallel threads, each so many rows at a time.
    """

    name = "wavefront"
    textbook = "wavefront method"
    source = "Wolfe, Loop skewing: the wavefront method revisited, IJPP 1986"
    example = "wavefront L0 16"
    makes = ("{time_loop}.tile", "{time_loop}.space", "{time_loop}.wave", "{time_loop}.time")
    frees = True
    traits = {"time": 3.0, "wavefront": 1.0}

    time_loop = Loop()
    steps = Integer(2, MAX_SIZE)
    at_a_time = Threads(2, MAX_SIZE, optional=True, label="count")
    rows_each = Integer(1, MAX_SIZE, optional=True, label="rows")

    def apply(self, editor: Editor) -> None:
        """Legal if the loop is the first of three perfectly nested ones, scalars carry values
        within one iteration only, and each step can stay so many rows behind that rows at a time
        touch no common element that one of them writes.

        docc can skew and interchange too, but rounds the bounds of t the wrong way for factors
        above one (seen with 0.8.1).
        """
        nest = PlainNest(editor, self.time_loop)
        nested = band(nest.loop)
        loops = sum(isinstance(node, tree.Loop | tree.While) for node in preorder(nest.loop))
        if len(nested) != 3 or loops != 3:
            raise IllegalStepError(
                f"{self.time_loop} is not the first of three perfectly nested loops"
            )
        time, row, column = nested
        ends = [text(nest.end(loop)) for loop in nested]
        nest.scalars(lambda own: own[-1:] == (column,))
        factor = _factor(nest, row)

        steps = self.steps
        tile = editor.variable(f"{time.variable}_time", time.variable)
        space = editor.variable(f"{time.variable}_space", time.variable)
        here = {row.variable: f"({space} - {factor}*({time.variable} - {tile}))"}
        # Rows before the first and from the end on are left out: i = X - factor*(t - tt).
        late = f"{tile} + idiv(max({space} - {ends[1]} + {factor}, 0), {factor})"
        early = f"1 + {tile} + idiv({space} - ({row.init}), {factor})"
        last = smallest([ends[0], f"{steps} + {tile}", early])
        front = replace(
            with_children(time, [put_for(node, here) for node in column.body.children]),
            init=Expr(late),
            condition=Expr(f"({time.variable} < {last})"),
            kind="map",
            reductions=None,
        )
        inner = with_children(column, [front])
        top = f"{ends[1]} + {factor * (steps - 1)}"
        extent = str(row.init), top
        tiles = Tiles(
            self.time_loop, tile, space, str(time.init), ends[0], *extent, steps, 1, factor
        )
        if self.at_a_time:
            rows = self.rows_each or ROWS
            outer = in_waves(editor, tiles, self.at_a_time, rows, time.variable, [inner])
        else:
            outer = in_turn(editor, tiles, [inner])
        editor.put(self.time_loop, outer)


def _factor(nest: PlainNest, row: tree.Loop) -> int:
    """How many rows each step must stay behind: more than any dependence reaches back from one step
    to the next."""
    factor = 1
    conflicts = nest.conflicts()
    for one, two in conflicts.pairs():
        gap = conflicts.distance(one, two, row.variable, row.variable)
        if gap is Meeting.ANY:
            raise IllegalStepError("a dependence has no constant distance")
        if isinstance(gap, int):
            factor = max(factor, 1 - gap)
    if factor > MAX_FACTOR:
        raise IllegalStepError(f"a dependence reaches more than {MAX_FACTOR} rows back")
    return factor
