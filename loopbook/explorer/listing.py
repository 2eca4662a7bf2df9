"""A nest as text that people read: its loops by name, its statements as assignments.

L0        for i in 0 … N0 (map)
L1          for j in 0 … N1, threads
              A0[i, j] = A1[i] * A2[j]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from loopbook.program import tree
from loopbook.program.dataflow import (
    AccessNode,
    Block,
    Constant,
    LibraryNode,
    MathsCall,
    Memlet,
    Operation,
    Tasklet,
    in_order,
)
from loopbook.program.expr import Expr
from loopbook.program.nest import Nest
from loopbook.steps.workbench import Transformed

MOST_LINES = 2000

_INFIX = {
    "fp_add": "+",
    "fp_sub": "-",
    "fp_mul": "*",
    "fp_div": "/",
    "fp_rem": "%",
    "int_add": "+",
    "int_sub": "-",
    "int_mul": "*",
    "int_sdiv": "//",
    "int_udiv": "//",
    "int_srem": "%",
    "int_urem": "%",
    "int_and": "&",
    "int_or": "|",
    "int_xor": "^",
    "int_shl": "<<",
    "int_ashr": ">>",
    "int_lshr": ">>",
}
_COMPARED = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def listing(now: Transformed, nest: Nest) -> str:
    """The loops of a nest as they stand in a program, before any step or after some."""
    names = {c.data: c.name for c in nest.containers if c.is_array}
    labels = {number: name for name, number in now.names.items()}
    width = max(map(len, labels.values()), default=2) + 2
    lines: list[str] = []
    for depth, label, text in _of(now.program.body, 0, labels, names):
        if depth < 0:
            continue
        lines.append(f"{label:<{width}}{'  ' * depth}{text}".rstrip())
        if len(lines) == MOST_LINES:
            lines.append("…")
            break
    return "\n".join(lines)


Line = tuple[int, str, str]


def _of(
    node: tree.Node | tree.Case, depth: int, labels: Mapping[int, str], names: Mapping[str, str]
) -> Iterator[Line]:
    match node:
        case tree.Sequence():
            for child in node.children:
                yield from _of(child, depth, labels, names)
        case tree.Loop():
            yield depth, labels.get(node.id or -1, ""), _header(node)
            yield from _of(node.body, depth + 1, labels, names)
        case tree.While():
            yield depth, labels.get(node.id or -1, ""), "while true"
            yield from _of(node.body, depth + 1, labels, names)
        case tree.Branch():
            for number, case in enumerate(node.cases):
                yield depth, "", f"{'elif' if number else 'if'} {case.condition}"
                yield from _of(case.body, depth + 1, labels, names)
        case Block():
            for text in _statements(node, names):
                yield depth, "", text
        case tree.Assignments():
            for one in node.assignments:
                yield depth, "", f"{one.symbol} = {one.expression}"
        case tree.Jump():
            yield depth, "", f"{node.kind} {node.value}".rstrip()
        case tree.Opaque():
            yield depth, "", "(not understood)"


def _header(loop: tree.Loop) -> str:
    end = _end(loop)
    by = "" if loop.step == 1 else f" by {loop.step}" if loop.step is not None else ""
    if end is None:
        head = f"for {loop.variable} = {loop.init}; {loop.condition}; {loop.update}"
    else:
        head = f"for {loop.variable} in {loop.init} … {end}{by}"
    remarks = [_SCHEDULES.get(loop.schedule.name, "")]
    if loop.kind != "for":
        remarks.append({"map": "parallel", "reduce": "reduction"}[loop.kind])
    told = ", ".join(remark for remark in remarks if remark)
    return f"{head}  [{told}]" if told else head


_SCHEDULES = {tree.THREADS.name: "threads", tree.VECTORISED.name: "vectors"}


def _end(loop: tree.Loop) -> str | None:
    """Where a loop that counts up stops short of, if its condition is ``variable < end``."""
    if loop.step is None or loop.step < 1:
        return None
    text = str(loop.condition).strip()
    while text.startswith("(") and text.endswith(")") and _closes_last(text):
        text = text[1:-1].strip()
    left, sign, right = text.partition("<")
    if sign and left.strip() == loop.variable and not right.startswith("=") and "&" not in right:
        return right.strip()
    return None


def _closes_last(text: str) -> bool:
    depth = 0
    for place, letter in enumerate(text):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if not depth:
            return place == len(text) - 1
    return False


def _statements(block: Block, names: Mapping[str, str]) -> Iterator[str]:
    for place in in_order(block):
        node = block.nodes[place]
        if isinstance(node, Operation):
            into = [_element(block, one, one.target, names) for one in block.outputs[place]]
            value = _value(block, place, node, names)
            yield f"{', '.join(into)} = {value}" if into else value
    if not any(isinstance(node, Operation) for node in block.nodes):
        for memlet in block.memlets:
            source = _element(block, memlet, memlet.source, names)
            yield f"{_name(block.nodes[memlet.target], names)} = &{source}"


def _value(block: Block, place: int, node: Operation, names: Mapping[str, str]) -> str:
    given = {
        one.target_connector: _element(block, one, one.source, names) for one in block.inputs[place]
    }
    if isinstance(node, Tasklet):
        values = [given.get(one, one) for one in node.inputs]
        return _called(node.code, values)
    if isinstance(node, MathsCall):
        return f"{node.function}({', '.join(given.values())})"
    name = node.code.lower() if isinstance(node, LibraryNode) else node.op
    return f"{name}({', '.join(given.values())})"


def _called(code: str, values: list[str]) -> str:
    if code == "assign" and len(values) == 1:
        return values[0]
    if code == "fp_neg" and len(values) == 1:
        return f"-{values[0]}"
    if code == "fp_fma" and len(values) == 3:
        return f"{values[0]} * {values[1]} + {values[2]}"
    sign = _INFIX.get(code) or _COMPARED.get(code.rpartition("_")[2][-2:])
    if sign and len(values) == 2:
        return f"{values[0]} {sign} {values[1]}"
    return f"{code.rpartition('_')[2].removeprefix('s')}({', '.join(values)})"


def _element(block: Block, memlet: Memlet, end: int, names: Mapping[str, str]) -> str:
    node = block.nodes[end]
    name = _name(node, names)
    if isinstance(node, AccessNode) and memlet.subset:
        return f"{name}[{', '.join(map(_text, memlet.subset))}]"
    return name


def _name(node: object, names: Mapping[str, str]) -> str:
    match node:
        case AccessNode():
            return names.get(node.container, node.container)
        case Constant():
            return node.text
    return "?"


def _text(index: Expr) -> str:
    return str(index)
