from __future__ import annotations

from collections.abc import Sequence

from loopbook.dependence import domain, holds, linear
from loopbook.dependence.body import Body, LoopNode, Statement, statements
from loopbook.dependence.model import Linear, minus, shifted
from loopbook.dependence.scalars import live_out, private_scalars, upward_exposed
from loopbook.errors import IllegalStepError
from loopbook.program import expr, tree
from loopbook.program.accesses import written
from loopbook.program.dataflow import Block
from loopbook.program.expr import Expr
from loopbook.program.inside import Around, is_inside, within
from loopbook.program.tree import Program
from loopbook.program.walk import preorder
from loopbook.steps.arguments import Loop
from loopbook.steps.base import Step
from loopbook.steps.editor import Editor
from loopbook.steps.region import Region, only_child, read_in_place, serialise_around
from loopbook.steps.wide import Temporary, Wide


class Expand(Step):
    """Each iteration of some loops gets a temporary of its own.

    A temporary that every iteration uses anew holds the loop's body together: no part of it can be
    distributed, and the product stays one of a vector with a matrix. Before ``expand L0``::

        for q:
            for p: sum[p] = 0
            for p, s: sum[p] += …
            for p: a[q, p] = sum[p]

    and after it::

        for q:
            for p: wide[q, p] = 0
            for p, s: wide[q, p] += …
            for p: a[q, p] = wide[q, p]
        for p: sum[p] = wide[last q, p]         # L0.last
    """

    name = "expand"
    textbook = "scalar expansion, array expansion"
    source = "Feautrier, Array expansion, ICS 1988"
    example = "expand L0 L1"
    makes = ("{outer_loop}.last",)
    frees = True
    traits = {"expand": 3.0}

    outer_loop = Loop()
    inner_loop = Loop(optional=True)

    def apply(self, editor: Editor) -> None:
        """Legal for a temporary that each iteration of the innermost loop sets before it uses it.

        That is a scalar that the body's statements hand on to each other, and that the program
        sets anew wherever else it is used; or else an array that one of the body's loops, the first
        that does so, sets from end to end before anything uses it, and of which nothing more is
        used. In an array the program finds what the last iteration left there.

        Iterations of what is around share the memory, and are not parallel then; nor are those
        inside that had a scalar each, and share its place. The memory is allocated where the
        program begins, so the loops' sizes must be known there.
        """
        region, outermost = read_in_place(editor, self.outer_loop)
        path = [outermost]
        if self.inner_loop:
            path.append(only_child(outermost, editor.id_of(self.inner_loop)))
        if found := _scalars(editor.program, path):
            sizes = _rooms(editor.program, region.around, path)
        else:
            sizes = [_size(editor.program, loop) for loop in path]
            found = _arrays(editor.program, region.around, path)
        if not found:
            raise IllegalStepError("no temporary is set first in each iteration")
        loop, after = outermost.loop, list[tree.Loop]()
        for temporary in found:
            wide = Wide.make(editor, temporary, path, sizes)
            loop = wide.put(loop)
            if temporary.extent:
                after.append(wide.copied_back())
        region = Region.of(editor, editor.id_of(self.outer_loop))  # allocations have moved it
        region.put(outermost, loop, *after)
        serialise_around(editor, [outer.loop for outer in region.around])
        names = {temporary.name for temporary in found if not temporary.extent}
        inside = (n for n in preorder(path[-1].loop.body) if isinstance(n, tree.Loop))
        serialise_around(editor, [inner for inner in inside if written(inner) & names])


def _rooms(program: Program, outer: Sequence[LoopNode], path: Sequence[LoopNode]) -> list[str]:
    """For each loop of a path a size that its variable stays below, and is not less than 0.

    Args:
        outer: the loops around the path.
    """
    around: Around = ()
    for loop in outer:
        around = within(around, loop.loop)
    sizes: list[str] = []
    for loop in path:
        around = within(around, loop.loop)
        highs = [_rounded_up(high) for one in path for high in one.highs]
        highs += [{name: 1} for high in highs for name in high]  # n, where it ends at n - k
        plain = [text for high in highs if (text := _known(program, high))]
        own = Expr(loop.variable)
        room = next((s for s in plain[::-1] if is_inside(own, expr.polynomial(s), around)), "")
        sizes.append(room or _size(program, loop))
    return sizes


