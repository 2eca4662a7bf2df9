"""Runs program trees without a compiler: to see within milliseconds whether a transformed program
still computes what it did.

A tree becomes a Python function. Floating-point numbers are integers modulo a prime, so sums and
products in another order are exactly equal, and an order that is wrong shows whatever the data are;
functions of mathematics are arbitrary ones of their arguments. Integers are Python's.

What clang or threads could do otherwise than a serial run is made to happen: iterations of maps run
in shuffled order, those of threads each on the memory as it was before the loop, with nothing in
the scalars and local arrays that they write. Arrays are followed by a zone that nobody may touch;
what nobody has set is None, with which nothing can be computed.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from loopbook.errors import LoopbookError
from loopbook.program import expr, walk
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
from loopbook.program.types import Array, Pointer, Scalar, Type
from loopbook.steps.editor import BYTES

PRIME = (1 << 61) - 1
"""What floating-point numbers are counted modulo."""

ZONE = 64
"""Elements behind each array, and before it: Python counts from the end below zero."""

Memory = Mapping[str, Any]
"""Arguments by name: lists of numbers, and integers."""


class NotInterpretedError(LoopbookError):
    """The program has something that is not interpreted."""


class FaultError(LoopbookError):
    """The program did what no program may do."""


class _Outside:
    """What stands in the zones."""


_OUTSIDE = _Outside()


class Buffer(list[Any]):
    """An array in memory with its zone."""

    def __init__(self, elements: Iterable[Any]) -> None:
        super().__init__(elements)
        self.size = len(self)
        self.extend([_OUTSIDE] * ZONE)

    @property
    def elements(self) -> list[Any]:
        return self[: self.size]

    def check(self) -> None:
        """Raises:
        FaultError: something was written outside of it.
        """
        if any(element is not _OUTSIDE for element in self[self.size :]):
            raise FaultError("something is written outside of an array")


Pointed = tuple[Buffer, int]
"""A pointer: a buffer and where in it."""


class Interpreted:
    """A program that can be run.

    Args:
        shuffled: seed for the order in which maps run; None: as they are written, threads one
            after the other.

    Raises:
        NotInterpretedError: it cannot.
    """

    def __init__(self, program: Program, shuffled: int | None = None) -> None:
        self._program = program
        self._seed = shuffled
        writer = _Writer(program, shuffled is not None)
        self.source = "\n".join(writer.function())
        space: dict[str, Any] = {**_RUNTIME}
        try:
            exec(compile(self.source, f"<{program.name}>", "exec"), space)
        except (SyntaxError, RecursionError, MemoryError) as error:
            raise NotInterpretedError(f"Python: {error}") from None
        self._run = space["run"]

    def __call__(self, memory: Memory) -> dict[str, list[Any]]:
        """What is in the arrays that were handed in after a run.

        Raises:
            FaultError: it does what no program may do, such as reading what nobody has set.
        """
        buffers = _Buffers(random.Random(self._seed))
        given = {
            name: (buffers.made(value), 0) if isinstance(value, list) else value
            for name, value in memory.items()
        }
        arguments = [given[name] for name in self._program.arguments]
        try:
            self._run(buffers, *arguments)
        except (TypeError, IndexError, ZeroDivisionError, UnboundLocalError) as error:
            raise FaultError(f"{type(error).__name__}: {error}") from None
        for buffer in buffers.all:
            buffer.check()
        return {n: value[0].elements for n, value in given.items() if isinstance(value, tuple)}


class _Buffers:
    """The memory of one run."""

    def __init__(self, rng: random.Random) -> None:
        self.all: list[Buffer] = []
        self._rng = rng

    def made(self, elements: Iterable[Any]) -> Buffer:
        buffer = Buffer(elements)
        self.all.append(buffer)
        return buffer

    def empty(self, count: int) -> Pointed:
        return self.made([None] * max(int(count), 0)), 0

    def shuffled(self, values: list[int]) -> list[int]:
        self._rng.shuffle(values)
        return values

    def threads(self, values: list[int]) -> Iterator[int]:
        """The iterations of a loop that threads share, each on the memory as it was before.

        Raises:
            FaultError: two of them write one element.
        """
        before = [buffer[:] for buffer in self.all]
        after: list[dict[int, Any]] = [{} for _ in before]
        for value in self.shuffled(values):
            yield value
            for buffer in self.all[len(before) :]:  # what an iteration allocates is its own
                buffer.check()
            del self.all[len(before) :]
            for old, buffer, changes in zip(before, self.all, after, strict=False):
                if buffer == old:
                    continue
                for place, (was, now) in enumerate(zip(old, buffer, strict=True)):
                    changed = was is not now and was != now
                    if changed and changes.setdefault(place, now) != now:
                        raise FaultError("two threads write one element")
                buffer[:] = old
        for buffer, changes in zip(self.all, after, strict=False):
            for place, now in changes.items():
                buffer[place] = now


class _Writer:
    """Writes the Python function of a program."""

    def __init__(self, program: Program, shuffled: bool) -> None:
        self._program = program
        self._shuffled = shuffled
        self._types = program.containers
        self._number = 0
        self._updates: list[str] = []  # of the loops around that Python does not count itself

    def function(self) -> Iterator[str]:
        """Its lines."""
        yield f"def run(_m, {', '.join(map(_name, self._program.arguments))}):"
        for name, kind in self._types.items():
            if name in self._program.arguments:
                continue
            if isinstance(kind, Array):
                yield f" {_name(name)} = _m.empty({_count(kind)})"
            elif isinstance(kind, Pointer) and kind.storage.size is not None:
                size = _number(kind.storage.size)
                yield f" {_name(name)} = _m.empty({size} // {self._bytes(name)})"
            else:
                yield f" {_name(name)} = {_initial(kind)}"
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
        empty = True
        for child in sequence.children:
            for line in self._node(child, depth):
                empty = False
                yield line
        if empty:
            yield f"{' ' * depth}pass"

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
                yield from self._sequence(node.body, depth + 1)
                self._updates.pop()
            case Branch():
                word = "if"
                for case in node.cases:
                    yield f"{pad}{word} {_number(case.condition)}:"
                    yield from self._sequence(case.body, depth + 1)
                    word = "elif"
            case Assignments():
                for one in node.assignments:
                    yield f"{pad}{_name(one.symbol)} = int({_number(one.expression)})"
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
        pad, variable = " " * depth, _name(loop.variable)
        update = f"{variable} = {_number(loop.update)}"
        begin, condition = f"{variable} = {_number(loop.init)}", _number(loop.condition)
        threads = loop.schedule.name == "CPU_PARALLEL"
        if not self._shuffled or not (threads or loop.kind in ("map", "reduce")):
            yield f"{pad}{begin}"
            yield f"{pad}while {condition}:"
            self._updates.append(f"{update}; ")
            yield from self._sequence(loop.body, depth + 1)
            self._updates.pop()
            yield f"{pad} {update}"
            return
        self._number += 1
        values = f"_v{self._number}"
        yield f"{pad}{values} = []; {begin}"
        yield f"{pad}while {condition}:"
        yield f"{pad} {values}.append({variable}); {update}"
        if not threads:
            yield f"{pad}for {variable} in _m.shuffled({values}):"
            self._updates.append("")
            yield from self._sequence(loop.body, depth + 1)
            self._updates.pop()
            return
        clear = "; ".join(self._cleared(loop)) or "pass"
        yield f"{pad}for {variable} in _m.threads({values}):"
        yield f"{pad} {clear}"
        self._updates.append("")
        yield from self._sequence(loop.body, depth + 1)
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
                yield f"{_name(name)} = None"
            elif isinstance(kind, Array):
                yield f"{_name(name)} = _m.empty({_count(kind)})"

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
            raise NotInterpretedError("a call to a library")
        for place in _ordered(block):
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
                values.append(_constant(source))
                types.append(source.type.element)
            elif isinstance(source, AccessNode):
                values.append(self._element(source.container, memlet))
                types.append(self._dtype(source.container, memlet))
            else:
                raise NotInterpretedError("an operation feeds another one")
        computed = _computed(node, values, types)
        for memlet in block.outputs[place]:
            target = block.nodes[memlet.target]
            if not isinstance(target, AccessNode):
                raise NotInterpretedError("an operation feeds another one")
            own = self._dtype(target.container, memlet)
            result = computed
            if isinstance(node, Tasklet) and node.code == "assign":
                if _is_real(own) and not _is_real(types[0]):
                    result = f"({computed}) % {PRIME}"
                elif own == "bool":
                    result = f"int(({computed}) != 0)"
                elif _is_real(types[0]) and not _is_real(own):
                    raise NotInterpretedError("a real number becomes an integer")
            yield f"_x = {result}"
            if isinstance(node, Tasklet) and node.code == "assign" and "[" in computed:
                yield "if _x is _OUTSIDE: raise _Fault('something outside of an array is read')"
            yield f"{self._element(target.container, memlet)} = _x"

    def _dtype(self, container: str, memlet: Memlet) -> str:
        kind = self._types.get(container)
        own = kind.element if kind is not None else "void"
        return own if own != "void" else memlet.type.element

    def _element(self, container: str, memlet: Memlet) -> str:
        """The element of a container that a memlet speaks of."""
        kind = self._types.get(container)
        if isinstance(kind, Scalar):
            return _name(container)
        return f"{_name(container)}[0][{self._place(container, memlet)}]"

    def _place(self, container: str, memlet: Memlet) -> str:
        kind: Type | None = self._types.get(container)
        if not isinstance(kind, Pointer | Array):
            raise NotInterpretedError(f"{container} is neither number nor array")
        where: Type = memlet.type if isinstance(kind, Pointer) else kind
        factors = _factors(where)
        if len(factors) != len(memlet.subset):
            raise NotInterpretedError(f"an element of {container} has another number of indices")
        terms = [
            f"({_number(index)})*{factor}" if factor != 1 else f"({_number(index)})"
            for index, factor in zip(memlet.subset, factors, strict=True)
        ]
        return " + ".join(
            [*terms, f"{_name(container)}[1]"] if isinstance(kind, Pointer) else terms
        )

    def _reference(self, block: Block) -> Iterator[str]:
        for memlet in block.memlets:
            source, target = block.nodes[memlet.source], block.nodes[memlet.target]
            if not (isinstance(source, AccessNode) and isinstance(target, AccessNode)):
                raise NotInterpretedError("an address is computed")
            if memlet.target_connector != "ref" or len(memlet.subset) != 1:
                raise NotInterpretedError("a pointer is loaded")
            start, index = _name(source.container), _number(memlet.subset[0])
            yield f"{_name(target.container)} = ({start}[0], {start}[1] + {index})"

    def _allocation(self, block: Allocation) -> Iterator[str]:
        if block.call.code != "Malloc":
            return
        for memlet in block.memlets:
            target = block.nodes[memlet.target]
            if isinstance(target, AccessNode):
                kind = self._types[target.container]
                size = _number(Expr(str(block.call.fields.value["size"])))
                each = BYTES.get(kind.element)
                if each is None:
                    raise NotInterpretedError("memory of no known type")
                yield f"{_name(target.container)} = _m.empty(({size}) // {each})"


def _ordered(block: Block) -> list[int]:
    """The places of the nodes, each after what flows into it."""
    waiting = {place: len(block.inputs[place]) for place in range(len(block.nodes))}
    found: list[int] = []
    while waiting:
        place = next((p for p, count in waiting.items() if count == 0), None)
        if place is None:
            raise NotInterpretedError("a block goes in a circle")
        del waiting[place]
        found.append(place)
        for memlet in block.outputs[place]:
            waiting[memlet.target] -= 1
    return found


def _name(name: str) -> str:
    return f"c_{name}"


def _initial(kind: Type) -> str:
    return kind.initializer if kind.initializer.isdigit() else "None"


def _factors(kind: Type) -> list[int]:
    """What each index is multiplied by."""
    if isinstance(kind, Pointer):
        return [1, *_factors(kind.to)[1:]] if isinstance(kind.to, Scalar) else _deep(kind.to)
    if isinstance(kind, Array):
        return _deep(kind)
    if isinstance(kind, Scalar):
        return [1]
    raise NotInterpretedError(f"an array is a {type(kind).__name__}")


def _deep(kind: Type | None) -> list[int]:
    if isinstance(kind, Scalar):
        return []
    if isinstance(kind, Array):
        inner = _deep(kind.of)
        return [_count(kind.of) if isinstance(kind.of, Array) else 1, *inner]
    raise NotInterpretedError("an array of arrays")


def _count(kind: Type) -> int:
    if isinstance(kind, Array):
        return int(kind.count.text) * _count(kind.of)
    return 1


def _is_real(dtype: str) -> bool:
    return dtype in ("float", "double", "half")


def _constant(constant: Constant) -> str:
    text = constant.text.rstrip("fFlLuU") if "inf" not in constant.text.lower() else constant.text
    if not _is_real(constant.type.element):
        return {"true": "1", "false": "0"}.get(constant.text, f"({text})")
    return _real(text)


def _real(text: str) -> str:
    try:
        value = Fraction(text)
    except (ValueError, ZeroDivisionError):
        named = text.lower().lstrip("-+")
        if "inf" in named:
            return f"float('{'-' if text.startswith('-') else ''}inf')"
        raise NotInterpretedError(f"the constant {text}") from None
    return str(value.numerator * pow(value.denominator, -1, PRIME) % PRIME)


_ARITHMETIC = {
    "fp_add": "({0} + {1}) % P",
    "fp_sub": "({0} - {1}) % P",
    "fp_mul": "({0} * {1}) % P",
    "fp_neg": "(-({0})) % P",
    "fp_fma": "({0} * {1} + {2}) % P",
    "fp_div": "_divided({0}, {1})",
    "fp_rem": "_any(3, {0}, {1})",
    "int_add": "{0} + {1}",
    "int_sub": "{0} - {1}",
    "int_mul": "_wrapped({0} * {1})",
    "int_sdiv": "_idiv({0}, {1})",
    "int_udiv": "_idiv({0}, {1})",
    "int_srem": "_irem({0}, {1})",
    "int_urem": "_irem({0}, {1})",
    "int_and": "{0} & {1}",
    "int_or": "{0} | {1}",
    "int_xor": "{0} ^ {1}",
    "int_shl": "{0} << {1}",
    "int_ashr": "{0} >> {1}",
    "int_smin": "min({0}, {1})",
    "int_smax": "max({0}, {1})",
    "int_umin": "min({0}, {1})",
    "int_umax": "max({0}, {1})",
    "int_abs": "abs({0})",
    "assign": "{0}",
}

_SIGNS = {"eq": "==", "ne": "!=", "ge": ">=", "gt": ">", "le": "<=", "lt": "<"}


def _computed(node: Operation, values: list[str], types: list[str]) -> str:
    """What an operation makes of values."""
    if isinstance(node, MathsCall):
        if node.function in ("fmax", "fmin", "max", "min"):
            return f"_{node.function[-3:]}({', '.join(values)})"
        return f"_any({sum(node.function.encode())}, {', '.join(values)})"
    if not isinstance(node, Tasklet):
        raise NotInterpretedError(node.op)
    if node.code in _ARITHMETIC:
        return _ARITHMETIC[node.code].replace("P", str(PRIME)).format(*(f"({v})" for v in values))
    sign = _SIGNS.get(node.code[-2:])
    if sign is None:
        raise NotInterpretedError(node.code)
    return f"int(({values[0]}) {sign} ({values[1]}))"


def _number(expression: Expr) -> str:
    return _spelt(expression.text)


class _Spelling(ast.NodeTransformer):
    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in ("True", "False", "true", "false"):
            return ast.Constant(node.id.lower() == "true")
        return ast.Name(_name(node.id))

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if not isinstance(node.func, ast.Name):
            raise NotInterpretedError(ast.unparse(node))
        name = node.func.id.lower().removeprefix("__daisy_")
        args = [self.visit(arg) for arg in node.args]
        match name:
            case "and" | "or":
                return ast.BoolOp(ast.And() if name == "and" else ast.Or(), args)
            case "not":
                return ast.UnaryOp(ast.Not(), args[0])
            case "min" | "max" | "idiv" | "imod" | "irem" | "abs" | "pow":
                return ast.Call(ast.Name(f"_{name}"), args, [])
        raise NotInterpretedError(f"the function {name}")

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        left, right = self.visit(node.left), self.visit(node.right)
        match node.op:
            case ast.Div() | ast.FloorDiv():
                return ast.Call(ast.Name("_idiv"), [left, right], [])
            case ast.Mod():
                return ast.Call(ast.Name("_irem"), [left, right], [])
        return ast.BinOp(left, node.op, right)


_KNOWN: dict[str, str] = {}


def _spelt(text: str) -> str:
    if text not in _KNOWN:
        tree = _Spelling().visit(ast.parse(ast.unparse(expr.parse(text)), mode="eval").body)
        _KNOWN[text] = ast.unparse(ast.fix_missing_locations(tree))
    return _KNOWN[text]


def _idiv(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _irem(a: int, b: int) -> int:
    return a - b * _idiv(a, b)


def _wrapped(a: int) -> int:
    """As 64 bits hold it: products of products have no end."""
    return (a + (1 << 63)) % (1 << 64) - (1 << 63)


def _divided(a: int, b: int) -> int:
    if b in (float("inf"), float("-inf")):
        return 0
    b %= PRIME
    return a * pow(b, -1, PRIME) % PRIME if b else 0


def _any(number: int, *values: int) -> int:
    """An arbitrary function: values that differ give, almost surely, others."""
    found = number * 1000003 + 12345
    for value in values:
        found = (found * found + value * (number + 7) + 99991) % PRIME
    return found


_RUNTIME: dict[str, Callable[..., Any] | type | _Outside] = {
    "_OUTSIDE": _OUTSIDE,
    "_Fault": FaultError,
    "_idiv": _idiv,
    "_imod": _irem,
    "_irem": _irem,
    "_divided": _divided,
    "_any": _any,
    "_wrapped": _wrapped,
    "_min": min,
    "_max": max,
    "_abs": abs,
    "_pow": pow,
}
