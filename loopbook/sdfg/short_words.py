"""Words wrapped around like numbers of 8, 16 or 32 bits with a sign, as such numbers.

What NumPy computes with such numbers is computed with words of 64 bits, and wrapped around by what
docc has instructions for (`loopbook.frontend.narrow`)::

    x = a + b + 2**31;  y = x & (2**32 - 1);  c = y - 2**31

clang does not see that this is the sum of 32 bits, and computes with half as many numbers at a
time. It sees it of a number that is stored and loaded again. Like `loopbook.sdfg.shifts` it is
done last of all, since docc's passes would take the copies away::

    short = x - 2**31;  y = short + 2**31               // int32_t short

(Paths of all pairs, 500 nodes, int32: 18.4 to 9.0 ms, AVX-512, 2026-11-27.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from loopbook.program import expr
from loopbook.program.dataflow import AccessNode, Block, Constant, Memlet, Tasklet, container_at
from loopbook.program.tree import Assignments, Program
from loopbook.program.types import Scalar
from loopbook.program.walk import Inner, preorder, spread
from loopbook.sdfg.instructions import TWO, WORD, Instructions

BITS = (8, 16, 32)


def with_short_words(program: Program) -> Program:
    """A finished program with words wrapped around by way of shorter ones; itself if there is
    nothing to be wrapped around."""
    lifted = {name: bits for node in preorder(program) for name, bits in _lifted(node)}
    if not lifted:
        return program
    work = _Work(program, lifted)
    made = spread(program, work.shortened)
    return made.declaring(**work.scalars) if work.scalars else made


def _lifted(node: object) -> Iterator[tuple[str, int]]:
    """Words that are set to something and half of what so many bits can say."""
    if isinstance(node, Assignments):
        for one in node.assignments:
            bits = _of_half(expr.polynomial(one.expression.text).get((), 0))
            if bits:
                yield one.symbol, bits
    elif isinstance(node, Block):
        for place, task in enumerate(node.nodes):
            if isinstance(task, Tasklet) and task.code == "int_add":
                bits = max((_of_half(_number(node, m)) for m in node.inputs[place]), default=0)
                for memlet in node.outputs[place]:
                    if bits and not memlet.subset:
                        yield container_at(node, memlet.target), bits


def _of_half(number: int) -> int:
    return next((bits for bits in BITS if number == 1 << (bits - 1)), 0)


def _number(block: Block, memlet: Memlet) -> int:
    """The constant that a memlet leads on; 0 for anything else."""
    node = block.nodes[memlet.source]
    if not isinstance(node, Constant):
        return 0
    try:
        return int(node.text)
    except ValueError:
        return 0


@dataclass
class _Work:
    """The program, the words with half of so many bits in them, and the scalars that are added."""

    program: Program
    lifted: dict[str, int]
    scalars: dict[str, Scalar] = field(default_factory=dict)

    def shortened(self, node: Inner) -> list[Inner]:
        if not isinstance(node, Block):
            return [node]
        for place, task in enumerate(node.nodes):
            if isinstance(task, Tasklet) and task.code == "int_and":
                one, other = node.inputs[place]
                for word, mask in ((one, other), (other, one)):
                    bits = self._bits(node, word)
                    if bits and _number(node, mask) == (1 << bits) - 1:
                        return self.shortened(self._stored(node, place, word, bits))
        return [node]

    def _bits(self, block: Block, memlet: Memlet) -> int:
        """Of how many bits what a memlet leads on has one half in it; 0 for anything else."""
        node = block.nodes[memlet.source]
        if not isinstance(node, AccessNode) or memlet.subset:
            return 0
        if self.program.containers.get(node.container) != WORD:
            return 0
        return self.lifted.get(node.container, 0)

    def _stored(self, block: Block, place: int, word: Memlet, bits: int) -> Block:
        """The block with a number of so many bits in the place of a word and a mask."""
        half = 1 << (bits - 1)
        graph = Instructions(block, "short_word", self.scalars)
        kept = [memlet for memlet in block.memlets if memlet.target != place]
        whole = graph.computed("int_sub", word, graph.constant(half))
        short = graph.assigned(whole, Scalar(dtype=f"int{bits}"))
        graph.nodes[place] = Tasklet("int_add", TWO, "_out")
        graph.into(place, graph.assigned(short, WORD), graph.constant(half))
        return replace(block, nodes=tuple(graph.nodes), memlets=(*kept, *graph.memlets))
