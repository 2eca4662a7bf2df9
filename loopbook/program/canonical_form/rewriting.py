"""Makes steps alike that do the same work."""

from __future__ import annotations

from collections import Counter

from loopbook.program import expr
from loopbook.program.canonical_form.steps import Place, Step
from loopbook.program.nest import Nest

_CHAINS = ("fp_add", "fp_mul", "int_add", "int_mul")


def without_copies(nest: Nest, steps: list[Step]) -> list[Step]:
    """Steps that fill an array which is only copied afterwards write to where it is copied."""
    fills: dict[int, list[Step]] = {}
    for step in steps:
        for write in step.writes:
            fills.setdefault(write.container, []).append(step)
    reads = Counter(v.container for s in steps for v in s.inputs if isinstance(v, Place))
    gone: set[int] = set()
    for copy in steps:
        source = copy.inputs[0] if copy.op == "assign" and len(copy.inputs) == 1 else None
        if not isinstance(source, Place) or not source.subset or not copy.writes:
            continue
        filling = fills.get(source.container, [])
        if len(filling) != 1 or filling[0] is copy or reads[source.container] != 1:
            continue
        fill = filling[0]
        names = _corresponding(nest, copy.block, fill.block)
        if names is None or _moved(source, *names) not in fill.writes:
            continue
        fill.writes = [_moved(write, *names) for write in copy.writes]
        for write in copy.writes:
            fills[write.container] = [fill if s is copy else s for s in fills[write.container]]
        gone.add(id(copy))
    return [step for step in steps if id(step) not in gone]


def _corresponding(
    nest: Nest, block: int, other: int
) -> tuple[dict[str, str], dict[int, int]] | None:
    """Variables and numbers of the loops around one block to those of the loops around another, if
    these have the same bounds."""
    mine = nest.ancestry(nest.blocks[block].parent)
    theirs = nest.ancestry(nest.blocks[other].parent)
    if len(mine) != len(theirs):
        return None
    names = {a.indvar: b.indvar for a, b in zip(mine, theirs, strict=True)}
    for a, b in zip(mine, theirs, strict=True):
        bounds = expr.substitute(a.init, names), expr.substitute(a.condition, names)
        if bounds != (b.init, b.condition):
            return None
    return names, {a.index: b.index for a, b in zip(mine, theirs, strict=True)}


def _moved(place: Place, names: dict[str, str], loops: dict[int, int]) -> Place:
    subset = expr.normal_forms(expr.substitute(text, names) for text in place.subset)
    return Place(place.container, subset, tuple((loops[at], s) for at, s in place.strides))


def chained(nest: Nest, steps: list[Step]) -> list[Step]:
    """Steps of the same associative operation, each only used by the next, become one."""
    users = Counter(id(v) for step in steps for v in step.inputs if isinstance(v, Step))
    gone: set[int] = set()
    for step in steps:
        inputs: list[Step | Place] = []
        for value in step.inputs:
            if (
                isinstance(value, Step)
                and value.op == step.op in _CHAINS
                and users[id(value)] == 1
                and not value.writes
                and nest.blocks[value.block].parent == nest.blocks[step.block].parent
            ):
                gone.add(id(value))
                step.constants += value.constants
                inputs += value.inputs
            else:
                inputs.append(value)
        step.inputs = inputs
    return [step for step in steps if id(step) not in gone]


def innermost(nest: Nest, steps: list[Step]) -> list[Step]:
    """The steps in the deepest loops; with them, moved there, what makes the values they take."""
    depths = [len(nest.ancestry(block.parent)) for block in nest.blocks]
    deepest = max((depths[step.block] for step in steps), default=0)
    kept: list[Step] = []
    wanted: dict[int, int] = {}
    for step in reversed(steps):
        if depths[step.block] < deepest:
            if id(step) not in wanted:
                continue
            step.block, step.writes = wanted[id(step)], []
        kept.append(step)
        wanted.update({id(v): step.block for v in step.inputs if isinstance(v, Step)})
    return kept[::-1]
