"""Where loops stand, remembered."""

from __future__ import annotations

import gc
import weakref

from loopbook.program import walk
from loopbook.program.expr import Expr
from loopbook.program.standing import loops
from loopbook.program.tree import Branch, Case, Loop, Program, Sequence, While


def loop(number: int, variable: str, *inner: Loop | While | Branch) -> Loop:
    zero, end, step = Expr("0"), Expr(f"{variable} < n"), Expr(f"1 + {variable}")
    return Loop(variable, zero, end, step, Sequence(inner), id=number)


def program(*nodes: Loop | While | Branch) -> Program:
    return Program("p", {}, (), Sequence(nodes))


def test_loops_are_those_of_a_walk_whatever_is_put_in_the_place_of_another():
    case = Case(Expr("n < 3"), Sequence((loop(4, "k"),)))
    given = program(loop(1, "i", While(Sequence((loop(3, "j"),)), id=2)), Branch((case,)))
    for one in (given, walk.replaced(given, (0,), loop(7, "a"), loop(8, "b", loop(9, "c")))):
        found = list(loops(one))
        walked = [(p, n) for p, n in walk.places(one) if isinstance(n, Loop | While)]
        assert [(f.path, f.id) for f in found] == [(path, node.id) for path, node in walked]
        assert all(walk.at(one, f.path) is node for f, (_, node) in zip(found, walked, strict=True))
    assert [one.variable for one in loops(given)] == ["i", "", "j", "k"]
    assert not any(one.shared for one in loops(given))


def test_nothing_is_kept_for_what_is_gone():
    given = program(loop(1, "i", loop(2, "j")))
    assert len(list(loops(given))) == 2
    gone = weakref.ref(given.body.children[0])
    del given
    gc.collect()
    assert gone() is None
