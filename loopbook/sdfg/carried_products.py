"""What a recurrence multiplies is added to in the same instruction.

In ``s = a * s + b * x[i]`` one of the products can be joined with the sum. clang takes the one that
does not wait for the iteration before, and each iteration waits for a product and then for a sum;
with the other one it waits once. Compiled, and like `loopbook.sdfg.shifts` last of all::

    q = b * x[i];  s = fma(a, s, q)

(A million elements of such a filter: 1.67 to 0.95 ms, AVX-512, 2026-11-28.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from loopbook.program import tree
from loopbook.program.accesses import accesses, written
from loopbook.program.cancels import cancels
from loopbook.program.dataflow import (
    Block,
    MathsCall,
    Memlet,
    Operation,
    Tasklet,
    container_at,
    in_order,
)
from loopbook.program.rounds import rounds
from loopbook.program.tree import Program
from loopbook.program.types import type_of
from loopbook.program.walk import Inner, spread, with_children

SUFFIX = {"double": "", "float": "f"}
"""Types of numbers, and what C adds to a function's name for them."""


def with_carried_products(program: Program) -> Program:
    """A finished program with recurrences in fewer instructions; itself if there are none."""

    if rounds(program) or cancels(program):  # each product is rounded by itself
        return program

    def joined(node: Inner) -> list[Inner]:
        if not isinstance(node, tree.Loop) or not _is_straight(node):
            return [node]
        body = list(_Body(program, node).joined())
        return [node if body == list(node.body.children) else _with_body(node, body)]

    return spread(program, joined)


def _with_body(loop: tree.Loop, body: Sequence[Inner]) -> tree.Loop:
    return replace(loop, body=with_children(loop.body, body))


def _is_straight(loop: tree.Loop) -> bool:
    """Whether a loop does one thing after the other."""
    return loop.kind == "for" and all(isinstance(node, Block) for node in loop.body.children)


@dataclass
class _Product:
    """A product that stands in a scalar until it is added.

    Attributes:
        waits: 1 if one of its factors is what the iteration before has left, more if it is computed
            of that, 0 if it has nothing to do with it.
        factors: the memlets that lead to it.
    """

    block: Block
    waits: int
    factors: tuple[Memlet, Memlet]


class _Body:
    """The body of a loop, block by block."""

    def __init__(self, program: Program, loop: tree.Loop) -> None:
        self._program, self._loop = program, loop
        self._stored = written(loop.body)
        self._reads = Counter(a.container for a in accesses(loop.body) if not a.write)
        self._writes = Counter(a.container for a in accesses(loop.body) if a.write)
        self._products: dict[str, _Product] = {}
        self._now: dict[str, int] = {}
        """What this iteration has stored, and how long it waits (see `_waits`)."""

    def joined(self) -> Iterator[Inner]:
        """The blocks, some of which add what they or others had multiplied."""
        for node in self._loop.body.children:
            assert isinstance(node, Block)
            made = node
            for place in in_order(node):
                if isinstance(node.nodes[place], Operation):
                    made = self._added(made, place) or made
                    self._note(node, place)
            yield made

    def _note(self, block: Block, place: int) -> None:
        """What an operation leaves to those behind it."""
        task, into = block.nodes[place], block.inputs[place]
        waits = [self._waits(container_at(block, memlet.source)) for memlet in into]
        for memlet in block.outputs[place]:
            name = container_at(block, memlet.target)
            for product in [n for n, p in self._products.items() if self._mentions(p, name)]:
                del self._products[product]
            self._now[name] = max(waits, default=0)
            if isinstance(task, Tasklet) and task.code == "fp_mul" and not memlet.subset:
                self._products[name] = _Product(block, max(waits), (into[0], into[1]))

    def _waits(self, name: str) -> int:
        """How many operations of this iteration there are, at most, between a number and what the
        iteration before has left; 0 for what comes from elsewhere."""
        if name in self._now:
            found = self._now[name]
            return found + 1 if found else 0
        return 1 if name in self._stored else 0

    def _mentions(self, product: _Product, name: str) -> bool:
        places = (memlet.source for memlet in product.factors)
        return any(container_at(product.block, place) == name for place in places)

    def _added(self, block: Block, place: int) -> Block | None:
        """The block that adds a product from the iteration before to another one in one
        instruction; None where an operation does nothing of the kind."""
        task = block.nodes[place]
        if not isinstance(task, Tasklet) or task.code != "fp_add":
            return None
        one, other = block.inputs[place]
        for memlet, rest in ((one, other), (other, one)):
            product = self._product(block, memlet)
            beside = self._product(block, rest)
            if product is None or beside is None or (product.waits, beside.waits) != (1, 0):
                continue
            if self._reads[container_at(block, memlet.source)] == 1:
                return self._fused(block, place, memlet, rest, product)
        return None

    def _product(self, block: Block, memlet: Memlet) -> _Product | None:
        name = container_at(block, memlet.source)
        if memlet.subset or self._writes[name] != 1:
            return None
        return self._products.get(name)

    def _fused(
        self, block: Block, place: int, memlet: Memlet, rest: Memlet, product: _Product
    ) -> Block | None:
        """``fma(factor, factor, rest)`` in the place of a sum; None if types differ."""
        names = [container_at(product.block, one.source) for one in product.factors]
        names += [container_at(block, m.source) for m in (memlet, rest)]
        names += [container_at(block, m.target) for m in block.outputs[place]]
        kinds = {type_of(name, self._program.containers).element for name in names if name}
        if len(kinds) != 1 or not kinds <= SUFFIX.keys() or not all(names):
            return None
        (kind,) = kinds
        nodes, memlets = list(block.nodes), []
        nodes[place] = MathsCall("fma", f"fma{SUFFIX[kind]}", kind)
        for number, factor in enumerate(product.factors, start=1):
            source = factor.source
            if product.block.nodes[source] not in block.nodes:
                nodes.append(product.block.nodes[source])
                source = len(nodes) - 1
            connector = f"_in{number}"
            memlets.append(replace(factor, source=source, target=place, target_connector=connector))
        memlets.append(replace(rest, target_connector="_in3"))
        kept = [m for m in block.memlets if m not in (memlet, rest)]
        return replace(block, nodes=tuple(nodes), memlets=(*kept, *memlets))
