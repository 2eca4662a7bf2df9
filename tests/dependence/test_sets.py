"""What is decided without isl is what isl says."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from loopbook.dependence.contradictions import excluded
from loopbook.dependence.distances import constant
from loopbook.dependence.model import Linear, minus, shifted
from loopbook.dependence.sets import adds_up, empty, holds

FORMS = st.dictionaries(
    st.sampled_from(["", "i", "j", "n"]), st.integers(-3, 3).filter(bool), max_size=4
)


def _below(form: Linear) -> Linear:
    return shifted({symbol: -factor for symbol, factor in form.items()}, -1)


@given(st.lists(FORMS, max_size=5), FORMS)
def test_what_holds_is_what_isl_finds_without_an_exception(known: list[Linear], form: Linear):
    truly = empty([], [*known, _below(form)])
    if holds(known, form):
        assert truly
    elif truly:  # said not to be known, which is allowed where nothing satisfies what is known
        assert empty([], known)


@given(st.lists(FORMS, max_size=5), FORMS)
def test_what_adds_up_isl_finds_to_hold(known: list[Linear], form: Linear):
    assert not adds_up(known, form) or empty([], [*known, _below(form)])


FEW = st.lists(FORMS, max_size=3)


@given(FEW, FEW, FEW, FEW)
def test_what_is_excluded_isl_finds_empty(known, equal, inequalities, less):
    if excluded(known, equal, inequalities, less):
        assert empty([*known, *equal], [*inequalities, *less])


@given(FEW, FORMS)
def test_what_is_constant_isl_finds_to_have_no_other_value(equations, form):
    value = constant(form, equations)
    if value is not None:
        assert empty(equations, [shifted(form, -value - 1)])
        assert empty(equations, [shifted(minus({}, form), value - 1)])


def test_an_equation_tells_how_far_apart():
    apart: list[Linear] = [{"i'2": 1, "i'1": -1, "": -2}]
    assert constant({"i'2": 1, "i'1": -1}, apart) == 2
    assert constant({"i'1": 1, "i'2": -1}, apart) == -2
    assert constant({"": 3}, apart) == 3
    assert constant({}, []) == 0
    assert constant({"i'2": 1}, apart) is None


def test_an_equation_excludes_what_it_contradicts():
    same: list[Linear] = [{"i'2": 1, "i'1": -1}]
    assert excluded(same, [], [{"i'2": 1, "i'1": -1, "": -1}])
    assert excluded(same, [{"i'1": 1, "i'2": -1, "": 2}], [])
    assert not excluded(same, [{"i'1": 1, "i'2": -1}], [{"j'2": 1, "j'1": -1, "": -1}])


def test_what_comes_later_comes_not_before():
    later: list[Linear] = [{"i'2": 1, "i'1": -1, "": -1}]
    assert excluded([], [], [{"i'1": 1, "i'2": -1, "": -1}], later)
    assert excluded([], [{"i'1": 1, "i'2": -1}], [], later)
    assert excluded([], [{"i'2": 1, "i'1": -1}], [], later)
    assert not excluded([], [], later, later)
    assert not excluded([], [{"i'2": 1, "i'1": -1, "": -3}], [], later)


def test_tiles_in_tiles_add_up():
    known: list[Linear] = [{"ii": 1}, {"i": 1, "ii": -1}, {"k": 1, "i": -1}]
    assert holds(known, {"k": 1})
    assert adds_up(known, {"k": 2, "": 5})
    assert holds(known, {"k": 2, "": 5})
    assert not holds(known, {"k": 1, "": -1})


def test_what_only_integers_know_does_not_add_up():
    known: list[Linear] = [{"i": 2, "": -1}]  # so that i is 1 or more
    assert holds(known, {"i": 1, "": -1})
    assert not adds_up(known, {"i": 1, "": -1})


def test_a_side_without_a_bound_does_not_hold():
    known: list[Linear] = [{"i": 1}, {"n": 1, "i": -1, "": -1}]
    assert not holds(known, {"i": -1, "": 100})
    assert holds(known, {"n": 1, "": -1})
