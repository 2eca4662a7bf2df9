"""Updates ``a[i] = a[i] op e`` whose operator is associative and commutative.

Two updates of one element by the same operator may change places: whoever else reads the element
comes before or after both. So a dependence test may leave such pairs out (Pinter and Pinter,
"Program optimization and parallelization using idioms", ACM TOPLAS 16(3), 1994). Sums and products
of floating-point numbers count as associative, as they do for the compiler; their minima and maxima
do not, because what they make of NaN depends on the order.

docc takes an update apart: the element is loaded into a scalar, the scalar into another one, and
that one is stored. Here the scalars are followed, through the blocks of one run of statements.
"""

from __future__ import annotations

import ast
import operator
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias

from loopbook.program import expr
from loopbook.program.accesses import names
from loopbook.program.dataflow import AccessNode, Block, Constant, Memlet, Operation, Tasklet
from loopbook.program.tree import Assignments, Branch, Node
from loopbook.program.types import Type, type_of

FAMILIES = {
    "fp_add": "add",
    "fp_sub": "add",
    "int_add": "add",
    "int_sub": "add",
    "fp_mul": "mul",
    "int_mul": "mul",
    "int_smin": "min",
    "int_smax": "max",
    "min": "min",
    "max": "max",
}
"""Operation to the operator whose updates it makes; a difference adds what is subtracted."""

BINARY: dict[type[ast.operator], str] = {ast.Add: "int_add", ast.Sub: "int_sub"}

BYTES = {"bool": 1, "int8": 1, "int16": 2, "int32": 4, "int64": 8}


@dataclass(eq=False)
class _Value:
    """What a scalar holds, or what is computed on the way to one.

    Attributes:
        op: the operation, "load", "copy" (of a scalar's value) or "other".
        dtype: type of a scalar or of a loaded element; empty for results in between.
        args: what it is computed from, as far as known.
        place, memlet, version: of a load: container and subset, where it stands, and how often the
            container had been written.
        reads: how often it is used.
        number: of a whole number in the program's text.
    """

    op: str
    dtype: str
    args: list[_Value] = field(default_factory=list)
    place: tuple[str, tuple[str, ...]] = ("", ())
    memlet: Memlet | None = None
    version: int = 0
    reads: int = 0
    number: int = 0


@dataclass
class _Found:
    load: _Value
    store: Memlet
    family: str
    path: list[_Value]


Operators: TypeAlias = Mapping[Memlet, str]


