"""A sum that is added to an element behind its loop: what counts as one."""

from dataclasses import replace

import pytest

from loopbook.program import dataflow
from loopbook.program.dataflow import AccessNode, Block, Constant, Memlet, Tasklet
from loopbook.program.expr import Expr
from loopbook.program.tree import Loop, Sequence
from loopbook.program.types import Pointer, Scalar
from loopbook.steps.summed import summed

NUMBER = Scalar("int64")
ARRAY = Pointer(to=NUMBER)


def stored(value: str, target: str = "s", index: str = "") -> Block:
    """``target[index] = value``, a number."""
    nodes = Constant(value, NUMBER), Tasklet("assign", ("_in",), "_out"), AccessNode(target)
    where = (Expr(index),) if index else ()
    return dataflow.block(
        nodes,
        (
            Memlet(0, 1, "void", "_in", (), NUMBER),
            Memlet(1, 2, "_out", "void", where, ARRAY if index else NUMBER),
        ),
    )


def added(target: str, index: str, source: str, place: str, code: str = "int_add") -> Block:
    """``target[index] = target[index] + source[place]``, either a scalar without an index."""
    nodes = (
        AccessNode(target),
        AccessNode(source),
        Tasklet(code, ("_in1", "_in2"), "_out"),
        AccessNode(target),
    )
    own, other = ((Expr(text),) if text else () for text in (index, place))
    return dataflow.block(
        nodes,
        (
            Memlet(0, 2, "void", "_in1", own, ARRAY if own else NUMBER),
            Memlet(1, 2, "void", "_in2", other, ARRAY if other else NUMBER),
            Memlet(2, 3, "_out", "void", own, ARRAY if own else NUMBER),
        ),
    )


def together(one: Block, other: Block) -> Block:
    """Two blocks as one."""
    start = len(one.nodes)
    moved = (replace(m, source=m.source + start, target=m.target + start) for m in other.memlets)
    return dataflow.block((*one.nodes, *other.nodes), (*one.memlets, *moved))


def loop(*body: Block) -> Loop:
    return Loop("k", Expr("0"), Expr("(k < n)"), Expr("1 + k"), Sequence(body))


def multiplied() -> Block:
    """``s = a[k] * b[k] + s`` in one instruction."""
    names = "a", "b", "s"
    nodes = *map(AccessNode, names), Tasklet("fp_fma", ("_x", "_y", "_z"), "_out"), AccessNode("s")
    where = [(Expr("k"),), (Expr("k"),), ()]
    into = (
        Memlet(place, 3, "void", connector, where[place], ARRAY if where[place] else NUMBER)
        for place, connector in enumerate(("_x", "_y", "_z"))
    )
    return dataflow.block(nodes, (*into, Memlet(3, 4, "_out", "void", (), NUMBER)))


def product(like: str) -> AccessNode:
    return AccessNode(f"{like}_product")


ADD_UP = loop(added("s", "", "b", "k"))


def test_a_sum_behind_its_loop_is_found():
    found = summed((stored("0"), ADD_UP, added("a", "i", "s", "")), product)
    assert found is not None
    assert (found.first, found.last, found.scalar, found.container) == (0, 2, "s", "a")
    assert found.rest is None


def test_what_is_taken_away_is_taken_away_each_time():
    found = summed((stored("0"), ADD_UP, added("a", "i", "s", "", "int_sub")), product)
    assert found is not None
    (whole,) = found.between
    assert isinstance(whole, Loop)
    (block,) = whole.body.children
    assert isinstance(block, Block)
    assert [node.code for node in block.nodes if isinstance(node, Tasklet)] == ["int_sub"]


def test_a_product_is_taken_away_in_two_instructions():
    end = added("a", "i", "s", "", "int_sub")
    found = summed((stored("0"), loop(multiplied()), end), product)
    assert found is not None
    (whole,) = found.between
    assert isinstance(whole, Loop)
    (block,) = whole.body.children
    assert isinstance(block, Block)
    codes = {n.code: place for place, n in enumerate(block.nodes) if isinstance(n, Tasklet)}
    assert codes.keys() == {"fp_mul", "fp_sub"}

    def read(code: str) -> list[tuple[str, str]]:
        memlets = sorted(block.inputs[codes[code]], key=lambda m: m.target_connector)
        ends = (block.nodes[m.source] for m in memlets)
        return [
            (m.target_connector, end.container)
            for m, end in zip(memlets, ends, strict=True)
            if isinstance(end, AccessNode)
        ]

    assert read("fp_mul") == [("_x", "a"), ("_y", "b")]
    assert read("fp_sub") == [("_x", "s"), ("_y", "s_product")]


def test_what_is_computed_of_the_sum_before_it_is_stored_stays():
    """``a[i] = -(a[i] - s)``"""
    nodes = (
        *(AccessNode("a"), AccessNode("s"), Tasklet("fp_sub", ("_in1", "_in2"), "_out")),
        *(AccessNode("m"), Tasklet("fp_neg", ("_in",), "_out"), AccessNode("a")),
    )
    element = (Expr("i"),)
    end = dataflow.block(
        nodes,
        (
            Memlet(0, 2, "void", "_in1", element, ARRAY),
            Memlet(1, 2, "void", "_in2", (), NUMBER),
            Memlet(2, 3, "_out", "void", (), NUMBER),
            Memlet(3, 4, "void", "_in", (), NUMBER),
            Memlet(4, 5, "_out", "void", element, ARRAY),
        ),
    )
    found = summed((stored("0"), ADD_UP, end), product)
    assert found is not None
    assert (found.container, found.middle) == ("a", "m")
    assert found.rest is not None
    assert [n.container for n in found.rest.nodes if isinstance(n, AccessNode)] == ["a", "a"]


def test_what_else_the_last_block_does_stays():
    end = together(added("a", "i", "s", ""), stored("7", "c", "i"))
    found = summed((stored("0"), ADD_UP, end), product)
    assert found is not None
    assert found.rest is not None
    assert [n.container for n in found.rest.nodes if isinstance(n, AccessNode)] == ["c"]


@pytest.mark.parametrize(
    "nodes",
    [
        (stored("1"), ADD_UP, added("a", "i", "s", "")),
        (stored("0"), ADD_UP, together(added("a", "i", "s", ""), stored("7", "c", "s"))),
        (stored("0"), ADD_UP, added("a", "i", "s", ""), stored("7", "c", "s")),
        (ADD_UP, stored("0"), added("a", "i", "s", "")),
    ],
    ids=[
        "from one",
        "an index beside",
        "used behind",
        "used before",
    ],
)
def test_what_is_no_sum_stays(nodes):
    assert summed(nodes, product) is None
