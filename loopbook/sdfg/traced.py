"""What docc's frontend makes of a function and arguments, with all that a call needs to know."""

from __future__ import annotations

import ast
import inspect
import re
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from docc.compiler.docc_program import DoccOptions
from docc.python.python_program import PythonProgram
from docc.sdfg import Pointer, PrimitiveType, Scalar, StructuredSDFG

from loopbook.errors import SdfgError
from loopbook.program.extent_names import NAME, extent_names, number_of
from loopbook.program.json_text import dumped, loaded
from loopbook.sdfg import notes
from loopbook.sdfg.known_wrong import confirmed
from loopbook.sdfg.source import definition, returned_parameters, returns
from loopbook.toolchain.stderr import quiet_stderr

DTYPES = {
    PrimitiveType.Float: np.dtype(np.float32),
    PrimitiveType.Double: np.dtype(np.float64),
    PrimitiveType.Int8: np.dtype(np.int8),
    PrimitiveType.Int16: np.dtype(np.int16),
    PrimitiveType.Int32: np.dtype(np.int32),
    PrimitiveType.Int64: np.dtype(np.int64),
    PrimitiveType.UInt8: np.dtype(np.uint8),
    PrimitiveType.UInt16: np.dtype(np.uint16),
    PrimitiveType.UInt32: np.dtype(np.uint32),
    PrimitiveType.UInt64: np.dtype(np.uint64),
    PrimitiveType.Bool: np.dtype(np.bool_),
}

OURS = re.compile(rf"{NAME.pattern}|_docc_\w*")
"""Names that docc's frontend gives to containers of its own."""


@dataclass(frozen=True)
class Returned:
    """One value that the function returns.

    Attributes:
        shape: expressions in sizes, scalar arguments and elements of arrays; None for a scalar.
        argument: position of the argument that it is, if it is one.
    """

    dtype: np.dtype
    shape: tuple[str, ...] | None
    argument: int | None = None


@dataclass(frozen=True)
class Traced:
    """A function as docc's frontend understands it for arguments of one kind.

    Attributes:
        sdfg: docc's object, not prepared.
        text: its JSON text, with what the function says (`loopbook.sdfg.notes`).
        name: of the C function.
        parameters: names of the function's own arguments, which come first in C.
        dtypes: of each of them.
        sizes: position of an array among the arguments and of a dimension in it, for each size
            symbol that the C function takes, after the arguments; what it is called.
        returned: what it returns, in order; C takes a pointer for each, last.
        in_tuple: whether the function returns a tuple.
        written: positions of the arguments that it may write. Others it only reads.
    """

    sdfg: StructuredSDFG
    text: str
    name: str
    parameters: tuple[str, ...]
    dtypes: tuple[np.dtype, ...]
    sizes: tuple[tuple[str, int, int], ...]
    returned: tuple[Returned, ...]
    in_tuple: bool
    written: frozenset[int]

    def symbols(self, args: Sequence[Any]) -> dict[str, int]:
        """Values of the size symbols and of the whole numbers among the arguments."""
        found = {name: args[place].shape[axis] for name, place, axis in self.sizes}
        for name, value in zip(self.parameters, args, strict=True):
            if isinstance(value, (int, np.integer)):
                found[name] = int(value)
        return found


def read(func: Callable[..., Any], args: Sequence[Any]) -> Traced:
    """Run docc's frontend on ``func(*args)``; arrays lie in C order.

    Raises:
        SdfgError: if docc cannot parse the function for these arguments.
    """
    parameters = tuple(inspect.signature(func).parameters)
    for name in parameters:
        if OURS.fullmatch(name):
            raise SdfgError(f"an argument cannot be called {name}: docc needs the name itself")
    try:
        tree = definition(func)
        with quiet_stderr():
            return _read(func, args, parameters, tree)
    except SdfgError:
        raise
    except Exception as error:  # docc's frontend raises whatever its visitors meet
        reason = " ".join(str(error).split())[:200]
        name = getattr(func, "__name__", "the function")
        raise SdfgError(f"docc cannot parse {name}: {type(error).__name__}: {reason}") from None


