"""Questions about an SDFG's JSON: what is in it, in which order, of which type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from loopbook.errors import SdfgError
from loopbook.program.dataflow import OPCODES
from loopbook.program.types import DTYPES

Json = dict[str, Any]


class Types:
    """The types of an SDFG's containers.

    Args:
        declared: the SDFG's ``containers``.
    """

    def __init__(self, declared: Mapping[str, Json]) -> None:
        self._declared = declared

    def __contains__(self, name: str) -> bool:
        return name in self._declared

    def is_array(self, data: str) -> bool:
        """False for scalars and symbols.

        Raises:
            SdfgError: if `data` is not declared.
        """
        return self._type(data).get("type") != "scalar"

    def _type(self, data: str) -> Json:
        try:
            return self._declared[data]
        except KeyError:
            if data.startswith("__nullptr") or data.startswith("__daisy_nullptr"):
                return {"type": "pointer"}
            raise SdfgError(f"the SDFG uses {data!r} but does not declare it") from None

    def dtype(self, data: str) -> str:
        """Element type, one of `loopbook.program.types.DTYPES`."""
        described = self._type(data)
        while "primitive_type" not in described:
            inner = described.get("pointee_type") or described.get("element_type")
            if not isinstance(inner, dict):
                return "void"
            described = inner
        return DTYPES[int(described["primitive_type"])]


def assigned_symbols(element: Json) -> Iterator[str]:
    """Integer scalars that the element's code gives values to (not the loops' own variables)."""
    if element["type"] == "assignment_block":
        for assignment in element["assignments"]:
            yield str(assignment["symbol"])
    elif element["type"] == "block":
        flow = element["dataflow"]
        data = {int(n["element_id"]): n.get("data") for n in flow["nodes"]}
        for edge in flow["edges"]:
            target = data.get(int(edge["dst"]))
            if target is not None and not edge.get("subset"):
                yield str(target)
    elif "branches" in element:
        for case in element["branches"]:
            yield from assigned_symbols(case["root"])
    else:
        children = element.get("children") or element.get("root", {}).get("children", ())
        for child in children:
            yield from assigned_symbols(child)


def opcode(node: Json) -> str:
    """What a node of a dataflow computes; see `loopbook.program.nest.Operation.op`."""
    code = node.get("code")
    if node.get("type") == "tasklet" and isinstance(code, int):
        return OPCODES[code]
    if code == "CMath":
        return f"cmath:{node.get('function_stem', node.get('name', ''))}"
    return f"lib:{code}"


def subset(edge: Json) -> tuple[str, ...]:
    """An edge's index expressions, one for each dimension."""
    return tuple(str(text) for text in edge.get("subset", ()))
