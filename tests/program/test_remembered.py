"""What has been worked out about a node is its own: a changed copy is asked anew."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace

from loopbook.program.accesses import own_symbols, written
from loopbook.program.element import like
from loopbook.program.expr import Expr
from loopbook.program.tree import Assignment, Assignments, Sequence
from loopbook.program.walk import with_children

ONE = Assignments((Assignment("i", Expr("n + 1")),))
OTHER = Assignments((Assignment("j", Expr("m")),))


def test_changed_copies_are_asked_anew():
    assert (written(ONE), own_symbols(ONE)) == ({"i"}, {"n"})
    for changed in (
        like(ONE, assignments=OTHER.assignments),
        replace(ONE, assignments=OTHER.assignments),
    ):
        assert (written(changed), own_symbols(changed)) == ({"j"}, {"m"})
    whole = Sequence((ONE,))
    assert written(whole) == {"i"}
    assert written(with_children(whole, (ONE, OTHER))) == {"i", "j"}


def test_copies_and_pickles_say_the_same_and_take_no_answers_along():
    assert written(ONE) == {"i"}
    for same in (copy.copy(ONE), pickle.loads(pickle.dumps(ONE))):
        assert same.assignments == ONE.assignments
        assert vars(same).keys() == {"id", "position", "assignments"}
        assert written(same) == {"i"}
