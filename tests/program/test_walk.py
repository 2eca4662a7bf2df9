"""Going through a program tree and changing it in places."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loopbook.program import tree
from loopbook.program.expr import Expr
from loopbook.program.walk import (
    Inner,
    at,
    changed,
    children,
    outermost,
    places,
    preorder,
    rebuilt,
    replaced,
    with_children,
    with_loops,
)


def loop(variable: str, *inner: tree.Node) -> tree.Loop:
    condition, update = Expr(f"({variable} < n)"), Expr(f"1 + {variable}")
    return tree.Loop(variable, Expr("0"), condition, update, tree.Sequence(inner))


def assign(symbol: str) -> tree.Assignments:
    return tree.Assignments((tree.Assignment(symbol, Expr("1")),))


X, Y, Z = map(assign, "xyz")
CASES = tree.Branch(
    (
        tree.Case(Expr("(a < b)"), tree.Sequence((loop("k", X),))),
        tree.Case(Expr("(b <= a)"), tree.Sequence((Y,))),
    )
)
PROGRAM = tree.Program(
    "p",
    {},
    (),
    tree.Sequence((loop("i", loop("j", X, CASES), X), CASES, tree.While(tree.Sequence((Z,))))),
)


def words(node: object) -> str:
    match node:
        case tree.Loop():
            return node.variable
        case tree.Assignments():
            return node.assignments[0].symbol
    return type(node).__name__


def test_preorder_and_the_loops_around():
    assert " ".join(map(words, preorder(PROGRAM))) == (
        "Program i j x Branch Case k x Case y x Branch Case k x Case y While z"
    )
    around = {"".join(map(words, loops)) for node, loops in with_loops(PROGRAM) if node is X}
    assert around == {"ij", "ijk", "i", "k"}
    assert list(map(words, outermost(PROGRAM))) == ["i", "k", "While"]


def test_a_loop_that_ends_on_a_condition_stands_around_nests():
    inner = tree.While(tree.Sequence((loop("j", X), loop("k", loop("l", Y)))))
    program = replace(PROGRAM, body=tree.Sequence((loop("i", tree.While(inner.body)), inner, Z)))
    assert list(map(words, outermost(program))) == ["i", "j", "k"]


def test_places_lead_to_their_nodes():
    found = list(places(PROGRAM))
    assert [node for _, node in found] == list(preorder(PROGRAM))
    assert all(at(PROGRAM, path) is node for path, node in found)
    assert len({path for path, _ in found}) == len(found)


def test_one_place_of_a_shared_subtree_changes_and_the_rest_is_shared():
    paths = [path for path, node in places(PROGRAM) if node is X]
    assert len(paths) == 4
    after = replaced(PROGRAM, paths[1], Y, Z)
    assert " ".join(map(words, preorder(after))) == (
        "Program i j x Branch Case k y z Case y x Branch Case k x Case y While z"
    )
    assert children(after)[1:] == children(PROGRAM)[1:]
    assert at(after, (0, 1)) is X
    assert " ".join(map(words, preorder(PROGRAM))).count("x") == 4


def test_nodes_can_be_taken_out_and_changed():
    assert children(replaced(PROGRAM, (0,))) == children(PROGRAM)[1:]
    doubled = changed(PROGRAM, (2, 0), lambda old: (old, old))
    assert list(map(words, preorder(children(doubled)[2]))) == ["While", "z", "z"]


@pytest.mark.parametrize("node", [PROGRAM, CASES, *children(PROGRAM), *children(CASES)])
def test_a_node_with_its_own_children_is_what_it_was(node):
    again = with_children(node, children(node))
    assert list(map(words, preorder(again))) == list(map(words, preorder(node)))


def test_a_leaf_takes_no_children():
    with pytest.raises(TypeError):
        with_children(X, [Y])


def test_what_is_rebuilt_shares_all_that_stays():
    def without_y(node: Inner) -> Inner:
        return assign("w") if node is Y else node

    new = rebuilt(PROGRAM, without_y)
    assert " ".join(map(words, preorder(new))) == (
        "Program i j x Branch Case k x Case w x Branch Case k x Case w While z"
    )
    assert at(new, (2,)) is at(PROGRAM, (2,))
    assert at(new, (0, 0, 1, 0)) is CASES.cases[0]
    assert rebuilt(PROGRAM, lambda node: node) is PROGRAM


def test_the_innermost_is_rebuilt_first():
    seen: list[str] = []

    def note(node: Inner) -> Inner:
        seen.append(words(node))
        return node

    rebuilt(loop("i", loop("j", X), Y), note)
    assert seen == ["x", "j", "y"]
