"""`join` on programs that no front end of ours writes."""

from __future__ import annotations

import pytest

from loopbook.errors import IllegalStepError
from loopbook.program import tree
from loopbook.program.dataflow import AccessNode, Memlet, Tasklet, block
from loopbook.program.expr import Expr
from loopbook.program.types import Pointer, Scalar
from loopbook.steps.editor import Editor
from loopbook.steps.join import Join

TYPES = {
    **dict.fromkeys(("i", "j", "n"), Scalar(dtype="int64")),
    **dict.fromkeys(("wide", "same"), Scalar(dtype="double")),
    "narrow": Scalar(dtype="float"),
    **dict.fromkeys(("A", "B"), Pointer(to=Scalar(dtype="double"))),
}


def copies(number: int, variable: str, by: str, low: str, high: str) -> tree.Loop:
    """``for variable in low … high: B[variable] = by = A[variable]``"""
    names = "A", by, "B"
    tasks = [Tasklet("assign", ("_in",), "_out") for _ in range(2)]
    flows = []
    for source, task, target in ((0, 3, 1), (1, 4, 2)):
        for start, end, data in ((source, task, source), (task, target, target)):
            subset = () if data == 1 else (Expr(variable),)
            ends = ("void", "_in") if start == source else ("_out", "void")
            flows.append(Memlet(start, end, *ends, subset, TYPES[names[data]]))
    nodes = (*map(AccessNode, names), *tasks)
    body = tree.Sequence((block(nodes, tuple(flows)),))
    condition, update = Expr(f"({variable} < {high})"), Expr(f"1 + {variable}")
    return tree.Loop(variable, Expr(low), condition, update, body, id=number)


def two(first: tree.Loop, second: tree.Loop) -> Editor:
    """A program of two loops, numbered 1 and 2."""
    body = tree.Sequence((first, second))
    return Editor(tree.Program("p", TYPES, ("A", "B"), body), {"L0": 1, "L1": 2}, {})


@pytest.mark.parametrize(("by", "joined"), [("same", True), ("narrow", False)])
def test_values_that_scalars_round_are_others(by: str, joined: bool):
    editor = two(copies(1, "i", "wide", "0", "4"), copies(2, "j", by, "4", "9"))
    step = Join("join", ("L0", "L1"))
    if joined:
        step.apply(editor)
        (loop,) = editor.program.body.children
        assert isinstance(loop, tree.Loop)
        assert loop.condition == Expr("(i < 9)")
    else:
        with pytest.raises(IllegalStepError, match="do not do the same"):
            step.apply(editor)


@pytest.mark.parametrize(
    ("first", "second", "which"),
    [
        (("0", "4"), ("4", "n"), "second"),  # n may be 3: then iterations 3 to 4 would be lost
        (("0", "4"), ("4", "3"), "second"),
        (("0", "n"), ("n", "9"), "first"),
        (("4", "3"), ("3", "9"), "first"),
    ],
)
def test_ranges_that_may_be_less_than_nothing_are_not_joined(first, second, which):
    editor = two(copies(1, "i", "wide", *first), copies(2, "j", "wide", *second))
    with pytest.raises(IllegalStepError, match=f"the {which} loop may end before it begins"):
        Join("join", ("L0", "L1")).apply(editor)
