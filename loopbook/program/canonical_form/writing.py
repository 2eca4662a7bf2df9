"""Makes a nest of steps, with its loops in an order that depends on the steps alone."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from loopbook.program import expr
from loopbook.program.canonical_form.steps import Place, Step, places
from loopbook.program.nest import (
    Access,
    Block,
    Branch,
    Container,
    Loop,
    Nest,
    NodeRef,
    Operation,
    Stride,
)


class Writer:
    """The nest of `steps`, which come from blocks and loops of `nest`."""

    def __init__(self, nest: Nest, steps: list[Step]) -> None:
        self._nest = nest
        self._bodies: dict[tuple[int, tuple[int, ...]], list[Step]] = {}
        for step in steps:
            block = nest.blocks[step.block]
            self._bodies.setdefault((block.parent, block.guards), []).append(step)
        self._steps = [step for body in self._bodies.values() for step in body]
        self._order: list[tuple[int, int]] = []
        """Number in `nest`, and new number of the parent, of each new loop, in preorder."""
        self._bottom: dict[int, int] = {}
        """New number of the innermost of the directly nested loops that a loop is one of."""
        kept = {loop.index for parent, _ in self._bodies for loop in nest.ancestry(parent)}
        self._place_loops(0, -1, kept)

    def nest(self) -> Nest:
        """The steps as a nest."""
        guards = sorted({guard for _, around in self._bodies for guard in around})
        containers = self._containers()
        blocks = [
            Block(index, self._bottom[parent], tuple(guards.index(g) for g in around), 0)
            for index, (parent, around) in enumerate(self._bodies)
        ]
        operations: list[Operation] = []
        accesses: list[Access] = []
        flows: list[tuple[NodeRef, NodeRef]] = []
        numbers = {id(step): number for number, step in enumerate(self._steps)}
        for block, steps in zip(blocks, self._bodies.values(), strict=True):
            chain = self._chain(block.parent)
            for step in steps:
                node: NodeRef = ("operation", len(operations))
                count = len(step.inputs) + step.constants
                operations.append(Operation(node[1], block.index, step.op, step.dtype, count))
                reads = [(value, False) for value in step.inputs]
                for value, write in (*reads, *((stored, True) for stored in step.writes)):
                    if isinstance(value, Step):
                        flows.append((("operation", numbers[id(value)]), node))
                        continue
                    index = len(accesses)
                    held = containers[value.container].index
                    strides = tuple(value.stride(loop) for loop in chain)
                    accesses.append(
                        Access(index, block.index, node[1], held, write, "", value.subset, strides)
                    )
                    place: NodeRef = ("access", index)
                    flows.append((node, place) if write else (place, node))
        loops = self._loops()
        contains, order = _tree(loops, blocks, operations)
        return Nest(
            position=self._nest.position,
            loops=loops,
            containers=tuple(containers.values()),
            branches=tuple(self._branch(new, old) for new, old in enumerate(guards)),
            blocks=tuple(blocks),
            operations=tuple(operations),
            accesses=tuple(accesses),
            contains=contains,
            order=order,
            flows=tuple(flows),
            symbols=self._nest.symbols,
            canonical="",
            loop=self._nest.loop,
        )

    def _branch(self, new: int, old: int) -> Branch:
        branch = self._nest.branches[old]
        return replace(branch, index=new, parent=self._bottom[branch.parent])

    def _containers(self) -> dict[int, Container]:
        """By number in the nest, with new numbers by first access."""
        written = {place.container for step in self._steps for place in step.writes}
        found: dict[int, Container] = {}
        for place in places(self._steps):
            old = self._nest.containers[place.container]
            if old.index not in found:
                found[old.index] = replace(old, index=len(found), written=old.index in written)
        return found

    # -- loops ----------------------------------------------------------------------------------

    def _place_loops(self, top: int, parent: int, kept: set[int]) -> None:
        """Number the loop `top`, those directly nested in it, and what they hold."""
        bodies = {loop for loop, _ in self._bodies}
        band = [top]
        while band[-1] not in bodies and len(inside := self._inside(band[-1], kept)) == 1:
            band += inside
        for loop in self._sorted(band):
            self._order.append((loop, parent))
            parent = len(self._order) - 1
        self._bottom.update(dict.fromkeys(band, parent))
        for loop in self._inside(band[-1], kept):
            self._place_loops(loop, parent, kept)

    def _inside(self, loop: int, kept: set[int]) -> list[int]:
        return [child.index for child in self._nest.children(loop) if child.index in kept]

    def _sorted(self, band: list[int]) -> list[int]:
        """Further in is what moves more accesses to the next element, but not further out than the
        loops that its bounds depend on."""
        waiting = sorted(band, key=self._weight)
        done: list[int] = []
        while waiting:
            names = {self._nest.loops[loop].indvar for loop in waiting}
            free = [loop for loop in waiting if not self._bounds(loop) & names]
            done.append((free or waiting)[0])
            waiting.remove(done[-1])
        return done

    def _bounds(self, index: int) -> set[str]:
        loop = self._nest.loops[index]
        return {*expr.symbols(loop.init), *expr.symbols(loop.condition)} - {loop.indvar}

    def _weight(self, loop: int) -> tuple[int, ...]:
        strides = [place.stride(loop) for place in places(self._steps)]
        ranked = (Stride.UNIT, Stride.CONSTANT)
        away = (Stride.NON_AFFINE, Stride.SYMBOLIC)
        counts = (*map(strides.count, ranked), *(-strides.count(stride) for stride in away))
        return (int(any(counts)), *counts)

    def _chain(self, loop: int) -> list[int]:
        """The nest's numbers of a new loop and those around it, outermost first."""
        chain: list[int] = []
        while loop >= 0:
            old, loop = self._order[loop]
            chain.append(old)
        return chain[::-1]

    def _loops(self) -> tuple[Loop, ...]:
        made: list[Loop] = []
        for index, (old, parent) in enumerate(self._order):
            loop = self._nest.loops[old]
            depth = made[parent].depth + 1 if parent >= 0 else 0
            kind = self._kind(loop)
            made.append(replace(loop, index=index, parent=parent, depth=depth, kind=kind))
        return tuple(made)

    def _kind(self, loop: Loop) -> str:
        """Whether a loop's iterations write elements of their own ("map"), add to the same ones
        ("reduce") or need each other's ("for"), as far as the subsets tell. What docc says depends
        on the scalars that it meets."""
        if loop.kind == "while":
            return loop.kind
        inside = [
            step
            for (parent, _), steps in self._bodies.items()
            if loop in self._nest.ancestry(parent)
            for step in steps
        ]
        touched: dict[int, set[Place]] = {}
        for place in places(inside):
            touched.setdefault(place.container, set()).add(place)
        kind = "map"
        for container in {place.container for step in inside for place in step.writes}:
            if len({place.subset for place in touched[container]}) > 1:
                return "for"
            if all(place.stride(loop.index) == Stride.ZERO for place in touched[container]):
                kind = "reduce"
        return kind


def _tree(
    loops: tuple[Loop, ...], blocks: list[Block], operations: list[Operation]
) -> tuple[tuple[tuple[NodeRef, NodeRef], ...], tuple[tuple[NodeRef, NodeRef], ...]]:
    """`Nest.contains` and `Nest.order`."""
    children: dict[NodeRef, list[NodeRef]] = {}

    def put(parent: NodeRef, child: NodeRef) -> None:
        if child not in children.setdefault(parent, []):
            children[parent].append(child)

    for loop in loops[1:]:
        put(("loop", loop.parent), ("loop", loop.index))
    for block in blocks:
        outer: NodeRef = ("loop", block.parent)
        for guard in block.guards:
            put(outer, ("branch", guard))
            outer = ("branch", guard)
        put(outer, ("block", block.index))
    order = [pair for siblings in children.values() for pair in pairwise(siblings)]
    for operation in operations:
        put(("block", operation.block), ("operation", operation.index))
    contains = [(parent, child) for parent, found in children.items() for child in found]
    return tuple(contains), tuple(order)
