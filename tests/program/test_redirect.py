"""Dataflow that is let work on other elements."""

from __future__ import annotations

from loopbook.program import tree
from loopbook.program.accesses import accesses
from loopbook.program.dataflow import AccessNode, Memlet, Tasklet, block
from loopbook.program.expr import Expr
from loopbook.program.redirect import Element, redirected
from loopbook.program.types import Pointer, Scalar

DOUBLE = Scalar(dtype="double")
ARRAY = Pointer(to=DOUBLE)


def memlet(source: int, target: int, index: str) -> Memlet:
    return Memlet(source, target, "", "", (Expr(index),), ARRAY)


ADD = Tasklet("fp_add", ("_in1", "_in2"), "_out")
SUM = block(  # A[k] = A[i] + A[j], where both operands are read in one node
    (AccessNode("A"), ADD, AccessNode("A")),
    (memlet(0, 1, "i"), memlet(0, 1, "j"), memlet(1, 2, "k")),
)


def used(node: tree.Node) -> list[str]:
    return [f"{a.container}{[i.text for i in a.subset]}" for a in accesses(node)]


def test_one_place_of_an_array_goes_elsewhere_and_the_others_stay():
    new = redirected(SUM, lambda a: Element("s", (), DOUBLE) if a.subset == (Expr("j"),) else None)
    assert used(new) == ["A['i']", "s[]", "A['k']"]
    assert [memlet.type for memlet in new.memlets] == [ARRAY, DOUBLE, ARRAY]
    names = [node.container for node in new.nodes if isinstance(node, AccessNode)]
    assert names == ["A", "s", "A"]


def test_a_node_that_nothing_uses_any_more_gives_its_place_to_the_new_one():
    place = Element("B", (Expr("0"),), ARRAY)
    new = redirected(SUM, lambda a: None if a.write else place)
    assert used(new) == ["B['0']", "B['0']", "A['k']"]
    assert len(new.nodes) == 3
    assert isinstance(new.nodes[0], AccessNode)
    assert new.nodes[0].container == "B"


def test_what_nothing_changes_is_shared():
    whole = tree.Sequence((tree.Branch((tree.Case(Expr("(i < n)"), tree.Sequence((SUM,))),)), SUM))
    assert redirected(whole, lambda a: None) is whole
    new = redirected(whole, lambda a: Element("B", a.subset, ARRAY) if a.write else None)
    assert used(new) == 2 * ["A['i']", "A['j']", "B['k']"]
