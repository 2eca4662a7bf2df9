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
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from loopbook.program import expr
from loopbook.sdfg.document import Types, opcode

Json = dict[str, Any]

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
        args: what it is computed from, as far as known.
        dtype: type of a scalar or of a loaded element; empty for results in between.
        place, edge, version: of a load: container and subset, the memlet's id, and how often the
            container had been written.
        reads: how often it is used.
    """

    op: str
    args: list[_Value] = field(default_factory=list)
    dtype: str = ""
    place: tuple[str, tuple[str, ...]] = ("", ())
    edge: int = -1
    version: int = 0
    reads: int = 0


@dataclass
class _Found:
    load: _Value
    store: int
    family: str
    path: list[_Value]


def updates(elements: Iterable[Json], types: Types) -> dict[int, str]:
    """Operators of the updates in a run of elements without loops.

    Returns:
        For the memlets that load and store what is updated, by element id: "add", "mul", "min" or
        "max".
    """
    reader = _Reader(types)
    reader.run(elements)
    result: dict[int, str] = {}
    for found in reader.found:
        if all(value.reads <= 1 for value in found.path):
            result[found.load.edge] = result[found.store] = found.family
    return result


class _Reader:
    def __init__(self, types: Types) -> None:
        self._types = types
        self._values: dict[str, _Value] = {}
        self._versions: Counter[str] = Counter()
        self.found: list[_Found] = []

    def run(self, elements: Iterable[Json]) -> None:
        for element in elements:
            kind = element.get("type")
            if kind == "block":
                self._block(element["dataflow"])
            elif kind == "assignment_block":
                for assignment in element["assignments"]:
                    value = self._parsed(expr.parse(str(assignment["expression"])))
                    self._define(assignment["symbol"], value)
            else:
                self._branches(element)

    def _branches(self, element: Json) -> None:
        before, written = dict(self._values), set[str]()
        for branch in element["branches"]:
            for name in expr.symbols(branch["condition"]):
                self._read(name)
        for branch in element["branches"]:
            self._values = dict(before)
            self.run(branch["root"]["children"])
            written |= {n for n, v in self._values.items() if v is not before.get(n)}
        self._values = before | {name: self._unknown(name) for name in written}

    def _block(self, flow: Json) -> None:
        nodes = {node["element_id"]: node for node in flow["nodes"]}
        into: dict[int, list[Json]] = {number: [] for number in nodes}
        for edge in flow["edges"]:
            into[edge["dst"]].append(edge)
            for name in expr.symbols(" ".join(edge.get("subset", ()))):
                self._read(name)
        known: dict[int, _Value] = {}

        def end(edge: Json) -> _Value:
            """What flows along an edge."""
            node = nodes[edge["src"]]
            number = node["element_id"]
            if node["type"] != "access_node":
                if number not in known:
                    op = opcode(node) if node["type"] == "tasklet" else "other"
                    args = sorted(into[number], key=lambda e: str(e["dst_conn"]))
                    dtype = "double" if node["type"] != "tasklet" else ""
                    if node["type"] == "constant_node":
                        dtype = "int8" if str(node["data"]).lstrip("-").isdigit() else "double"
                    known[number] = _Value(op, [end(e) for e in args], dtype)
                return known[number]
            name = str(node["data"])
            if into[number]:
                if self._types.is_array(name) or len(into[number]) > 1:
                    return self._unknown(name)
                if number not in known:
                    known[number] = _Value("copy", [end(into[number][0])], self._types.dtype(name))
                known[number].reads += 1
                return known[number]
            if not self._types.is_array(name):
                return self._read(name)
            place = name, tuple(map(expr.normal_form, edge.get("subset", ())))
            dtype, number = self._types.dtype(name), int(edge["element_id"])
            return _Value("load", [], dtype, place, number, self._versions[name], 1)

        targets = [e for e in flow["edges"] if nodes[e["dst"]]["type"] == "access_node"]
        values = [end(edge) for edge in targets]
        stores = Counter(str(nodes[edge["dst"]]["data"]) for edge in targets)
        for edge, value in zip(targets, values, strict=True):
            name = str(nodes[edge["dst"]]["data"])
            if not self._types.is_array(name):
                self._values[name] = known.get(edge["dst"]) or self._copy(name, value)
            elif stores[name] == 1:
                self._store(name, edge, value)
        self._versions.update(stores)

    def _store(self, name: str, edge: Json, value: _Value) -> None:
        place = name, tuple(map(expr.normal_form, edge.get("subset", ())))
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
                if _exact(family, self._types.dtype(name), path, value):
                    self.found.append(_Found(path[-1], int(edge["element_id"]), family, path))

    def _define(self, name: str, value: _Value) -> None:
        self._values[name] = self._copy(name, value)

    def _copy(self, name: str, value: _Value) -> _Value:
        return _Value("copy", [value], self._types.dtype(name))

    def _unknown(self, name: str) -> _Value:
        return _Value("other", [], self._types.dtype(name) if name in self._types else "double")

    def _read(self, name: str) -> _Value:
        value = self._values.get(name) or self._unknown(name)
        value.reads += 1
        return value

    def _parsed(self, node: ast.expr) -> _Value:
        match node:
            case ast.Name(id=name):
                return self._read(name)
            case ast.Constant(value=int()):
                return _Value("other", [], "int8")
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
                return _Value(BINARY[type(op)], [self._parsed(left), self._parsed(right)])
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                return _Value("int_mul", [self._parsed(left), self._parsed(right)])
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return _Value("int_neg", [self._parsed(operand)])
            case ast.Call(func=ast.Name(id=name), args=args):
                return _Value(name.lower(), [self._parsed(arg) for arg in args])
            case _:
                for name in expr.symbols(ast.unparse(node)):
                    self._read(name)
                return _Value("other", [], "double")


def _paths(value: _Value, family: str) -> Iterator[list[_Value]]:
    """Ways from a value down to loads, through nothing but the operator and copies."""
    if value.op == "load":
        yield [value]
    elif value.op in ("copy", "assign"):
        for path in _paths(value.args[0], family):
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
    if any(BYTES.get(kind, 0) < least for kind in on_the_way):
        return False
    ends = {kind for value in _ends(whole) for kind in [value.dtype] if value not in path}
    if family == "add" or family == "mul":
        return ends <= BYTES.keys()
    return all(BYTES.get(kind, 99) <= least for kind in ends)


def _ends(value: _Value) -> Iterator[_Value]:
    """What a value is computed from in the end, with all scalars on the way."""
    if value.dtype:
        yield value
    for part in value.args:
        yield from _ends(part)
