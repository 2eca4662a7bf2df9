"""Follows a nest's values through its scalars, in program order."""

from __future__ import annotations

from loopbook.program import expr
from loopbook.program.canonical_form.steps import Place, Step
from loopbook.program.nest import Access, Nest, Operation, Stride


class Reader:
    """Turns the operations of `nest` into steps."""

    def __init__(self, nest: Nest) -> None:
        self._nest = nest
        self._reads: list[list[Access]] = [[] for _ in nest.operations]
        self._writes: list[list[Access]] = [[] for _ in nest.operations]
        for access in nest.accesses:
            (self._writes if access.write else self._reads)[access.operation].append(access)
        self._loops = [frozenset(o.index for o in nest.ancestry(b.parent)) for b in nest.blocks]
        self._scalars = {c.index for c in nest.containers if not c.is_array and c.written}
        self._fixed = {c.index for c in nest.containers if not c.is_array and not c.written}
        kept, sums = self._classified()
        self._homes = {s: home for s, block in sums.items() if (home := self._home(s, block))}
        self._passing = self._scalars - kept - sums.keys()

    def steps(self) -> list[Step]:
        """What the nest does, in program order. Scalars that values only pass through are gone."""
        done: list[Step] = []
        held: dict[int, Step | Place] = {}
        for operation in self._nest.operations:
            inputs = [
                held.get(read.container) or self._place(read)
                for read in self._reads[operation.index]
            ]
            writes = self._writes[operation.index]
            stored = [self._place(w) for w in writes if w.container not in self._passing]
            constants = max(0, operation.inputs - len(inputs))
            value = None if constants else self._handed_on(operation, inputs)
            if isinstance(value, Step) and self._beside(value.block, operation.block):
                value.writes += stored
            elif value is None or stored:
                value = Step(
                    operation.op, operation.dtype, operation.block, constants, inputs, stored
                )
                done.append(value)
            held.update({w.container: value for w in writes if w.container in self._passing})
        return done

    def _handed_on(self, operation: Operation, inputs: list[Step | Place]) -> Step | Place | None:
        """The value that an operation copies, or scales by one that never changes."""
        varying = [v for v in inputs if isinstance(v, Step) or v.container not in self._fixed]
        if len(varying) != 1:
            return None
        scales = operation.op == "fp_mul" and len(inputs) > 1
        return varying[0] if scales or operation.op == "assign" else None

    def _beside(self, block: int, other: int) -> bool:
        a, b = self._nest.blocks[block], self._nest.blocks[other]
        return (a.parent, a.guards) == (b.parent, b.guards)

    def _place(self, access: Access) -> Place:
        access = self._homes.get(access.container, access)
        loops = self._nest.ancestry(self._nest.blocks[access.block].parent)
        moving = zip(loops, access.strides, strict=True)
        strides = tuple((loop.index, s) for loop, s in moving if s != Stride.ZERO)
        return Place(access.container, expr.normal_forms(access.subset), strides)

    # -- scalars --------------------------------------------------------------------------------

    def _classified(self) -> tuple[set[int], dict[int, int]]:
        """Scalars that have to stay, and those that hold sums with the block that adds.

        A sum is read and then written in one block. Other scalars stay if a read of theirs may see
        more than one write, or if only expressions use them, such as a branch's condition.
        """
        kept: set[int] = set()
        sums: dict[int, int] = {}
        written: dict[int, int] = {}
        scalars = [a for a in self._nest.accesses if a.container in self._scalars]
        last = {a.container: a.block for a in scalars if a.write}
        in_block = {(a.container, a.block): a.operation for a in scalars if a.write}
        for operation in self._nest.operations:
            block = operation.block
            for access in self._reads[operation.index]:
                scalar = access.container
                if scalar not in self._scalars:
                    continue
                source = written.get(scalar)
                if source != block and in_block.get((scalar, block), -1) >= operation.index:
                    sums[scalar] = block
                elif source is None or not self._reaches(source, block, last[scalar]):
                    kept.add(scalar)
            written.update({w.container: block for w in self._writes[operation.index]})
        unread = self._scalars - {a.container for a in scalars if not a.write}
        return kept | unread, sums

    def _reaches(self, source: int, block: int, last: int) -> bool:
        """Whether what is written in block `source` is what a later block reads, always: it is not
        written in a branch that the reader is not in, nor later, for the next iteration."""
        guards = self._nest.blocks[source].guards
        if self._nest.blocks[block].guards[: len(guards)] != guards:
            return False
        return last <= block or self._loops[block] & self._loops[last] <= self._loops[source]

    def _home(self, scalar: int, block: int) -> Access | None:
        """Where a sum is stored once its loop is done: the first array write that it reaches."""
        reached = {scalar}
        for operation in self._nest.operations:
            if not self._loops[operation.block] < self._loops[block] or operation.block < block:
                continue
            if reached.isdisjoint(read.container for read in self._reads[operation.index]):
                continue
            for write in self._writes[operation.index]:
                if write.container not in self._scalars:
                    return write
                reached.add(write.container)
        return None
