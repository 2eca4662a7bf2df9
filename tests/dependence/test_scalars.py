"""Scalars that loops have for themselves, and those that something else may need."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loopbook.dependence.body import read_loop, write_loop
from loopbook.dependence.scalars import (
    check_unused_outside,
    homes,
    live_out,
    private_to_iterations,
    upward_exposed,
)
from loopbook.errors import IllegalStepError
from loopbook.program import tree
from loopbook.program.expr import Expr
from loopbook.program.types import Pointer, Scalar
from loopbook.steps.editor import Editor, assignments

NUMBERS = dict.fromkeys(("i", "j", "k", "s", "t", "u"), Scalar(dtype="int64"))
EMPTY = tree.Program("p", {**NUMBERS, "A": Pointer(to=Scalar(dtype="int64"))}, (), tree.Sequence())


def loop(variable: str, *inner: tree.Node) -> tree.Loop:
    condition, update = Expr(f"({variable} < n)"), Expr(f"1 + {variable}")
    return tree.Loop(variable, Expr("0"), condition, update, tree.Sequence(inner))


def copy(source: str, target: str) -> tree.Node:
    """``target = source``, where ``A`` stands for an element of it."""
    ends = [(name, ("i",) if name == "A" else ()) for name in (source, target)]
    return Editor(EMPTY, {}, {}).copy(*ends)


def guarded(*inner: tree.Node) -> tree.Branch:
    return tree.Branch((tree.Case(Expr("(i < 2)"), tree.Sequence(inner)),))


def program(*nodes: tree.Node) -> tree.Program:
    return tree.Program("p", EMPTY.containers, ("u",), tree.Sequence(nodes))


def test_an_iteration_has_what_it_writes_before_it_reads_it():
    used = copy("t", "A")
    cases = {
        "i": loop("i", copy("A", "t"), loop("j", used)),
        "ij": loop("i", loop("j", copy("A", "t"), used)),
        "": loop("i", used, copy("A", "t")),
        "only sometimes written": loop("i", guarded(copy("A", "t")), used),
        "used after the loop": loop("i", loop("j", copy("A", "t")), used),
        "in one block": loop("i", copy("t", "t")),
    }
    for wanted, outer in cases.items():
        found = homes(outer, EMPTY.containers)
        assert found.keys() == {"t"}
        names = [node.variable for node in found["t"] if isinstance(node, tree.Loop)]
        assert names == (list(wanted) if wanted in ("i", "ij") else []), wanted
    inside = homes(guarded(loop("i", copy("A", "t"), used)), EMPTY.containers)
    assert len(inside["t"]) == 1, "a branch around the loop leaves out all of its iterations"


@pytest.mark.parametrize(
    ("others", "used"),
    [
        ([loop("j", copy("A", "t"), loop("k", copy("t", "A")))], False),
        ([loop("j", copy("t", "A"))], True),
        ([loop("j", assignments([("k", "1 + t")]))], True),
        ([loop("t")], True),
        ([guarded(copy("t", "A"))], True),
        ([copy("A", "s")], False),
    ],
)
def test_a_scalar_is_asked_for_in_the_rest_of_the_program(others: list[tree.Node], used: bool):
    mine = loop("i", copy("A", "t"), loop("k", copy("t", "A")))
    for whole in (program(mine, *others), program(loop("s", mine, *others))):
        if used:
            with pytest.raises(IllegalStepError, match="uses t outside"):
                check_unused_outside(whole, mine, {"t"})
        else:
            check_unused_outside(whole, mine, {"t"})


def test_arguments_are_used_outside():
    mine = loop("i", copy("A", "u"), loop("k", copy("u", "A")))
    with pytest.raises(IllegalStepError, match="uses u outside"):
        check_unused_outside(program(mine), mine, {"u"})


def test_what_is_read_before_it_is_written_is_upward_exposed():
    used, counting = copy("t", "A"), loop("j", copy("t", "A"))
    cases = [
        ((copy("A", "t"), used), False),
        ((copy("A", "t"), counting), False),  # what is set before a loop is set in it
        ((loop("j", copy("A", "t")), used), True),  # the loop may not run
        ((loop("t", used),), False),  # its own variable
        ((guarded(copy("A", "t")), used), True),
        ((guarded(counting),), True),
        ((guarded(copy("A", "t"), counting),), False),
        ((loop("j", used, copy("A", "t")),), True),
        ((assignments([("k", "t + 1")]),), True),
    ]
    found = ["t" in upward_exposed(tree.Sequence(nodes)) for nodes, _ in cases]
    assert found == [expected for _, expected in cases]


def test_what_is_read_of_what_a_loop_leaves_is_live_out():
    setting, used, reading = loop("j", copy("A", "t")), copy("t", "A"), loop("k", copy("t", "A"))
    cases = [
        ((setting,), False),
        ((setting, used), True),
        ((copy("A", "t"), setting, used), True),
        ((setting, copy("A", "t"), used), False),
        ((setting, copy("A", "t"), reading), False),
        ((setting, loop("k", copy("A", "t")), used), True),  # this loop may not run
        ((loop("i", copy("A", "t"), used, setting), reading), True),
        ((loop("i", copy("A", "t"), used, setting),), False),
        ((copy("A", "t"), loop("i", used, setting)), True),  # in the next iteration
        ((copy("A", "t"), guarded(setting), used), True),
        ((copy("A", "t"), loop("i", setting), used), True),
    ]
    found = ["t" in live_out(program(*nodes), setting) for nodes, _ in cases]
    assert found == [expected for _, expected in cases]
    setting = loop("j", copy("A", "u"))  # the program's callers are handed it
    assert live_out(program(setting), setting) == {"u"}


def test_loops_that_a_step_leaves_as_they_are_stay_the_same_objects():
    def counted(variable: str, *children: tree.Node) -> tree.Loop:
        ends = Expr("0"), Expr(f"({variable} < N)"), Expr(f"1 + {variable}")
        return tree.Loop(variable, *ends, tree.Sequence(children))

    inner = counted("j", assignments([("s", "j")]))
    outer = counted("i", inner)
    containers = {name: Scalar("int64") for name in ("i", "j", "s", "N")}
    node = read_loop(outer, (), frozenset("s"), containers)
    assert write_loop(node) is outer
    node.highs = [*node.highs, {"M": 1}]
    made = write_loop(node)
    assert made.body.children == (inner,), "what is known of it is still good"
    assert made.condition.symbols >= {"i", "N", "M"}
    assert made.bounds.highs != outer.bounds.highs


def test_a_bound_that_the_loop_changes_is_not_private_to_its_iterations():
    changed = tree.Assignments((tree.Assignment("k", Expr("7")),))

    def private(high: str, outer: str, *body: tree.Node) -> frozenset[str]:
        inner = replace(loop("j", *body), condition=Expr(f"(j < {high})"))
        around = replace(loop("i", inner), condition=Expr(f"(i < {outer})"))
        return private_to_iterations(program(around), inner)

    assert private("9", "9", changed, copy("k", "A")) == {"k"}
    assert private("k", "9", changed, copy("k", "A")) == set()
    assert private("9", "k", changed, copy("k", "A")) == set(), "the loop around it needs it"
