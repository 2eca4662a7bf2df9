"""Reads blocks of dataflow from docc's JSON."""

from __future__ import annotations

from typing import Any

from loopbook.errors import SdfgError
from loopbook.program import members
from loopbook.program.dataflow import (
    OPCODES,
    AccessNode,
    Block,
    Constant,
    LibraryNode,
    MathsCall,
    Memlet,
    Node,
    Tasklet,
    block,
)
from loopbook.program.json_element import COMMON, ElementReader
from loopbook.program.json_types import read_dtype, read_type
from loopbook.program.kept import Kept
from loopbook.program.members import Json

_BLOCK = COMMON | {"dataflow"}
_ACCESS = COMMON | {"data"}
_CONSTANT = COMMON | {"data", "data_type"}
_TASKLET = COMMON | {"code", "inputs", "output"}
_DATAFLOW = frozenset({"type", "nodes", "edges"})
_LIBRARY = COMMON | {"code", "implementation_type"}
_MATHS = _LIBRARY | {"function_stem", "name", "primitive_type"}
_MEMLET = frozenset({
    "element_id", "debug_info", "src", "dst", "src_conn", "dst_conn", "subset", "base_type"
})  # fmt: skip


def read_block(raw: Json, elements: ElementReader) -> Block:
    """A block of the class that fits what is in it.

    Raises:
        UnknownMemberError: something in it has a member that is not known.
        SdfgError: it is damaged.
    """
    own = elements.read(raw, _BLOCK)
    flow = members.mapping(raw.get("dataflow"), "a dataflow")
    members.only(flow, _DATAFLOW)
    if members.text(flow, "type") != "dataflow":
        raise SdfgError("the SDFG is damaged: a block has no dataflow")
    nodes = tuple(_node(one, elements) for one in members.many(flow, "nodes"))
    places = {node.id: place for place, node in enumerate(nodes)}
    memlets = tuple(_memlet(one, places, elements) for one in members.many(flow, "edges"))
    return block(nodes, memlets, **own)


def _node(raw: Any, elements: ElementReader) -> Node:
    raw = members.mapping(raw, "a node")
    match members.text(raw, "type"):
        case "access_node":
            return AccessNode(members.text(raw, "data"), **elements.read(raw, _ACCESS))
        case "constant_node":
            own = elements.read(raw, _CONSTANT)
            return Constant(members.text(raw, "data"), read_type(raw.get("data_type")), **own)
        case "tasklet":
            own = elements.read(raw, _TASKLET)
            code = members.number(raw, "code")
            if not 0 <= code < len(OPCODES):
                raise SdfgError(f"the SDFG is damaged: there is no instruction number {code}")
            inputs, output = members.texts(raw, "inputs"), members.text(raw, "output")
            return Tasklet(OPCODES[code], inputs, output, **own)
        case "library_node":
            return _library(raw, elements)
        case other:
            raise members.UnknownMemberError(f"the SDFG has a node of unknown type {other[:40]!r}")


def _library(raw: Json, elements: ElementReader) -> MathsCall | LibraryNode:
    code = members.text(raw, "code")
    implementation = members.text(raw, "implementation_type")
    if code != "CMath":
        own = elements.read(raw, frozenset(raw))
        fields = {key: value for key, value in raw.items() if key not in _LIBRARY}
        return LibraryNode(code, implementation, Kept.of(fields), **own)
    own = elements.read(raw, _MATHS)
    function, name = members.text(raw, "function_stem"), members.text(raw, "name")
    return MathsCall(function, name, read_dtype(raw), implementation, **own)


def _memlet(raw: Any, places: dict[int | None, int], elements: ElementReader) -> Memlet:
    raw = members.mapping(raw, "a memlet")
    try:
        ends = places[members.number(raw, "src")], places[members.number(raw, "dst")]
    except KeyError:
        raise SdfgError("the SDFG is damaged: a block has an edge without a node") from None
    return Memlet(
        *ends,
        members.text(raw, "src_conn"),
        members.text(raw, "dst_conn"),
        members.expressions(raw, "subset"),
        read_type(raw.get("base_type")),
        **elements.read(raw, _MEMLET),
    )
