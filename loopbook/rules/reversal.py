"""Loops that run down through memory turned forwards, or what may run either way turned back.

What is read and written from the end of an array to its beginning costs a shuffle for each vector,
which a loop that may as well run forwards spares: in cache, half of the time and more. And next to
a sweep back, as of a back substitution, such a loop can be turned the other way and fused with it,
so that it finds in the first cache what the sweep has just made, which gains less, and not always.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from loopbook.errors import SdfgError
from loopbook.program import expr
from loopbook.program.expr import Expr
from loopbook.program.nest import Loop, Nest
from loopbook.rules.base import Steps, TuningContext, step
from loopbook.rules.sampled import on_nests, seeds


@on_nests(0.5)
def turn(nest: Nest, random: Random, context: TuningContext) -> Steps:
    """Turn what runs down forwards, or fuse neighbours that run towards each other; none where all
    loops run up."""
    forms = fitted_turns(nest, context)
    return random.choice(forms) if forms else []


@seeds(8)
def fitted_turns(nest: Nest, context: TuningContext) -> list[Steps]:
    """Both forms, as far as they fit."""
    down = {loop.index for loop in nest.loops if _runs_down(nest, loop)}
    forwards = [step("reverse", loop.name) for loop in nest.loops if loop.index in down]
    fused = [made for run in _runs(nest) for made in _together(run, down)]
    return [steps for steps in (forwards, fused) if steps]


def _together(run: list[Loop], down: set[int]) -> Steps:
    """Neighbours that do not all run one way, fused so that they do: the way of a loop that runs in
    order."""
    ways = [loop.index in down for loop in run if loop.kind == "for"]
    back = any(ways)
    turned = [loop for loop in run if (loop.index in down) != back]
    if not turned:
        return []
    first, *others = (loop.name for loop in run)
    steps = [step("reverse", loop.name) for loop in turned]
    return steps + [step("fuse", first, other) for other in others]


def _runs(nest: Nest) -> Iterator[list[Loop]]:
    """Neighbours over the same range, two or more."""
    after = {one: two for one, two in nest.order if one[0] == two[0] == "loop"}
    behind = set(after.values())
    for loop in nest.loops:
        if (place := ("loop", loop.index)) in behind:
            continue
        run = [loop]
        while place in after:
            place = after[place]
            other = nest.loops[place[1]]
            if _range(other) != _range(loop):
                break
            run.append(other)
        if len(run) > 1:
            yield run


def _range(loop: Loop) -> tuple[str, str]:
    return loop.init, Expr(loop.condition).renamed({loop.indvar: "_"}).text


def _runs_down(nest: Nest, loop: Loop) -> bool:
    """Whether all that is written in a loop and moves with it goes down."""
    factors = [
        factor
        for access in nest.accesses
        if access.write and loop in nest.ancestry(nest.blocks[access.block].parent)
        for index in access.subset
        for factor in _factors(index, loop.indvar)
    ]
    return bool(factors) and max(factors) < 0


def _factors(index: str, variable: str) -> list[int]:
    """Those with which a variable stands in an index; none if it cannot be read."""
    try:
        return [factor for term, factor in expr.polynomial(index).items() if variable in term]
    except SdfgError:
        return []
