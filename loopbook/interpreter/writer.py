"""Program trees as Python functions: within milliseconds they say what a compiled program should.

What floating-point numbers are is an arithmetic's matter (`loopbook.interpreter.arithmetic`).

What clang or threads could do otherwise than a serial run can be made to happen: iterations of maps
run in shuffled order, those of threads each on the memory as it was before the loop, with nothing
in the scalars and local arrays that they write. An access outside of an array is a fault. With
scalars that nobody has set nothing can be computed; of local arrays' elements, nothing right.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any

from loopbook.errors import SdfgError
from loopbook.interpreter.arithmetic import Arithmetic
from loopbook.interpreter.faults import SAID, FaultError, NotInterpretedError
from loopbook.interpreter.modular import Modular
from loopbook.interpreter.runtime import RUNTIME, Buffers
from loopbook.interpreter.spelling import named, number, spelt
from loopbook.program import walk
from loopbook.program.accesses import written
from loopbook.program.dataflow import (
    AccessNode,
    Allocation,
    Block,
    Constant,
    LibraryCall,
    MathsCall,
    Memlet,
    Operation,
    Reference,
    Tasklet,
    in_order,
)
from loopbook.program.expr import Expr
from loopbook.program.tree import (
    Assignments,
    Branch,
    Jump,
    Loop,
    Node,
    Program,
    Sequence,
    While,
)
from loopbook.program.types import BYTES, Array, Pointer, Scalar, Tensor, Type, count, factors

Memory = Mapping[str, Any]
"""Arguments by name: lists of numbers, and integers."""

BUDGET = 5_000_000
"""Operations that a run may take, unless somebody says otherwise: some seconds."""

MOST_ELEMENTS = 50_000_000
"""Of local arrays, and of the memory that threads copy."""

_SIZES = ("m", "n", "k", "lda", "ldb", "ldc", "trans_a", "trans_b")
"""What a call of `gemm` says of its matrices."""


class Interpreted:
    """A program that can be run.

    Args:
        shuffled: seed for the order in which maps run; None: as they are written, threads one
            after the other.
        arithmetic: what floating-point numbers are; exact ones if nothing is said.

    Raises:
        NotInterpretedError: it cannot.
    """

    def __init__(
        self,
        program: Program,
        shuffled: int | None = None,
        arithmetic: Arithmetic | None = None,
    ) -> None:
        self._program = program
        self._seed = shuffled
        self._arithmetic = arithmetic or Modular()
        writer = _Writer(program, shuffled is not None, self._arithmetic)
        try:
            self.source = "\n".join(writer.function())
        except SdfgError as error:
            raise NotInterpretedError(str(error)) from None

    @cached_property
    def _run(self) -> Callable[..., None]:
        space: dict[str, Any] = {**RUNTIME, **self._arithmetic.runtime}
        try:
            exec(compile(self.source, f"<{self._program.name}>", "exec"), space)
        except (SyntaxError, RecursionError, MemoryError) as error:
            raise NotInterpretedError(f"Python: {error}") from None
        return space["run"]

    def __call__(self, memory: Memory, budget: int = BUDGET) -> dict[str, list[Any]]:
        """What is in the arrays that were handed in after a run.

        Args:
            budget: operations that it may take.

        Raises:
            NotInterpretedError: it is too large a program for Python.
            TooLongError: it takes more than its budget.
            FaultError: it does what no program may do, such as reading what nobody has set.
        """
        buffers = Buffers(random.Random(self._seed), MOST_ELEMENTS)
        given = {
            name: (buffers.made(value), 0) if isinstance(value, list) else value
            for name, value in memory.items()
        }
        arguments = [given[name] for name in self._program.arguments]
        try:
            self._run(buffers, budget, *arguments)
        except tuple(SAID) as error:
            raise FaultError(SAID.get(type(error), f"{type(error).__name__}: {error}")) from None
        return {n: value[0] for n, value in given.items() if isinstance(value, tuple)}


class _Writer:
    """Writes the Python function of a program."""

    def __init__(self, program: Program, shuffled: bool, arithmetic: Arithmetic) -> None:
        self._program = program
        self._shuffled = shuffled
        self._arithmetic = arithmetic
        self._types = program.containers
        self._number = 0
        self._updates: list[str] = []  # of the loops around that Python does not count itself

    def function(self) -> Iterator[str]:
        """Its lines."""
        yield f"def run(_m, _b, {', '.join(map(named, self._program.arguments))}):"
        for name, kind in self._types.items():
            if name in self._program.arguments:
                continue
            if isinstance(kind, Array):
                yield f" {named(name)} = _m.empty({count(kind)})"
            elif isinstance(kind, Pointer) and kind.storage.size is not None:
                size = number(kind.storage.size)
                yield f" {named(name)} = _m.empty({size} // {self._bytes(name)})"
            else:
                yield f" {named(name)} = {_initial(kind)}"
        yield from self._sequence(self._program.body, 1)

    def _bytes(self, name: str) -> int:
        """How many bytes an element of memory has that is declared without a type."""
        for node in walk.preorder(self._program):
            for memlet in node.memlets if isinstance(node, Block) else ():
                ends = (node.nodes[memlet.source], node.nodes[memlet.target])
                used = any(isinstance(end, AccessNode) and end.container == name for end in ends)
                if used and memlet.type.element in BYTES:
                    return BYTES[memlet.type.element]
        return 1

    def _sequence(self, sequence: Sequence, depth: int) -> Iterator[str]:
        yield f"{' ' * depth}pass"
        for child in sequence.children:
            yield from self._node(child, depth)

    def _round(self, body: Sequence, depth: int) -> Iterator[str]:
        """What a loop does each time: what that costs comes off the budget first."""
        yield f"{' ' * depth}_b -= {1 + _cost(body)}; _b < 0 and _late()"
        yield from self._sequence(body, depth)

    def _node(self, node: Node, depth: int) -> Iterator[str]:
        pad = " " * depth
        match node:
            case Sequence():
                yield from self._sequence(node, depth)
            case Loop():
                yield from self._loop(node, depth)
            case While():
                yield f"{pad}while True:"
                self._updates.append("")
                yield from self._round(node.body, depth + 1)
                self._updates.pop()
            case Branch():
                word = "if"
                for case in node.cases:
                    yield f"{pad}{word} {number(case.condition)}:"
                    yield from self._sequence(case.body, depth + 1)
                    word = "elif"
            case Assignments():
                for one in node.assignments:
                    yield f"{pad}{named(one.symbol)} = _wrapped(_whole({number(one.expression)}))"
            case Jump(kind="break"):
                yield f"{pad}break"
            case Jump(kind="continue"):
                yield f"{pad}{self._updates[-1]}continue"
            case Jump():
                if node.value:
                    raise NotInterpretedError("a value is returned")
                yield f"{pad}return"
            case Block():
                for line in self._block(node):
                    yield pad + line
            case _:
                raise NotInterpretedError(f"{type(node).__name__}")

    def _loop(self, loop: Loop, depth: int) -> Iterator[str]:
        pad, variable = " " * depth, named(loop.variable)
        update = f"{variable} = {number(loop.update)}"
        begin, condition = f"{variable} = {number(loop.init)}", number(loop.condition)
        threads = loop.schedule.name == "CPU_PARALLEL"
        if not self._shuffled or not (threads or loop.kind in ("map", "reduce")):
            yield f"{pad}{begin}"
            yield f"{pad}while {condition}:"
            self._updates.append(f"{update}; ")
            yield from self._round(loop.body, depth + 1)
            self._updates.pop()
            yield f"{pad} {update}"
            return
        self._number += 1
        values = f"_v{self._number}"
        yield f"{pad}{values} = []; {begin}"
        yield f"{pad}while {condition}:"
        yield f"{pad} _b -= 1; _b < 0 and _late(); {values}.append({variable}); {update}"
        if not threads:
            yield f"{pad}for {variable} in _m.shuffled({values}):"
            self._updates.append("")
            yield from self._round(loop.body, depth + 1)
            self._updates.pop()
            return
        clear = "; ".join(self._cleared(loop)) or "pass"
        yield f"{pad}for {variable} in _m.threads({values}):"
        yield f"{pad} {clear}"
        self._updates.append("")
        yield from self._round(loop.body, depth + 1)
        self._updates.pop()
        yield f"{pad}{clear}"
        yield f"{pad}{variable} = None"

    def _cleared(self, loop: Loop) -> Iterator[str]:
        """Each thread has its own of these, and they begin with nothing."""
        shared = {reduction.container for reduction in loop.reductions or ()}
        if shared:
            raise NotInterpretedError("threads that share a sum")
        for name in sorted(written(loop) - {loop.variable}):
            kind = self._types.get(name)
            if name in self._program.arguments and not isinstance(kind, Scalar):
                continue
            if isinstance(kind, Scalar):
                yield f"{named(name)} = None"
            elif isinstance(kind, Array):
                yield f"{named(name)} = _m.empty({count(kind)})"

    # -- dataflow -------------------------------------------------------------------------------

    def _block(self, block: Block) -> Iterator[str]:
        if isinstance(block, Allocation):
            yield from self._allocation(block)
            return
        if isinstance(block, Reference):
            yield from self._reference(block)
            return
        if isinstance(block, LibraryCall) and not all(
            isinstance(node, MathsCall) for node in block.operations()
        ):
            yield from self._call(block)
            return
        for place in in_order(block):
            node = block.nodes[place]
            if isinstance(node, Operation):
                yield from self._operation(block, place, node)

    def _operation(self, block: Block, place: int, node: Operation) -> Iterator[str]:
        inputs = {m.target_connector: m for m in block.inputs[place]}
        names = node.inputs if isinstance(node, Tasklet) else sorted(inputs)
        values: list[str] = []
        types: list[str] = []
        for name in names:
            if name not in inputs:
                raise NotInterpretedError(f"an operation has no input {name}")
            memlet = inputs[name]
            source = block.nodes[memlet.source]
            if isinstance(source, Constant):
                values.append(self._arithmetic.constant(source))
                types.append(source.type.element)
            elif isinstance(source, AccessNode):
                values.append(self._element(source.container, memlet))
                types.append(self._dtype(source.container, memlet))
            else:
                raise NotInterpretedError("an operation feeds another one")
        value = self._arithmetic.computed(node, values)
        for memlet in block.outputs[place]:
            target = block.nodes[memlet.target]
            if not isinstance(target, AccessNode):
                raise NotInterpretedError("an operation feeds another one")
            own = self._dtype(target.container, memlet)
            made = self._arithmetic.stored(node, value, types, own)
            yield f"{self._element(target.container, memlet)} = {made}"

    def _call(self, block: LibraryCall) -> Iterator[str]:
        """A product of matrices."""
        if block.call.code != "GEMM":
            raise NotInterpretedError(f"a call of {block.call.code}")
        given: dict[str, str] = {}
        for memlet in block.memlets:
            end = block.nodes[memlet.source]
            if isinstance(end, Constant):
                given[memlet.target_connector] = self._arithmetic.constant(end)
            elif isinstance(end, AccessNode):
                given[memlet.target_connector] = named(end.container)
        words = {n: spelt(str(v)) for n, v in block.call.fields.value.items() if n in _SIZES}
        matrices = ", ".join(
            f"({given[f'__{name.upper()}']}, {words[f'ld{name}']}, {words[f'trans_{name}']} != 111)"
            for name in "ab"
        )
        result = f"({given['__C']}, {words['ldc']})"
        factors = f"{given['__alpha']}, {given['__beta']}"
        sizes = ", ".join(words[name] for name in "mnk")
        yield f"_b -= {' * '.join(f'({words[name]})' for name in 'mnk')}; _b < 0 and _late()"
        yield f"_gemm(({sizes}), {matrices}, {result}, {factors})"

    def _dtype(self, container: str, memlet: Memlet) -> str:
        kind = self._types.get(container)
        own = kind.element if kind is not None else "void"
        return own if own != "void" else memlet.type.element

    def _element(self, container: str, memlet: Memlet) -> str:
        """The element of a container that a memlet speaks of."""
        kind = self._types.get(container)
        if isinstance(kind, Scalar):
            return named(container)
        place = self._place(container, memlet)
        return f"{named(container)}[0][_k if (_k := {place}) >= 0 else _OUTSIDE]"

    def _place(self, container: str, memlet: Memlet) -> str:
        kind: Type | None = self._types.get(container)
        if not isinstance(kind, Pointer | Array):
            raise NotInterpretedError(f"{container} is neither number nor array")
        where: Type = memlet.type if isinstance(kind, Pointer) else kind
        if isinstance(where, Tensor):
            return self._in_grid(container, where, memlet)
        steps = factors(where)
        if steps is None or len(steps) != len(memlet.subset):
            raise NotInterpretedError(f"an element of {container} has another number of indices")
        terms = [
            f"({number(index)})*{factor}" if factor != 1 else f"({number(index)})"
            for index, factor in zip(memlet.subset, steps, strict=True)
        ]
        return " + ".join(
            [*terms, f"{named(container)}[1]"] if isinstance(kind, Pointer) else terms
        )

    def _in_grid(self, container: str, grid: Tensor, memlet: Memlet) -> str:
        if len(grid.strides) != len(memlet.subset):
            raise NotInterpretedError(f"an element of {container} has another number of indices")
        terms = [
            f"({number(index)})*({number(stride)})"
            for index, stride in zip(memlet.subset, grid.strides, strict=True)
        ]
        return " + ".join([f"({number(grid.offset)})", *terms, f"{named(container)}[1]"])

    def _reference(self, block: Block) -> Iterator[str]:
        for memlet in block.memlets:
            source, target = block.nodes[memlet.source], block.nodes[memlet.target]
            if not (isinstance(source, AccessNode) and isinstance(target, AccessNode)):
                raise NotInterpretedError("an address is computed")
            if memlet.target_connector != "ref" or len(memlet.subset) != 1:
                raise NotInterpretedError("a pointer is loaded")
            start, index = named(source.container), number(memlet.subset[0])
            yield f"{named(target.container)} = ({start}[0], {start}[1] + {index})"

    def _allocation(self, block: Allocation) -> Iterator[str]:
        if block.call.code != "Malloc":
            return
        for memlet in block.memlets:
            target = block.nodes[memlet.target]
            if isinstance(target, AccessNode):
                kind = self._types[target.container]
                size = number(Expr(str(block.call.fields.value["size"])))
                each = BYTES.get(kind.element)
                if each is None:
                    raise NotInterpretedError("memory of no known type")
                yield f"{named(target.container)} = _m.empty(({size}) // {each})"


def _initial(kind: Type) -> str:
    return kind.initializer if kind.initializer.isdigit() else "None"


def _cost(node: Node) -> int:
    """Operations that are done once where a node is: those in loops are counted there."""
    match node:
        case Block():
            return sum(1 for _ in node.operations())
        case Loop() | While():
            return 1
    return sum(map(_cost, walk.children(node)))  # pyright: ignore[reportArgumentType]
