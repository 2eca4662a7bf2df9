"""Words that are small numbers, in 32 bits.

What is computed with numbers of 8 and 16 bits is computed with words (`loopbook.sdfg.narrow`), of
which a vector holds half as many as of 32 bits; clang finds out by itself only what is stored at
once, or asked for no more than its last bits. Variables of which the program shows that they cannot
be more are numbers of 32 bits, as nothing that is computed of them on the way can be either::

    int64_t r = x[i]; t = 66 * r + 129 * g + 25 * b       int32_t r, g, b, t

(Edges of 1,500 by 1,500 pixels: 0.73 to 0.30 ms, AVX-512, 2026-11-28.) Done last of all.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator
from dataclasses import replace

from loopbook.errors import SdfgError
from loopbook.program.accesses import own_symbols
from loopbook.program.dataflow import AccessNode, Block, Constant, LibraryNode, Memlet, Tasklet
from loopbook.program.expr import Expr, parse
from loopbook.program.local import narrow_arrays
from loopbook.program.tree import Assignments, Case, Loop, Opaque, Program
from loopbook.program.types import Pointer, Scalar, Type
from loopbook.program.walk import Inner, preorder, rebuilt
from loopbook.sdfg.conditional_sums import without_idle

BITS = 32

LIMIT = 2 ** (BITS - 1) - 1

_KINDS = {
    "bool": 1,
    "int8": 2**7,
    "uint8": 2**8 - 1,
    "int16": 2**15,
    "uint16": 2**16 - 1,
    "int32": 2**31,
}
"""How far from 0 numbers of each type may be; of others it is not known."""

_WORD, _SHORT = Scalar(dtype="int64"), Scalar(dtype="int32")

_EXACT = frozenset(
    ("int_add", "int_sub", "int_mul", "int_and", "int_or", "int_xor", "int_shl", "int_ashr",
     "int_smin", "int_smax", "int_abs")
)  # fmt: skip
"""Instructions that have as many bits as the longer one of their operands."""

_COMPARED = frozenset(("int_eq", "int_ne", "int_sge", "int_sgt", "int_sle", "int_slt"))


def in_short_numbers(program: Program) -> Program:
    """A finished program with such variables; itself if it has none, or no narrow arrays."""
    if not narrow_arrays(program):
        return program
    nodes = list(preorder(program))
    if any(isinstance(node, Opaque) for node in nodes):
        return program
    names = _Sizes(program, nodes).short()
    if not names:
        return program

    def changed(node: Inner) -> Inner:
        return _retyped(node, names) if isinstance(node, Block) else node

    return rebuilt(program, changed).declaring(**dict.fromkeys(names, _SHORT))


class _Sizes:
    """How far from 0 the numbers of a program may be."""

    def __init__(self, program: Program, nodes: list[Inner | Program]) -> None:
        self.types = program.containers
        self.nodes = nodes
        counters = {node.variable for node in nodes if isinstance(node, Loop)}
        self.candidates = {
            name
            for name, kind in program.containers.items()
            if kind == _WORD and name not in program.public and name not in counters
        }
        self.known: dict[str, int] = {}
        self.large = set[str]()

    def short(self) -> frozenset[str]:
        """The variables that 32 bits are enough for, whatever is computed of them."""
        while self._learn():
            pass
        self.known = {name: size for name, size in self.known.items() if size <= LIMIT}
        while True:
            self.large = set()
            self._ask()
            if self.large.isdisjoint(self.known):
                return frozenset(self.known)
            self.known = {n: size for n, size in self.known.items() if n not in self.large}

    def _learn(self) -> bool:
        """Find out about variables all of whose values are known; whether there were any new."""
        found: dict[str, int | None] = {}
        for node in self.nodes:
            for name, size in self._written(node):
                before = found.get(name, 0)
                found[name] = None if size is None or before is None else max(size, before)
        new = {
            name: size
            for name, size in found.items()
            if size is not None and name in self.candidates and name not in self.known
        }
        self.known |= new
        return bool(new)

    def _written(self, node: Inner | Program) -> Iterator[tuple[str, int | None]]:
        if isinstance(node, Assignments):
            for one in node.assignments:
                yield one.symbol, self._of_expression(one.expression)
        elif isinstance(node, Block):
            for place in range(len(node.nodes)):
                for memlet in node.outputs[place]:
                    target = node.nodes[memlet.target]
                    if isinstance(target, AccessNode):
                        yield target.container, self._of_task(node, place)

    def _ask(self) -> None:
        """Look at all that is computed, and note the variables of which something gets large."""
        for node in self.nodes:
            if isinstance(node, Block):
                for place, end in enumerate(node.nodes):
                    if isinstance(end, Tasklet):
                        self._of_task(node, place)
                    elif not isinstance(end, AccessNode | Constant):
                        self.large |= self._names_into(node, place)
                    if isinstance(end, LibraryNode):
                        self.large |= own_symbols(node)
                for memlet in node.memlets:
                    for index in memlet.subset:
                        self._of_expression(index)
            elif isinstance(node, Assignments):
                for one in node.assignments:
                    self._of_expression(one.expression)
            elif isinstance(node, Case):
                self._of_expression(node.condition)
            elif isinstance(node, Loop):
                for one in (node.init, node.condition, node.update):
                    self._of_expression(one)
            else:
                self.large |= own_symbols(node)

    def _of_task(self, node: Block, place: int) -> int | None:
        """How far from 0 the result of an instruction may be; None where that is not known."""
        task = node.nodes[place]
        names = self._names_into(node, place)
        sizes: list[int | None] = [self._of_end(node, one) for one in node.inputs[place]]
        if not isinstance(task, Tasklet):
            return None
        if task.code == "assign":
            return sizes[0] if len(sizes) == 1 else None
        if task.code in _COMPARED:
            return 1
        if task.code == "int_ashr" and not self._masks(node, place):
            sizes = [None]  # as far as 32 bits go, or farther
        if task.code == "int_and" and (masks := self._masks(node, place)):
            return min(masks)
        if None in sizes and task.code in _EXACT:
            self.large |= names if task.code == "int_ashr" else set()
            return None
        size = _result(task.code, sizes)
        if size is None or size > LIMIT:
            self.large |= names
        return size

    def _masks(self, node: Block, place: int) -> list[int]:
        """The constants of an instruction that are not negative."""
        ends = [node.nodes[memlet.source] for memlet in node.inputs[place]]
        return [int(end.text) for end in ends if isinstance(end, Constant) and end.text.isdigit()]

    def _names_into(self, node: Block, place: int) -> set[str]:
        ends = [node.nodes[memlet.source] for memlet in node.inputs[place]]
        return {end.container for end in ends if isinstance(end, AccessNode)}

    def _of_end(self, node: Block, memlet: Memlet) -> int | None:
        end = node.nodes[memlet.source]
        if isinstance(end, Constant):
            try:
                return abs(int(end.text))
            except ValueError:
                return None
        if not isinstance(end, AccessNode):
            return None
        if not memlet.subset:
            return self._of_name(end.container)
        kind = self.types.get(end.container)
        return _of_type(kind.to) if isinstance(kind, Pointer) else None

    def _of_name(self, name: str) -> int | None:
        return self.known[name] if name in self.known else _of_type(self.types.get(name))

    def _of_expression(self, expression: Expr) -> int | None:
        try:
            return self._of_tree(parse(expression.text))
        except SdfgError:
            self.large |= expression.symbols
            return None

    def _of_tree(self, node: ast.expr) -> int | None:
        """The same of an expression, whose parts are looked at as well."""
        match node:
            case ast.Constant(value=int(value)):
                return abs(value)
            case ast.Name(id=name):
                return self._of_name(name)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self._of_tree(operand)
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
                return self._small(node, self._of_tree(left), self._of_tree(right), sum)
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                one, other = self._of_tree(left), self._of_tree(right)
                return self._small(node, one, other, math.prod)
            case ast.Call(func=ast.Name(id="idiv"), args=[left, right]):
                size, by = self._of_tree(left), self._of_tree(right)
                return None if by is None else size
            case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=2)):
                one = self._of_tree(left)
                return self._small(node, one, one, math.prod)
            case ast.Call(func=ast.Name(id=name), args=args) if name.lower().removeprefix(
                "__daisy_"
            ) in ("min", "max", "and", "or"):
                sizes = [self._of_tree(one) for one in args]
                return (
                    None if None in sizes else max((s for s in sizes if s is not None), default=0)
                )
            case ast.Compare(left=left, comparators=others):
                for one in (left, *others):
                    self._of_tree(one)
                return 1
        self.large |= _names(node)
        return None

    def _small(
        self, node: ast.expr, one: int | None, other: int | None, of: Callable[[list[int]], int]
    ) -> int | None:
        """What two parts give, of which it is noted if that is large. Where one is a word, so is
        what they give."""
        if one is None or other is None:
            return None
        size = of([one, other])
        if size > LIMIT:
            self.large |= _names(node)
        return size


def _result(code: str, sizes: list[int | None]) -> int | None:
    """How far from 0 the result of an instruction may be, whose operands may be so far from it."""
    first, *others = [size for size in sizes if size is not None] or [0]
    second = others[0] if others else 0
    match code:
        case "int_add" | "int_sub":
            return first + second
        case "int_mul":
            return first * second
        case "int_and" | "int_or" | "int_xor":
            return 1 << max(first, second).bit_length()
        case "int_ashr" | "int_abs":
            return first
        case "int_shl":
            return first << min(second, 64)
        case "int_smin" | "int_smax":
            return max(first, second)
    return None


def _of_type(kind: Type | None) -> int | None:
    return _KINDS.get(kind.dtype) if isinstance(kind, Scalar) else None


def _names(node: ast.expr) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def _retyped(block: Block, names: frozenset[str]) -> Block:
    """A block with such variables, and the constants beside them, of 32 bits."""

    def is_short(place: int) -> bool:
        end = block.nodes[place]
        return isinstance(end, AccessNode) and end.container in names

    nodes = list(block.nodes)
    beside: dict[tuple[int, int], int] = {}
    for place, end in enumerate(block.nodes):
        if not isinstance(end, Tasklet):
            continue
        sources = [memlet.source for memlet in block.inputs[place]]
        constants = [one for one in sources if _fits(block.nodes[one])]
        if not all(is_short(one) or one in constants for one in sources):
            continue
        for one in constants:  # others may be given the same
            constant = block.nodes[one]
            assert isinstance(constant, Constant)
            text = constant.text
            if end.code == "int_ashr":  # the sign is all that is left then
                text = str(min(int(text), BITS - 1))
            beside[one, place] = len(nodes)
            nodes.append(replace(constant, text=text, type=_SHORT))
    memlets = tuple(
        replace(memlet, source=beside[memlet.source, memlet.target], type=_SHORT)
        if (memlet.source, memlet.target) in beside
        else replace(memlet, type=_SHORT)
        if is_short(memlet.source) or is_short(memlet.target)
        else memlet
        for memlet in block.memlets
    )
    if memlets == block.memlets:
        return block
    return without_idle(replace(block, nodes=tuple(nodes), memlets=memlets))


def _fits(node: object) -> bool:
    """Whether a node is a whole number of 32 bits."""
    if not isinstance(node, Constant) or node.type != _WORD:
        return False
    try:
        return abs(int(node.text)) <= LIMIT
    except ValueError:
        return False