class _Types:
    """The types of the containers that some nodes name; the same only as the very same objects."""

    def __init__(self, of: Mapping[str, Type], named: Iterable[str]) -> None:
        self.of = of
        self._own = tuple(of.get(name) for name in named)

    def __hash__(self) -> int:
        return hash(tuple(map(id, self._own)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Types) and all(map(operator.is_, self._own, other._own))


def updates(nodes: Sequence[Node], containers: Mapping[str, Type]) -> Operators:
    """Operators of the updates in a run of nodes without loops.

    Args:
        containers: their types.

    Returns:
        For the memlets that load and store what is updated: "add", "mul", "min" or "max".
    """
    given = tuple(nodes)
    return _updates(given, _Types(containers, named(given)))


@lru_cache(maxsize=512)
def named(nodes: tuple[Node, ...]) -> frozenset[str]:
    """Everything that is named in a run of nodes."""
    return frozenset().union(*map(names, nodes))


@lru_cache(maxsize=512)
def _updates(nodes: tuple[Node, ...], containers: _Types) -> Operators:
    """`updates`, remembered: steps leave most statements as they are."""
    reader = _Reader(containers.of)
    reader.run(nodes)
    result: dict[Memlet, str] = {}
    for found in reader.found:
        if all(value.reads <= 1 for value in found.path) and found.load.memlet is not None:
            result[found.load.memlet] = result[found.store] = found.family
    return result


class _Reader:
    def __init__(self, containers: Mapping[str, Type]) -> None:
        self._containers = containers
        self._values: dict[str, _Value] = {}
        self._versions: Counter[str] = Counter()
        self.found: list[_Found] = []

    def run(self, nodes: Iterable[Node]) -> None:
        for node in nodes:
            match node:
                case Block():
                    self._block(node)
                case Assignments():
                    for assignment in node.assignments:
                        value = self._parsed(expr.parse(assignment.expression.text))
                        self._define(assignment.symbol, value)
                case Branch():
                    self._branches(node)

    def _branches(self, branch: Branch) -> None:
        before, written = dict(self._values), set[str]()
        for case in branch.cases:
            for name in expr.symbols(case.condition.text):
                self._read(name)
        for case in branch.cases:
            self._values = dict(before)
            self.run(case.body.children)
            written |= {n for n, v in self._values.items() if v is not before.get(n)}
        self._values = before | {name: self._unknown(name) for name in written}

    def _block(self, block: Block) -> None:
        for memlet in block.memlets:
            for index in memlet.subset:
                for name in expr.symbols(index.text):
                    self._read(name)
        known: dict[int, _Value] = {}
        targets = [
            (memlet, node.container)
            for memlet in block.memlets
            if isinstance(node := block.nodes[memlet.target], AccessNode)
        ]
        values = [self._along(memlet, block, known) for memlet, _ in targets]
        stores = Counter(name for _, name in targets)
        for (memlet, name), value in zip(targets, values, strict=True):
            if not self._is_array(name):
                self._values[name] = known.get(memlet.target) or self._copy(name, value)
            elif stores[name] == 1:
                self._store(name, memlet, value)
        self._versions.update(stores)

    def _along(self, memlet: Memlet, block: Block, known: dict[int, _Value]) -> _Value:
        """What flows along a memlet.

        Args:
            known: what nodes of the block give, by place; gets what is found out.
        """
        place = memlet.source
        node, into = block.nodes[place], block.inputs[place]
        if not isinstance(node, AccessNode):
            if place not in known:
                args = sorted(into, key=lambda inner: inner.target_connector)
                known[place] = _operation(node, [self._along(one, block, known) for one in args])
            return known[place]
        name = node.container
        if into:
            first, *others = into
            if self._is_array(name) or others:
                return self._unknown(name)
            if place not in known:
                value = self._along(first, block, known)
                known[place] = _Value("copy", self._dtype(name), [value])
            known[place].reads += 1
            return known[place]
        if not self._is_array(name):
            return self._read(name)
        return _Value(
            "load", self._dtype(name), [], _place(name, memlet), memlet, self._versions[name], 1
        )

    def _store(self, name: str, memlet: Memlet, value: _Value) -> None:
        place = _place(name, memlet)
        if any(s in self._values for text in place[1] for s in expr.symbols(text)):
            return
        for family in dict.fromkeys(FAMILIES.values()):
            reached = [
                path
                for path in _paths(value, family)
                if path[-1].place == place and path[-1].version == self._versions[name]
            ]
            if len(reached) == 1 and len(reached[0]) > 1:
                (path,) = reached
                if _exact(family, self._dtype(name), path, value):
                    self.found.append(_Found(path[-1], memlet, family, path))

    def _is_array(self, name: str) -> bool:
        return type_of(name, self._containers).is_array

    def _dtype(self, name: str) -> str:
        return type_of(name, self._containers).element

    def _define(self, name: str, value: _Value) -> None:
        self._values[name] = self._copy(name, value)

    def _copy(self, name: str, value: _Value) -> _Value:
        return _Value("copy", self._dtype(name), [value])

    def _unknown(self, name: str) -> _Value:
        return _Value("other", self._dtype(name) if name in self._containers else "double")

    def _read(self, name: str) -> _Value:
        value = self._values.get(name) or self._unknown(name)
        value.reads += 1
        return value

    def _parsed(self, node: ast.expr) -> _Value:
        match node:
            case ast.Name(id=name):
                return self._read(name)
            case ast.Constant(value=int(number)):
                return _Value("other", "int8", number=number)
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
                return _Value(BINARY[type(op)], "", [self._parsed(left), self._parsed(right)])
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                return _Value("int_mul", "", [self._parsed(left), self._parsed(right)])
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return _Value("int_neg", "", [self._parsed(operand)])
            case ast.Call(func=ast.Name(id=name), args=args):
                return _Value(name.lower(), "", [self._parsed(arg) for arg in args])
            case _:
                for name in expr.symbols(ast.unparse(node)):
                    self._read(name)
                return _Value("other", "double")


def _operation(node: Constant | Operation, args: list[_Value]) -> _Value:
    """What a node of a block computes."""
    if isinstance(node, Tasklet):
        return _Value(node.code, "", args)
    if isinstance(node, Constant) and node.text.lstrip("-").isdigit():
        return _Value("other", "int8", args, number=int(node.text))
    return _Value("other", "double", args)


def _place(name: str, memlet: Memlet) -> tuple[str, tuple[str, ...]]:
    return name, expr.normal_forms(index.text for index in memlet.subset)


def _paths(value: _Value, family: str) -> Iterator[list[_Value]]:
    """Ways from a value down to loads, through nothing but the operator, copies, and masks of what
    is added."""
    if value.op == "load":
        yield [value]
    elif value.op in ("copy", "assign"):
        for path in _paths(value.args[0], family):
            yield [value, *path]
    elif value.op == "int_and" and family == "add":
        for term in value.args:
            for path in _paths(term, family):
                yield [value, *path]
    elif FAMILIES.get(value.op) == family:
        terms = value.args[:1] if value.op.endswith("_sub") else value.args
        for term in terms:
            for path in _paths(term, family):
                yield [value, *path]


def _exact(family: str, dtype: str, path: list[_Value], whole: _Value) -> bool:
    """Whether conversions on the way leave the operator what it is."""
    if not any(value.op in FAMILIES for value in path):
        return False  # a copy of the element to itself
    on_the_way = {value.dtype for value in path if value.dtype}
    if dtype in ("float", "double"):
        return family in ("add", "mul") and on_the_way <= {dtype, "double"}
    if dtype not in ("int32", "int64"):
        return False
    least = BYTES[dtype]
    modulus = 1 << (8 * least)
    if any(value.op == "int_and" and modulus - 1 not in map(_number, value.args) for value in path):
        return False
    if any(BYTES.get(kind, 0) < least for kind in on_the_way):
        return False
    ends = {kind for value in _ends(whole) for kind in [value.dtype] if value not in path}
    if family == "add" or family == "mul":
        return ends <= BYTES.keys()
    return all(BYTES.get(kind, 99) <= least for kind in ends)


def _ends(value: _Value) -> Iterator[_Value]:
    """What a value is computed from in the end, with all scalars on the way."""
    if wrapped := _wrapped(value):
        yield _Value("other", wrapped)
        return
    if value.dtype:
        yield value
    for part in value.args:
        yield from _ends(part)


def _wrapped(value: _Value) -> str:
    """The type of a word that is wrapped around as `loopbook.sdfg.short_words` says; else ""."""
    sign = {"int_add": 1, "int_sub": -1}.get(value.op, 0)
    if not sign or len(value.args) != 2:
        return ""
    word, half = _source(value.args[0]), sign * _number(value.args[1])
    if value.op == "int_add" and not half:
        half, word = _number(value.args[0]), _source(value.args[1])
    if word.op != "int_and" or -2 * half - 1 not in map(_number, word.args):
        return ""
    return {1 << (8 * BYTES[kind] - 1): kind for kind in ("int8", "int16", "int32")}.get(-half, "")


def _number(value: _Value) -> int:
    """A whole number in the program's text; 0 for anything else."""
    return -value.args[0].number if value.op == "int_neg" else value.number


def _source(value: _Value) -> _Value:
    while value.op in ("copy", "assign"):
        (value,) = value.args
    return value
