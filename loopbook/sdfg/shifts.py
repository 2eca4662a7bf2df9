"""Shifts to the right that keep the sign, as Python's and NumPy's do.

docc writes ``x >> s`` as a shift of numbers without a sign, ``int_lshr``. That is wrong for
negative numbers, but its passes leave it alone, while they take ``int_ashr`` by a constant for a
division, which rounds towards zero. So the one becomes the other last of all, before C++ is
written::

    uint64_t out = uint64_t(x) >> s;    becomes    int64_t out = x >> s;
"""

from __future__ import annotations

from dataclasses import replace

from loopbook.program.dataflow import Block, Node, Tasklet
from loopbook.program.tree import Program
from loopbook.program.walk import Inner, spread

_UNSIGNED, _SIGNED = "int_lshr", "int_ashr"


def keep_signs(program: Program) -> Program:
    """A finished program whose shifts keep the sign; itself if it has none."""
    return spread(program, _kept)


def _kept(node: Inner) -> list[Inner]:
    if not isinstance(node, Block) or not any(map(_loses, node.nodes)):
        return [node]
    nodes = tuple(replace(n, code=_SIGNED) if _loses(n) else n for n in node.nodes)
    return [replace(node, nodes=nodes)]


def _loses(node: Node) -> bool:
    return isinstance(node, Tasklet) and node.code == _UNSIGNED
