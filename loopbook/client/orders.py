"""Orders of loops that go along memory, for nests, or parts of them, that no book has a recipe for.

docc brings parallel loops to the outside, whatever that does to memory: of ``X.T @ r``, written as
loops over the rows of ``X``, it makes loops that read one column after the other. A nest of one
product has records that know better. But statements in a loop over time are one nest together,
and there are as many of those as there are programs. Where that loop goes along memory and those in
it do not, as up and down the columns of a grid, the statements' loops are fused and go outside, but
for so many columns beside each other that a processor need not wait for one of them::

    for k: (for i: for j: S(i, j, k)); (for i: for j: T(i, j, k))

    for i: for jj by 16: for k: for j in jj: S(i, j, k); T(i, j, k)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace

from loopbook.client.decision import Choice
from loopbook.client.fit import Fit, Refusal
from loopbook.client.thresholds import COLUMNS, FEWER_LINES, SHORTEST_INNERMOST, TAKEN_APART
from loopbook.program.nest import Bound, Loop, Nest, Stride
from loopbook.recipes.recipe import Recipe
from loopbook.rules import reorder
from loopbook.rules.bands import Band, bands
from loopbook.rules.base import Steps, step
from loopbook.steps import Step

OUTER = frozenset(("tile", "cut", "distribute", "library"))
"""Steps that leave what is in a loop in its order: they share its iterations out, or what it does,
or hand it to a library."""

Fits = Callable[[Nest, Recipe], Fit | Refusal]


@dataclass(frozen=True)
class _Order:
    """Another order for a part of a nest.

    Attributes:
        loops: whose order it is, and those in them.
        around: the loops around these.
        takes_apart: whether loops hold something else after it.
    """

    loops: frozenset[str]
    around: frozenset[str]
    steps: Steps
    takes_apart: bool


def along_memory(nest: Nest, fit: Fits, near: tuple[Choice, ...]) -> tuple[Choice, ...]:
    """Choices with other orders for the parts of a nest that go along the wrong axis.

    Bands that have the right order already may lose it where docc fuses nests. Being chosen, even
    for no step at all, keeps the program from that.

    Args:
        near: what the book has for the nest. Parts that it does not touch get other orders, too;
            where it does not promise much, or has strips of columns, orders that take loops apart
            are worth more.

    Returns:
        `near` where nothing is to be done.
    """
    orders = _orders(nest)
    wider = tuple(_beside(nest, fit, choice, orders) for choice in near)
    if wider != near:
        return wider
    apart = set[str]().union(*(one.loops for one in orders if one.takes_apart))
    if near and (
        not apart
        or (near[0].predicted_speedup >= TAKEN_APART and not _is_in_strips(near[0].recipe, apart))
    ):
        return near
    return _choices(_fitting(nest, fit, Recipe(()), orders)) or near


def taken_apart(nest: Nest, fit: Fits) -> tuple[Choice, ...]:
    """Choices with other orders for loops that docc could not order, as of columns along which a
    scalar is carried; for nests that were written as loops, of which docc has seen the others."""
    orders = [order for order in _orders(nest) if order.takes_apart and order.steps]
    return _choices(_fitting(nest, fit, Recipe(()), orders))


def _choices(found: Recipe | None) -> tuple[Choice, ...]:
    return () if found is None else (Choice("order", None, 0.0, found, 0, 1.0),)


def _is_in_strips(recipe: Recipe, loops: Collection[str]) -> bool:
    """Whether a recipe only makes strips of some loops: columns a few at a time. Whole rows are up
    to three times as fast where columns are in memory, and no slower in caches (recurrences down
    300 to 2,000 columns as long, AVX-512, 2026-11-27)."""
    return all(one.op == "strip_and_sink" and one.args[0] in loops for one in recipe)


def rest_along_memory(nest: Nest, fit: Fits, choice: Choice) -> Choice:
    """A choice with other orders for the parts of a nest that it does not touch, such as what is
    left beside a call of a library."""
    return _beside(nest, fit, choice, _orders(nest))


def touched(steps: Iterable[Step]) -> set[str]:
    """The loops of a nest that a recipe speaks of."""
    return {str(arg).partition(".")[0] for step in steps for arg in step.args}


def _beside(nest: Nest, fit: Fits, choice: Choice, orders: list[_Order]) -> Choice:
    """A choice, with other orders for the parts of a nest that it does not touch."""
    done = touched(choice.recipe)
    within = touched(step for step in choice.recipe if step.op not in OUTER)
    orders = [
        order
        for order in orders
        if order.steps and order.loops.isdisjoint(done) and order.around.isdisjoint(within)
    ]
    found = _fitting(nest, fit, choice.recipe, orders)
    return choice if found is None else replace(choice, recipe=found)


def _fitting(nest: Nest, fit: Fits, begun: Recipe, orders: list[_Order]) -> Recipe | None:
    """A recipe that goes on with all orders that are legal; None if none is."""
    while orders:
        steps = [step for order in orders for step in order.steps]
        found = fit(nest, Recipe((*begun, *steps)))
        if isinstance(found, Fit):
            return None if found.dropped else found.recipe
        if found.position is None or found.position < len(begun):
            return None
        refused = steps[found.position - len(begun)]
        orders = [order for order in orders if refused not in order.steps]
    return None


def _orders(nest: Nest) -> list[_Order]:
    found = [(band.loops[-1], _order(band), False) for band in bands(nest)]
    for loop in nest.loops:
        found += [(loop, order(nest, loop), True) for order in (_column, _pushed, _summed, _rows)]
    return [
        _order_of(nest, loop, steps, takes_apart)
        for loop, steps, takes_apart in found
        if steps is not None
    ]


def _order_of(nest: Nest, loop: Loop, steps: Steps, takes_apart: bool) -> _Order:
    """Steps for the order of a loop, those in it, and those around it that they speak of."""
    changed = touched(steps)
    around = {one.name for one in nest.ancestry(loop.index)} - {loop.name} - changed
    inside = {one.name for one in nest.loops if loop in nest.ancestry(one.index)}
    return _Order(frozenset(inside | changed), frozenset(around), steps, takes_apart)


def _order(band: Band) -> Steps | None:
    """Interchanges that make the loop along memory the innermost one of a band; None if neither the
    one that is there nor any that sums up is much worse there."""
    cost = {loop.name: band.lines_along(loop) for loop in band.loops}
    long = [
        loop.name for loop in band.loops if loop.trip is None or loop.trip >= SHORTEST_INNERMOST
    ]
    if not long:
        return None
    best = min(reversed(long), key=lambda name: cost[name])
    sums = [cost[loop.name] for loop in band.loops if not band.moves_output(loop)]
    if not cost[best] or max([cost[band.names[-1]], *sums]) < FEWER_LINES * cost[best]:
        return None
    return reorder(band.names, [*(name for name in band.names if name != best), best])


def _column(nest: Nest, loop: Loop) -> Steps | None:
    """What takes a loop that holds several bands inside all their loops but for strips of the
    innermost ones; None if these go along memory as well as it does."""
    inside = [band for band in bands(nest) if band.loops[0].parent == loop.index]
    nodes = [child for parent, child in nest.contains if parent == ("loop", loop.index)]
    depth = len(inside[0].loops) if inside else 0
    if len(inside) < 2 or len(nodes) != len(inside):
        return None
    if any(len(band.loops) != depth or nest.children(band.loops[-1].index) for band in inside):
        return None
    along = sum(band.innermost_cost(loop) for band in inside)
    across = sum(band.innermost_cost(band.loops[-1]) for band in inside)
    if not along or across <= along:
        return None
    first, *others = inside
    fused = [
        step("fuse", own, name)
        for other in others
        for own, name in zip(first.names, other.names, strict=True)
    ]
    *outer, last = first.names
    strips = step("tile", last, COLUMNS)
    return [*fused, strips, *(step("interchange", loop.name, o) for o in (*outer, f"{last}.tile"))]


def _summed(nest: Nest, loop: Loop) -> Steps | None:
    """What turns a loop over columns, along each of which scalars are carried, into ones over rows
    that are taken to all columns' scalars; None if the columns are no worse to go along.

    Before and after::

        for j: s = 0; (for k: s += A[k, j] * x[k]); y[j] = s

        for j: sums[j] = 0
        for k: for j: sums[j] += A[k, j] * x[k]
        for j: y[j] = sums[j]
    """
    nodes = [child for parent, child in nest.contains if parent == ("loop", loop.index)]
    if not nodes or nodes[0][0] != "block" or {kind for kind, _ in nodes} != {"block", "loop"}:
        return None
    inside = {band.loops[0].index: band for band in bands(nest)}
    steps: Steps = []
    for part, (kind, number) in enumerate(nodes):
        if kind == "loop":
            band = inside[number]
            (inner, *others) = band.loops
            if others or nest.children(number):
                return None
            across = any(stride > Stride.UNIT for stride, _ in band.strides(inner))
            worse = FEWER_LINES * max(band.innermost_cost(loop), 1.0)
            if across and band.innermost_cost(inner) >= worse:
                steps.append(step("interchange", f"{loop.name}.part{part}", inner.name))
    return [step("expand", loop.name), step("distribute", loop.name), *steps] if steps else None


def _pushed(nest: Nest, loop: Loop) -> Steps | None:
    """What has columns pushed on to all later ones, where sums down the columns gather what earlier
    ones give to one: only then may the sums of all columns be taken beside each other (`_summed`).

    Before and after, as in Gram-Schmidt's method::

        for j: (for k in 0 … j: s = 0; (for i: s += Q[i, k] * Q[i, j]); …); …

        for j: …; (for k in j + 1 … n: s = 0; (for i: s += Q[i, j] * Q[i, k]); …)

    What the loop does before may be a loop of its own.
    """
    gathering = [
        child
        for child in nest.children(loop.index)
        if child.bound == Bound.ENCLOSING and _summed(nest, child) is not None
    ]
    if len(gathering) != 1:
        return None
    first = nest.children(loop.index)[0] is gathering[0]
    apart = [] if first else [step("distribute", loop.name)]
    name = loop.name if first else f"{loop.name}.part1"
    return [*apart, step("right_looking", name, gathering[0].name)]


def _rows(nest: Nest, loop: Loop) -> Steps | None:
    """What takes apart a loop along the rows of some arrays and down the columns of others, which
    docc fuses: only by themselves are rows vectors. None where both go through one array."""
    if nest.children(loop.index) or loop.kind == "reduce":
        return None
    along, across = set[int](), set[int]()
    for access in nest.accesses:
        inside = nest.blocks[access.block].parent == loop.index
        if (
            inside
            and len(access.strides) > loop.depth
            and nest.containers[access.container].is_array
        ):
            stride = access.strides[loop.depth]
            if stride in (Stride.UNIT, Stride.SYMBOLIC):
                (along if stride == Stride.UNIT else across).add(access.container)
    written = {one.index for one in nest.containers if one.written}
    apart = along & written and across & written and along.isdisjoint(across)
    return [step("distribute", loop.name)] if apart else None
