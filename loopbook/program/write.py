"""Writes the program tree as docc's JSON."""

from __future__ import annotations

from typing import Any

from loopbook.program.dataflow import (
    OPCODES,
    AccessNode,
    Block,
    Constant,
    LibraryNode,
    MathsCall,
    Memlet,
    Tasklet,
)
from loopbook.program.dataflow import Node as FlowNode
from loopbook.program.json_element import ElementWriter
from loopbook.program.json_types import write_dtype, write_type
from loopbook.program.members import Json
from loopbook.program.tree import (
    KINDS,
    Assignments,
    Branch,
    Jump,
    Loop,
    Node,
    Opaque,
    Program,
    Schedule,
    Sequence,
    While,
)


def write(program: Program) -> Json:
    """The program as an SDFG's JSON document, the caller's own.

    Elements that the tree has more than once are written more than once, with an id of their own
    for each copy.
    """
    writer = _Writer(program.counter)
    document: Json = program.extra.value
    document |= {
        "name": program.name,
        "type": program.target,
        "containers": {name: write_type(one) for name, one in program.containers.items()},
        "arguments": list(program.arguments),
        "return_type": write_type(program.returns),
        "root": writer.node(program.body),
    }
    return document | {"element_counter": writer.counter}


def write_node(node: Node) -> Json:
    """The JSON of a node by itself. New elements get ids that may be others' elsewhere."""
    return _Writer(0).node(node)


class _Writer(ElementWriter):
    """Writes the elements of one program."""

    def node(self, node: Node) -> Json:
        """A node and all that is in it."""
        match node:
            case Block():
                return self._block(node)
            case Loop():
                return self._loop(node)
            case Sequence():
                own = self.write(node, "sequence")
                return own | {"children": [self.node(child) for child in node.children]}
            case While():
                return self.write(node, "while") | {"root": self.node(node.body)}
            case Branch():
                own = self.write(node, "if_else")
                cases = [
                    {"condition": case.condition.text, "root": self.node(case.body)}
                    for case in node.cases
                ]
                return own | {"branches": cases}
            case Assignments():
                assignments = [
                    {"symbol": one.symbol, "expression": one.expression.text}
                    for one in node.assignments
                ]
                return self.write(node, "assignment_block") | {"assignments": assignments}
            case Jump():
                return self._jump(node)
            case Opaque():
                return node.kept.value
        raise TypeError(f"no node of a program: {node}")

    def _loop(self, loop: Loop) -> Json:
        kind, sub_kind = KINDS[loop.kind]
        raw = self.write(loop, kind) | {
            "sub_type": sub_kind,
            "indvar": loop.variable,
            "init": loop.init.text,
            "condition": loop.condition.text,
            "update": loop.update.text,
            "schedule_type": _schedule(loop.schedule),
            "root": self.node(loop.body),
        }
        if loop.reductions is not None:
            raw["reductions"] = [
                {"op": one.op, "container": one.container} for one in loop.reductions
            ]
        return raw

    def _jump(self, jump: Jump) -> Json:
        raw = self.write(jump, jump.kind)
        if jump.kind == "return":
            raw["data"] = jump.value
            if jump.type is not None:
                raw["data_type"] = write_type(jump.type)
        return raw

    def _block(self, block: Block) -> Json:
        own = self.write(block, "block")
        nodes = [self._flow_node(node) for node in block.nodes]
        edges = [self._memlet(memlet, nodes) for memlet in block.memlets]
        return own | {"dataflow": {"type": "dataflow", "nodes": nodes, "edges": edges}}

    def _flow_node(self, node: FlowNode) -> Json:
        match node:
            case AccessNode():
                return self.write(node, "access_node") | {"data": node.container}
            case Constant():
                own = self.write(node, "constant_node")
                return own | {"data": node.text, "data_type": write_type(node.type)}
            case Tasklet():
                return self.write(node, "tasklet") | {
                    "code": _CODES[node.code],
                    "inputs": list(node.inputs),
                    "output": node.output,
                }
            case MathsCall():
                return self.write(node, "library_node") | {
                    "code": "CMath",
                    "function_stem": node.function,
                    "name": node.name,
                    "primitive_type": write_dtype(node.dtype),
                    "implementation_type": node.implementation,
                }
            case LibraryNode():
                own = self.write(node, "library_node") | node.fields.value
                return own | {"code": node.code, "implementation_type": node.implementation}
        raise TypeError(f"no node of a block: {node}")

    def _memlet(self, memlet: Memlet, nodes: list[dict[str, Any]]) -> Json:
        raw = self.write(memlet, "")
        del raw["type"]
        return raw | {
            "src": nodes[memlet.source]["element_id"],
            "dst": nodes[memlet.target]["element_id"],
            "src_conn": memlet.source_connector,
            "dst_conn": memlet.target_connector,
            "subset": [index.text for index in memlet.subset],
            "base_type": write_type(memlet.type),
        }


_CODES = {name: code for code, name in enumerate(OPCODES)}


def _schedule(schedule: Schedule) -> Json:
    properties = dict(schedule.properties)
    return {"value": schedule.name, "category": schedule.category, "properties": properties}
