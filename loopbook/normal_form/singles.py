"""Scalars of 32 bits where NumPy has such.

docc takes what begins as a number of Python's for a double::

    s = 0.0                              // double s
    for k: s += A[i, k] * B[k, j]        // floats of 32 bits
    C[i, j] = s

In NumPy a float of 32 bits beside a number of Python's gives one of 32 bits (NEP 50), so that `s`
is one from the first sum on. As a double it costs half of the vectors and a conversion each time,
and no recipe of products fits. (Softmax by rows of 1,000 by 800: 2.6 to 0.4 ms; a product of 400 by
300 by 350 with its sums in a scalar: 2.9 to 0.4, AVX-512, 2026-11-28.)

Which doubles are Python's, what docc reads does not say: only where the function makes no other
doubles, which is noted in the program's metadata, are they all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import IntEnum
from typing import Any

from loopbook.program.accesses import symbols, written
from loopbook.program.copies import copying
from loopbook.program.dataflow import (
    AccessNode,
    Block,
    Constant,
    LibraryNode,
    MathsCall,
    Memlet,
    Node,
    Tasklet,
)
from loopbook.program.local import narrow_arrays
from loopbook.program.tree import Program
from loopbook.program.types import Scalar, Type, type_of
from loopbook.program.walk import Inner, preorder, rebuilt, with_children

NOTE = "loopbook_python_floats"
"""The key in a program's metadata."""

SUFFIX = "_single"
"""Behind the names of arguments that are rounded to 32 bits before all else."""

SINGLE, DOUBLE = Scalar(dtype="float"), "double"


class Kind(IntEnum):
    """What Python has where docc has a float; the greater of two wins, but that a whole number of
    8 or 16 bits beside a number of Python's is a double for NumPy."""

    NEVER = 0
    PYTHON = 1
    NARROW = 2
    SINGLE = 3
    OTHER = 4


def note(document: dict[str, Any]) -> None:
    """Note in a program's JSON that all doubles in it are numbers of Python's, and that there are
    floats of 32 bits beside them."""
    document["metadata"][NOTE] = "all"


def with_singles(program: Program) -> Program:
    """The program with scalars of 32 bits; itself if there is nothing to change."""
    if NOTE not in program.extra.value.get("metadata", {}):
        return program
    kinds = _Kinds(program)
    if not kinds.changed:
        return program
    made = rebuilt(program, kinds.with_types)
    types = {name: replace(kinds.of[name], dtype="float") for name in kinds.changed}
    types |= dict.fromkeys(kinds.rounded.values(), SINGLE)
    first = [
        copying((name, (), program.containers[name]), (single, (), SINGLE))
        for name, single in kinds.rounded.items()
    ]
    return with_children(made, [*first, *made.body.children]).declaring(**types)


FEW_BITS = ("int8", "uint8", "int16", "uint16")
"""Whole numbers that floats of 32 bits hold, and are with NumPy beside such."""


def _together(kinds: Sequence[Kind]) -> Kind:
    """What is computed of numbers."""
    found = max(kinds, default=Kind.OTHER)
    return Kind.OTHER if found == Kind.NARROW and Kind.PYTHON in kinds else found