def _read(
    func: Callable[..., Any],
    args: Sequence[Any],
    parameters: tuple[str, ...],
    tree: ast.FunctionDef,
) -> Traced:
    program = PythonProgram(_without_annotations(func), DoccOptions(target="none"))
    names = extent_names(value.shape for value in args if isinstance(value, np.ndarray))
    shapes: dict[int, tuple[int, int]] = {}  # distinct sizes and where they are seen first
    mapping = {}
    for place, value in enumerate(args):
        if isinstance(value, np.ndarray):
            for axis, size in enumerate(value.shape):
                shapes.setdefault(size, (place, axis))
                mapping[place, axis] = number_of(names[size])
    types_ = [program._infer_type(value) for value in args]
    sdfg, outputs, expressions, _ = program._build_sdfg(types_, args, mapping, list(shapes))
    sources = [(names[size], *shapes[size]) for size in shapes if size != 1]
    outputs = sorted(outputs, key=lambda name: int(name.rpartition("_")[2]))
    expected = [*parameters, *(name for name, *_ in sources)]
    if sdfg.arguments != [*expected, *outputs]:
        raise SdfgError(f"docc takes the arguments in an order of its own: {sdfg.arguments}")
    own = returned_parameters(tree)
    own += [None] * (len(outputs) - len(own))
    text = sdfg.to_json()
    said_otherwise = confirmed(func, text, args)
    if said_otherwise is not func:
        return _read(said_otherwise, args, parameters, definition(said_otherwise))
    document = loaded(text)
    notes.note(document, func, args)
    changed = written(document)
    return Traced(
        sdfg=sdfg,
        text=dumped(document),
        name=sdfg.name,
        parameters=parameters,
        dtypes=tuple(_dtype(sdfg, name) for name in parameters),
        sizes=tuple(sources),
        returned=tuple(
            Returned(
                _dtype(sdfg, name),
                tuple(map(str, expressions[name])) if name in expressions else None,
                None if given is None else parameters.index(given),
            )
            for name, given in zip(outputs, own, strict=False)
        ),
        in_tuple=any(isinstance(r.value, ast.Tuple) for r in returns(tree)),
        written=frozenset(n for n, name in enumerate(parameters) if name in changed),
    )


def _without_annotations(func: Callable[..., Any]) -> Callable[..., Any]:
    """docc believes an annotation of what is returned, where it finds out itself without one."""
    if not isinstance(func, types.FunctionType) or "return" not in func.__annotations__:
        return func
    copy = types.FunctionType(
        func.__code__, func.__globals__, func.__name__, func.__defaults__, func.__closure__
    )
    copy.__kwdefaults__ = func.__kwdefaults__
    return copy


def _dtype(sdfg: StructuredSDFG, name: str) -> np.dtype:
    """Of a scalar, or of what a pointer points to."""
    kind = sdfg.type(name)
    if isinstance(kind, Pointer) and kind.has_pointee_type():
        kind = kind.pointee_type
    if not isinstance(kind, Scalar) or kind.primitive_type not in DTYPES:
        raise SdfgError(f"docc gives {name} a type that cannot be handed over")
    return DTYPES[kind.primitive_type]


READING = {"GEMM": {"__A", "__B", "__alpha", "__beta"}, "ml::": {"A", "B", "X"}, "CMath": {"_in"}}
"""Connectors through which library nodes only read, by the beginnings of their codes."""


def written(document: dict[str, Any]) -> set[str]:
    """Containers that a program (an SDFG's JSON) may write; what it only reads is not among them.

    What a pointer that was made from another container writes, is written there. A library node
    writes whatever it gets by a connector that is not known to be read only.
    """
    changed: set[str] = set()
    made_from: dict[str, set[str]] = {}
    for flow in _dataflows(document["root"]):
        nodes = {node["element_id"]: node for node in flow["nodes"]}
        for edge in flow["edges"]:
            source, target = nodes[edge["src"]], nodes[edge["dst"]]
            here, there = source.get("data"), target.get("data")
            if _is_access(source) and _is_access(target):
                made_from.setdefault(there, set()).add(here)
                made_from.setdefault(here, set()).add(there)
            elif _is_access(target):
                changed.add(there)
            elif _is_access(source) and target["type"] != "tasklet":
                code = str(target.get("code", ""))
                read_by = next((c for start, c in READING.items() if code.startswith(start)), ())
                if not any(edge["dst_conn"].startswith(name) for name in read_by):
                    changed.add(here)
    waiting = list(changed)
    while waiting:
        for other in made_from.get(waiting.pop(), set()) - changed:
            changed.add(other)
            waiting.append(other)
    return changed


def _is_access(node: dict[str, Any]) -> bool:
    return node["type"] == "access_node"


def _dataflows(element: Any) -> Iterator[dict[str, Any]]:
    if isinstance(element, dict):
        if "nodes" in element and "edges" in element:
            yield element
            return
        for value in element.values():
            yield from _dataflows(value)
    elif isinstance(element, list):
        for value in element:
            yield from _dataflows(value)
