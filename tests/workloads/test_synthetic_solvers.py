"""Synthetic closures, intervals and factorisations compute what their names say."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from loopbook.workloads import synthetic
from loopbook.workloads.synthetic.families import closure, factorisation, interval

pytestmark = pytest.mark.apart

SIZES = {"NI": 13, "NJ": 14}


def ran(name: str) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """The arrays before and after a run in Python."""
    workload = synthetic.load(name)
    sizes = {size: n for size, n in SIZES.items() if size in workload.parameters["S"]}
    before, after = (workload.arguments("S", sizes) for _ in range(2))
    workload.kernel(*after)
    code = workload.kernel.__code__
    names = code.co_varnames[: code.co_argcount]
    return dict(zip(names, before, strict=True)), dict(zip(names, after, strict=True))


def factored(pattern: str, turned: str = "0") -> tuple[dict, dict]:
    return ran(f"factorisation.{pattern}.{turned}.divided.element.f8.same")


def symmetric(lower: np.ndarray) -> np.ndarray:
    return np.tril(lower) + np.tril(lower, -1).T


@pytest.mark.parametrize("pattern", ["luouter", "luturned", "lucolumns", "ulouter", "crout"])
def test_lu_factors_multiply_to_the_matrix(pattern: str) -> None:
    before, after = factored(pattern)
    factors, one = after["A"], np.eye(SIZES["NI"])
    if pattern == "ulouter":
        product_ = (np.triu(factors, 1) + one) @ np.tril(factors)
    elif pattern == "crout":
        product_ = np.tril(factors) @ (np.triu(factors, 1) + one)
    else:
        product_ = (np.tril(factors, -1) + one) @ np.triu(factors)
    np.testing.assert_allclose(product_, before["A"])


@pytest.mark.parametrize("pattern", ["cholouter", "cholcolumns", "choldots", "cholback"])
def test_cholesky_factors_multiply_to_the_matrix(pattern: str) -> None:
    before, after = factored(pattern, "A" if pattern == "cholback" else "0")
    given, factor = (arrays["A"] for arrays in (before, after))
    factor = np.tril(factor)
    product_ = factor.T @ factor if pattern == "cholback" else factor @ factor.T
    np.testing.assert_allclose(product_, symmetric(given))


@pytest.mark.parametrize("pattern", ["ldlouter", "ldlrows", "ldlleft"])
def test_ldl_factors_multiply_to_the_matrix(pattern: str) -> None:
    before, after = factored(pattern)
    lower = np.tril(after["A"], -1) + np.eye(SIZES["NI"])
    np.testing.assert_allclose(lower * after["d"] @ lower.T, symmetric(before["A"]))


@pytest.mark.parametrize("pattern", ["modified", "classical"])
def test_columns_become_orthogonal(pattern: str) -> None:
    before, after = factored(pattern)
    np.testing.assert_allclose(after["Q"].T @ after["Q"], np.eye(SIZES["NJ"]), atol=1e-10)
    rest = before["Q"] - after["Q"] @ (after["Q"].T @ before["Q"])
    np.testing.assert_allclose(rest, 0, atol=1e-10)


@pytest.mark.parametrize(
    ("pattern", "side"),
    [
        ("forward", np.tril),
        ("forwardcolumns", np.tril),
        ("backward", np.triu),
        ("backwardcolumns", np.triu),
        ("leftmany", np.tril),
        ("leftouter", np.tril),
        ("leftmanyback", np.triu),
        ("rightmany", np.tril),
        ("rightouter", np.tril),
    ],
)
def test_substitution_solves_the_system(pattern: str, side) -> None:
    before, after = factored(pattern)
    (name,) = before.keys() & set("xBC")
    right, solution = before[name], after["w" if pattern.endswith("columns") else name]
    if name == "C":
        right, solution = right.T, solution.T
    np.testing.assert_allclose(side(before["A"]) @ solution, right)


def test_triangles_are_inverted() -> None:
    before, after = factored("invertrows")
    lower = np.tril(before["A"])
    np.testing.assert_allclose(np.tril(after["G"]) @ lower, np.eye(SIZES["NI"]), atol=1e-12)


def test_all_ways_to_write_a_factorisation_agree() -> None:
    for pattern, sums in product(factorisation.PATTERNS, ("element", "scalar")):
        name = f"factorisation.{pattern}.0.divided.{sums}.f8.same"
        if sums in factorisation.FAMILY.fields["sums"]({"pattern": pattern}):  # type: ignore[operator]
            expected = factored(pattern)[1]
            for array, values in ran(name)[1].items():
                np.testing.assert_allclose(values, expected[array], rtol=1e-10)


@pytest.mark.parametrize("copies", ["none", "i", "j", "both", "pivot"])
def test_closures_find_the_shortest_paths(copies: str) -> None:
    before, after = ran(f"closure.minplus.direct.branch.{copies}.none.one.ij.given.f8.same")
    best = before["M"]
    for _ in range(5):  # paths of up to 32 edges
        best = np.minimum(best, (best[:, :, None] + best[None, :, :]).min(axis=1))
    np.testing.assert_allclose(after["M"], best)
    assert np.sum(after["M"] < before["M"]) > 0.5 * best.size


def test_both_forms_of_a_closure_agree() -> None:
    for semiring in closure.SEMIRINGS:
        forms = closure.FAMILY.fields["form"]({"semiring": semiring})  # type: ignore[operator]
        results = [
            ran(f"closure.{semiring}.rows.{form}.j.toll.many.ij.given.f8.same")[1]["M"]
            for form in forms
        ]
        np.testing.assert_allclose(results[0], results[-1])


@pytest.mark.parametrize("kind", interval.KINDS)
def test_the_table_may_be_filled_in_any_order(kind: str) -> None:
    expected = None
    for fill, way, sums in product(interval.FILLS, ("up", "down"), ("element", "scalar")):
        name = f"interval.{kind}.apart.two.none.pair.upper.{fill}.{way}.{sums}.given.f8.same"
        table = ran(name)[1]["T"]
        expected = table if expected is None else expected
        np.testing.assert_allclose(table, expected)