class _Kinds:
    """What Python has where a program has doubles.

    Attributes:
        of: the scalars of 64 bits that are the program's own.
        changed: those of them that are to have 32.
        rounded: what arguments of 64 bits are called with 32, once some block has them so.
    """

    def __init__(self, program: Program) -> None:
        self._containers = program.containers
        self._blocks = [node for node in preorder(program) if isinstance(node, Block)]
        self._arguments = frozenset(program.arguments)
        self._written = written(program.body)
        self.rounded: dict[str, str] = {}
        self.of: Mapping[str, Scalar] = {
            name: kind
            for name, kind in program.containers.items()
            if isinstance(kind, Scalar) and kind.dtype == DOUBLE and name not in program.public
        }
        narrow = narrow_arrays(program)
        self._narrow = {name for name, kind in narrow.items() if kind in FEW_BITS}
        elements = {
            kind.element
            for name, kind in program.containers.items()
            if kind.is_array and name not in self._narrow
        }
        whole = bool(narrow) or any("int" in element for element in elements)
        self._whole = Kind.OTHER if whole else Kind.PYTHON
        self._found = dict.fromkeys(self.of, Kind.NEVER)
        self.changed: frozenset[str] = frozenset()
        if DOUBLE not in elements and not symbols(program.body) & self.of.keys():
            self._settle()
            singles = {name for name, kind in self._found.items() if kind == Kind.SINGLE}
            self.changed = frozenset(singles | self._rounded(singles))

    def _settle(self) -> None:
        """Find out what each scalar is, from what is stored in it."""
        before = None
        while before != self._found:
            before = dict(self._found)
            for block in self._blocks:
                for memlet in block.memlets:
                    source, target = block.nodes[memlet.source], block.nodes[memlet.target]
                    if isinstance(target, LibraryNode):  # which may write what it is handed
                        self._holds(source, Kind.OTHER)
                    self._holds(target, self._source(block, memlet))

    def _holds(self, node: Node, kind: Kind) -> None:
        if isinstance(node, AccessNode) and node.container in self._found:
            self._found[node.container] = _together((self._found[node.container], kind))

    def _rounded(self, singles: set[str]) -> set[str]:
        """Numbers of Python's that nothing reads but operations on floats of 32 bits: each of these
        rounds them first."""
        names = {name for name, kind in self._found.items() if kind in (Kind.PYTHON, Kind.NARROW)}
        for block in self._blocks if singles or names else ():
            for memlet in block.memlets:
                source = block.nodes[memlet.source]
                if isinstance(source, AccessNode) and source.container in names:
                    task = block.nodes[memlet.target]
                    if isinstance(task, AccessNode) or not self._is_single(block, memlet.target):
                        names.discard(source.container)
        return names

    def _is_single(self, block: Block, place: int) -> bool:
        return self._value(block, place) == Kind.SINGLE

    def _source(self, block: Block, memlet: Memlet) -> Kind:
        """What flows along a memlet."""
        node = block.nodes[memlet.source]
        if not isinstance(node, AccessNode):
            return self._value(block, memlet.source)
        if isinstance(block.nodes[memlet.target], AccessNode):
            return Kind.OTHER  # an address
        if node.container in self._found:
            return self._found[node.container]
        if node.container in self._narrow and memlet.subset:
            return Kind.NARROW
        kind = type_of(node.container, self._containers)
        match kind.element:
            case "float":
                return Kind.SINGLE
            case "double":
                return Kind.PYTHON if node.container in self._arguments else Kind.OTHER
            case element if "int" in element or element == "bool":
                return self._whole
        return Kind.OTHER

    def _value(self, block: Block, place: int) -> Kind:
        """What a node computes."""
        node = block.nodes[place]
        if isinstance(node, Constant):
            return Kind.PYTHON
        if not isinstance(node, Tasklet | MathsCall):
            return Kind.OTHER
        found = _together([self._source(block, memlet) for memlet in block.inputs[place]])
        of_numpy = isinstance(node, MathsCall) and found in (Kind.PYTHON, Kind.NARROW)
        return Kind.OTHER if of_numpy else found

    def with_types(self, node: Inner) -> Inner:
        """A block whose memlets, constants and functions are of 32 bits, where they are to be."""
        if not isinstance(node, Block):
            return node
        singles = [
            isinstance(task, Tasklet | MathsCall) and self._is_single(node, place)
            for place, task in enumerate(node.nodes)
        ]
        nodes = [self._typed(node, place, singles) for place in range(len(node.nodes))]
        memlets = [self._along(node, nodes, memlet) for memlet in node.memlets]
        if nodes == list(node.nodes) and memlets == list(node.memlets):
            return node
        return replace(node, nodes=tuple(nodes), memlets=tuple(memlets))

    def _typed(self, block: Block, place: int, singles: Sequence[bool]) -> Node:
        node = block.nodes[place]
        if isinstance(node, AccessNode) and self._is_given(node.container):
            out = block.outputs[place]
            if out and all(singles[memlet.target] for memlet in out):
                name = self.rounded.setdefault(node.container, f"{node.container}{SUFFIX}")
                return replace(node, container=name)
        if isinstance(node, MathsCall) and node.dtype == DOUBLE and singles[place]:
            return replace(node, dtype="float", name=f"{node.name}f")
        if isinstance(node, Constant) and _is_double(node.type):
            out = block.outputs[place]
            if out and all(singles[m.target] or self._into(block, m.target) for m in out):
                return replace(node, type=SINGLE)
        return node

    def _is_given(self, name: str) -> bool:
        """Whether a number of Python's is an argument, and stays what it is."""
        kind = self._containers.get(name)
        is_double = kind is not None and _is_double(kind)
        return is_double and name in self._arguments and name not in self._written

    def _into(self, block: Block, place: int) -> bool:
        """Whether a node does nothing but set a scalar that is to have 32 bits."""
        task, out = block.nodes[place], block.outputs[place]
        if not isinstance(task, Tasklet) or task.code != "assign" or len(out) != 1:
            return False
        target = block.nodes[out[0].target]
        return isinstance(target, AccessNode) and target.container in self.changed

    def _along(self, block: Block, nodes: Sequence[Node], memlet: Memlet) -> Memlet:
        ends = nodes[memlet.source], nodes[memlet.target]
        ours = any(isinstance(end, AccessNode) and end.container in self.changed for end in ends)
        rounded = ends[0] is not block.nodes[memlet.source] and not isinstance(ends[0], MathsCall)
        if (ours or rounded) and _is_double(memlet.type):
            return replace(memlet, type=SINGLE)
        return memlet


def _is_double(kind: Type) -> bool:
    return isinstance(kind, Scalar) and kind.dtype == DOUBLE