def _rounded_up(size: Linear) -> Linear:
    """A size without what is taken from it."""
    return {name: factor for name, factor in size.items() if name or factor > 0 or len(size) == 1}


def _size(program: Program, loop: LoopNode) -> str:
    if loop.lows != [{}] or len(loop.highs) != 1 or loop.step != 1:
        raise IllegalStepError(f"the loop over {loop.variable} does not run from 0 up to a size")
    return _plain(program, loop.highs[0])


def _plain(program: Program, size: Linear) -> str:
    """A size that is known before the program begins: one of its arguments."""
    text = _known(program, size)
    if not text:
        raise IllegalStepError(f"{linear.text(size)} is no plain size")
    return text


def _known(program: Program, size: Linear) -> str:
    """The text of such a size; empty if it is none."""
    text = linear.text(size)
    if text.isdigit() and int(text) > 0:
        return text
    return text if text in program.arguments and text not in written(program) else ""


def _scalars(program: Program, path: Sequence[LoopNode]) -> list[Temporary]:
    """Scalars that the body sets first, and that its statements hand on to each other."""
    shared = {
        touch.container
        for statement, _ in statements(path[-1])
        for touch in statement.touches
        if not touch.subset and touch.write
    }
    shared -= private_scalars(program) | upward_exposed(path[-1].loop.body)
    if shared:
        shared -= live_out(program, path[0].loop)
    return [Temporary(name) for name in sorted(shared)]


def _arrays(
    program: Program, around: Sequence[LoopNode], path: Sequence[LoopNode]
) -> list[Temporary]:
    """Arrays that the first of the body's loops that does so sets from end to end, and that nothing
    before it uses."""
    used: set[str] = set()
    refusal: IllegalStepError | None = None
    for child in path[-1].children:
        try:
            found = [one for one in _set_whole(program, child) if one.name not in used]
            for temporary in found:
                _check_within([*around, *path], temporary.name, temporary.extent)
        except IllegalStepError as error:
            refusal, found = refusal or error, []
        if found:
            return found
        inside = statements(child) if isinstance(child, LoopNode) else [(child, ())]
        used.update(touch.container for statement, _ in inside for touch in statement.touches)
    if refusal is not None:
        raise refusal
    return []


def _set_whole(program: Program, child: Body) -> list[Temporary]:
    """Arrays that a loop sets from end to end, if it does nothing else."""
    if not isinstance(child, LoopNode) or len(child.children) != 1:
        return []
    (setting,) = child.children
    if not isinstance(setting, Statement):
        return []
    if not all(isinstance(node, Block) for node in setting.nodes):
        return []
    found: list[Temporary] = []
    for touch in setting.touches:
        others = [t for t in setting.touches if t.container == touch.container]
        if touch.write and others == [touch] and touch.place == (child.variable,):
            found.append(Temporary(touch.container, _size(program, child)))
    return found


def _check_within(path: Sequence[LoopNode], name: str, extent: str) -> None:
    """Refuse an array of which more is used than is set."""
    around, loop = path[:-1], path[-1]
    for statement, inner in statements(loop):
        variables = {node.variable for node in (*around, *inner)}
        rows = domain([*around, *inner])
        for touch in statement.touches:
            if touch.container != name:
                continue
            if len(touch.subset) != 1:
                raise IllegalStepError(f"{name} is not indexed as one block of memory")
            index = linear.linear(touch.subset[0], variables)
            room = shifted(minus({extent: 1}, index), -1)
            if not (holds(rows, index) and holds(rows, room)):
                raise IllegalStepError(f"{name} may be used beyond what each iteration sets")
