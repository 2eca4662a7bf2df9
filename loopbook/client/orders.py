"""Orders of loops that go along memory, for nests that no book has a recipe for.

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

from collections.abc import Callable

from loopbook.client.decision import Choice
from loopbook.client.fit import Fit, Refusal
from loopbook.client.thresholds import COLUMNS, FEWER_LINES, SHORTEST_INNERMOST
from loopbook.program.nest import Loop, Nest
from loopbook.recipes.recipe import Recipe
from loopbook.rules import reorder
from loopbook.rules.bands import Band, bands
from loopbook.rules.base import Steps, step


def along_memory(nest: Nest, fit: Callable[[Nest, Recipe], Fit | Refusal]) -> tuple[Choice, ...]:
    """Interchanges for the bands of loops that add up along the wrong axis: one choice, or none.

    Bands that have the right order already may lose it where docc fuses nests. Being chosen, even
    for no step at all, keeps the program from that.
    """
    orders = [steps for band in bands(nest) if (steps := _order(band)) is not None]
    orders += [steps for loop in nest.loops if (steps := _column(nest, loop)) is not None]
    while orders:
        steps = [step for order in orders for step in order]
        found = fit(nest, Recipe(tuple(steps)))
        if isinstance(found, Fit) and not found.dropped:
            return (Choice("order", None, 0.0, found.recipe, 0, 1.0),)
        if isinstance(found, Fit) or found.position is None:
            break
        orders = [order for order in orders if steps[found.position] not in order]
    return ()


def _order(band: Band) -> Steps | None:
    """Interchanges that make the loop along memory the innermost one of a band that sums up; None
    if no loop that sums up is much worse there."""
    cost = {loop.name: band.innermost_cost(loop) for loop in band.loops}
    long = [
        loop.name for loop in band.loops if loop.trip is None or loop.trip >= SHORTEST_INNERMOST
    ]
    if not long:
        return None
    best = min(reversed(long), key=lambda name: cost[name])
    sums = [cost[loop.name] for loop in band.loops if not band.moves_output(loop)]
    if not cost[best] or max(sums, default=0.0) < FEWER_LINES * cost[best]:
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
