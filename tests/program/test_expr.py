"""Index expressions: normal forms and polynomials."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopbook.errors import SdfgError
from loopbook.program import expr

NAMES = ("i", "j", "_s0", "n")
terms = st.lists(
    st.tuples(st.integers(-9, 9), st.lists(st.sampled_from(NAMES), max_size=3)),
    min_size=1,
    max_size=5,
)
values = st.fixed_dictionaries({name: st.integers(-20, 20) for name in NAMES})


def written(parts: list[tuple[int, list[str]]]) -> str:
    return " + ".join("*".join([str(factor), *names]) for factor, names in parts)


@given(terms, st.randoms(use_true_random=False))
def test_normal_form_ignores_the_order_of_terms_and_factors(parts, shuffle: random.Random):
    mixed = [(factor, shuffle.sample(names, len(names))) for factor, names in parts]
    shuffle.shuffle(mixed)
    assert expr.normal_form(written(parts)) == expr.normal_form(written(mixed))


@given(terms)
def test_normal_form_is_the_same_for_renamed_text_renamed_back(parts):
    fresh = {name: f"zz{number}" for number, name in enumerate(reversed(NAMES))}
    back = {new: old for old, new in fresh.items()}
    text = written(parts)
    renamed = expr.substitute(text, fresh)
    assert expr.normal_form(renamed, lambda name: back[name]) == expr.normal_form(text)


@given(terms, values)
def test_polynomial_has_the_value_of_its_text(parts, assigned):
    text = written(parts)
    total = 0
    for monomial, factor in expr.polynomial(text).items():
        product = factor
        for symbol in monomial:
            product *= assigned[symbol]
        total += product
    assert total == eval(text, {}, dict(assigned))


@given(terms, terms, values)
def test_products_of_sums_are_expanded(left, right, assigned):
    text = f"({written(left)})*({written(right)})"
    expanded = expr.normal_form(text)
    assert eval(expanded, {}, dict(assigned)) == eval(text, {}, dict(assigned))


@given(terms)
def test_normal_form_of_a_normal_form_is_itself(parts):
    once = expr.normal_form(written(parts))
    assert expr.normal_form(once) == once


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("And(i < _s0, i < 4 + t)", "And(i < t + 4, i < _s0)"),
        ("__daisy_min(_s0, 4 + i)", "__daisy_min(i + 4, _s0)"),
        ("i != n", "n != i"),
        ("idiv(2 + n,2)*i", "i*idiv(n + 2, 2)"),
        ("(i + j)**2", "i*i + 2*j*i + j*j"),
        ("i - i", "0"),
    ],
)
def test_equal_meaning_gives_equal_forms(one: str, other: str):
    assert expr.normal_form(one) == expr.normal_form(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("i < n", "n < i"), ("i + j", "i - j"), ("idiv(i,2)", "idiv(2,i)"), ("i*n + j", "j*n + i")],
)
def test_other_meaning_gives_other_forms(one: str, other: str):
    assert expr.normal_form(one) != expr.normal_form(other)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "i +",
        "i j",
        "(" * 300,
        "i\0",
        "lambda: 0)",
        "i" * 30_000,
        "*".join(["(a+b+c+d+e+f+g+h)"] * 5),
        "-" * 5000 + "i",
    ],
    ids=lambda text: text[:8] or "empty",
)
def test_what_is_no_expression_is_an_sdfg_error(text: str):
    with pytest.raises(SdfgError):
        expr.normal_form(text)


def test_great_powers():
    """docc writes a product of one size as its power."""
    assert expr.polynomial("i + n**14*j") == {("i",): 1, ("j", *["n"] * 14): 1}
    assert expr.normal_form("(i + 1)**14") == expr.normal_form("(1 + i)**14")


@pytest.mark.parametrize(
    "text", ["m + 2*n", "(n + m)**9", "idiv(n + pow(m, 2), 2)", "And(m < n, n < 4 + m)", "n % m"]
)
def test_normal_forms_are_the_same_when_they_are_asked_for_again(text: str):
    for names in ({"n": "N0", "m": "N1"}, {"n": "N1", "m": "N0"}, {}) * 2:

        def rename(name: str, names: dict[str, str] = names) -> str:
            return names.get(name, name)

        assert expr.normal_form(text, rename) == expr._render(expr.parse(text), rename)
