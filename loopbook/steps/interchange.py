from __future__ import annotations

from dataclasses import replace

from loopbook.dependence import carries_nothing, check_order, written_first
from loopbook.dependence.body import LoopNode, statements
from loopbook.dependence.model import Linear, minus, plus, shifted
from loopbook.errors import DependenceError, IllegalStepError
from loopbook.steps.arguments import Loop
from loopbook.steps.base import Step
from loopbook.steps.editor import Editor
from loopbook.steps.region import Region, only_child, read_in_place, serialise


class Interchange(Step):
    """Two loops in the other order, also where the inner one's bounds depend on the outer one.

    Before ``interchange L0 L1``::

        for i in 0 … n:
            for j in i … n: S(i, j)

    and after it::

        for j in 0 … n:
            for i in 0 … j + 1: S(i, j)
    """

    name = "interchange"
    textbook = "loop interchange"
    source = "Wolf and Lam, A loop transformation theory, IEEE TPDS 1991"
    example = "interchange L0 L1"
    only_orders = True
    traits = {"order": 0.4}

    outer_loop = Loop()
    inner_loop = Loop()

    def apply(self, editor: Editor) -> None:
        """Legal if the inner loop is all that the outer one holds, its bounds can be turned round,
        and dependences allow the order. The inner loop may hold anything."""
        whole = editor.loop(self.inner_loop)
        region, outer = read_in_place(editor, self.outer_loop, whole=whole, guards=True, rooms=True)
        inner = only_child(outer, editor.id_of(self.inner_loop))
        lifted, sunk = turned(outer, inner)
        if outer.loop.kind != "map":  # whose iterations need nothing of one another
            _check(region, outer, inner, lifted)
        region.tighten(lifted)
        if outer.loop.kind == "for":
            serialise(sunk)
        if not _stays_parallel(outer, inner) and not (
            inner.loop.kind == "map" and carries_nothing(lifted, region.around)
        ):
            serialise(lifted)
        region.put(outer, lifted)


def _check(region: Region, outer: LoopNode, inner: LoopNode, lifted: LoopNode) -> None:
    """Refuse an order that turns dependences round, but for those of arrays of which each iteration
    uses only what it has written itself.

    Raises:
        DependenceError: it does.
    """
    try:
        check_order([outer], [lifted], {}, region.around)
    except DependenceError:
        around = [*region.around, outer, inner]
        anew = {name for name in _stored(inner) if written_first(inner.children, around, name)}
        if not anew:
            raise
        check_order([outer], [lifted], {}, region.around, anew)


def _stored(loop: LoopNode) -> set[str]:
    """The arrays with which each iteration of a loop begins by writing to them."""
    first: dict[str, bool] = {}
    for statement, _ in statements(loop):
        for touch in statement.touches:
            if touch.subset:
                first.setdefault(touch.container, touch.write)
    return {container for container, write in first.items() if write}


def _stays_parallel(outer: LoopNode, inner: LoopNode) -> bool:
    """Whether what the inner loop's kind says of its iterations within one iteration of the outer
    one holds for all of them, too."""
    if inner.loop.kind == "for":
        return False
    same = outer.loop.reductions == inner.loop.reductions
    return outer.loop.kind == "map" or (outer.loop.kind == inner.loop.kind == "reduce" and same)


def turned(outer: LoopNode, inner: LoopNode) -> tuple[LoopNode, LoopNode]:
    """The two loops with bounds for the other order: the new outer one, holding the new inner one.

    Raises:
        IllegalStepError: a bound has the outer variable with a factor, or steps are in the way.
    """
    if any(outer.variable in room for room in inner.rooms):
        raise IllegalStepError("a bound has a variable with a factor")
    depending = any(outer.variable in bound for bound in (*inner.lows, *inner.highs))
    if depending and outer.rooms:
        raise IllegalStepError("a bound has a variable with a factor")
    if depending and (outer.step != 1 or inner.step != 1):
        raise IllegalStepError("bounds that depend on a loop with a step cannot be turned round")
    lows: list[Linear] = []
    highs: list[Linear] = []
    inner_lows, inner_highs = list(outer.lows), list(outer.highs)
    value = {inner.variable: 1}
    for bound, is_low in [(b, True) for b in inner.lows] + [(b, False) for b in inner.highs]:
        factor = bound.get(outer.variable, 0)
        into = lows if is_low else highs
        if factor == 0:
            into.append(bound)
            continue
        if abs(factor) != 1:
            raise IllegalStepError("a bound has the outer variable with a factor")
        rest = {name: f for name, f in bound.items() if name != outer.variable}
        # The outer variable's own range gives the bound for all of its values …
        ends = outer.lows if is_low == (factor == 1) else [shifted(h, -1) for h in outer.highs]
        into += [plus(rest, end, factor) for end in ends]
        # … and the bound, solved for it, says which of them remain.
        solved = minus(value, rest)
        if factor == -1:
            (inner_lows if is_low else inner_highs).append({n: -f for n, f in solved.items()})
        else:
            (inner_highs if is_low else inner_lows).append(shifted(solved, 1))
    sunk = replace(outer, lows=inner_lows, highs=inner_highs, children=inner.children)
    return replace(inner, lows=lows, highs=highs, children=[sunk]), sunk
