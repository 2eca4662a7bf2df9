"""Matching the parts of two nests, and rewriting recipes for another nest."""

from __future__ import annotations

import numpy as np
import pytest
from client_kit import (
    blocked,
    encoder,
    nests_of,
    product,
    product_permuted,
    product_transposed,
    stencil,
    text_of,
)
from hypothesis import given
from hypothesis import strategies as st

from loopbook.client import ports
from loopbook.client.fit import Fit, Refusal, Refusals, Trials
from loopbook.client.match import band, match_containers, match_loops
from loopbook.client.port import _reordering, _without_detours, port
from loopbook.client.ports import AS_IT_IS, Port, Ports, recurrences
from loopbook.errors import IllegalStepError
from loopbook.program.nest import Nest
from loopbook.recipes import Embedding, Recipe
from loopbook.rules import TuningContext
from loopbook.sdfg import frontend, program
from loopbook.steps import Step


def embedded(kernel) -> tuple[Nest, Embedding]:
    nest = nests_of(kernel)[0]
    return nest, encoder().encode(nest)


def roles(nest: Nest, names: dict[str, str], source: Nest) -> dict[str, str]:
    """Induction variable to induction variable."""

    def variable(of: Nest, name: str) -> str:
        return next(loop.indvar for loop in of.loops if loop.name == name)

    return {variable(source, a): variable(nest, b) for a, b in names.items()}


def ported(text: str, source, kernel) -> Recipe | None:
    return port(Recipe.parse(text), *embedded(source), *embedded(kernel))


def test_loops_match_by_what_they_do_not_by_where_they_stand():
    source, vectors = embedded(product)
    nest, others = embedded(product_permuted)
    found = match_loops(source, vectors, nest, others, ["L0", "L1", "L2"])
    assert found is not None
    assert roles(nest, found, source) == {"i": "row", "j": "col", "k": "mid"}


def test_containers_match_by_role():
    source, vectors = embedded(product)
    nest, others = embedded(product_permuted)
    names = [array.name for array in source.arrays]
    found = match_containers(source, vectors, nest, others, names)
    assert found is not None
    data = {c.name: c.data for c in nest.arrays}
    by_name = {c.name: c.data for c in source.arrays}
    pairs = {by_name[a]: data[b] for a, b in found.items()}
    assert pairs == {"A": "left", "B": "right", "C": "lb_out"}


def test_more_loops_than_partners_is_no_match():
    source, vectors = embedded(stencil)
    nest, others = embedded(product)
    assert len(source.loops) > len(nest.loops)
    needed = [loop.name for loop in source.loops]
    assert match_loops(source, vectors, nest, others, needed) is None


def test_a_match_never_turns_nesting_inside_out_where_loops_cannot_move():
    """The stencil's two halves must not be mixed, however the vectors look."""
    source, _ = embedded(stencil)
    random = np.random.default_rng(5)
    for _ in range(20):
        vectors = _noise(source, random)
        found = match_loops(source, vectors, source, _noise(source, random), ["L1", "L2"])
        if found is not None:
            outer = next(loop for loop in source.loops if loop.name == found["L1"])
            inner = next(loop for loop in source.loops if loop.name == found["L2"])
            assert outer in source.ancestry(inner.index)


def _noise(nest: Nest, random: np.random.Generator) -> Embedding:
    def unit(rows: int) -> np.ndarray:
        values = np.abs(random.standard_normal((rows, 8)))
        return values / np.linalg.norm(values, axis=1, keepdims=True)

    return Embedding(
        "noise",
        unit(1)[0],
        unit(len(nest.loops)),
        unit(len(nest.arrays)),
        tuple(loop.name for loop in nest.loops),
        tuple(array.name for array in nest.arrays),
    )


def test_a_band_ends_where_loops_stop_being_perfectly_nested():
    assert [loop.name for loop in band(nests_of(product)[0])] == ["L0", "L1", "L2"]
    assert [loop.name for loop in band(nests_of(stencil)[0])] == ["L0"]


def test_a_recipe_for_the_very_nest_stays_as_it_is():
    recipe = Recipe.parse(blocked())
    assert port(recipe, *embedded(product), *embedded(product)) is recipe


def test_a_recipe_for_the_permuted_nest_begins_by_restoring_the_order():
    recipe = ported(blocked(), product, product_permuted)
    assert recipe is not None
    order = [loop.indvar for loop in nests_of(product_permuted)[0].loops]
    assert order == ["col", "row", "mid"]
    assert recipe.steps[:3] == (
        Step("interchange", ("L0", "L1")),
        Step("tile", ("L1", 4)),
        Step("tile", ("L0", 32)),
    )


def test_an_interchange_that_the_nest_has_already_is_left_out():
    """The recipe wants column outside row; the permuted nest has that."""
    recipe = ported("interchange L0 L1\nparallel L1\n", product, product_permuted)
    assert recipe is not None
    assert recipe.text() == "parallel L0\n"


def test_a_nest_without_partners_gets_no_recipe():
    assert ported(blocked(), product, stencil) is None


def test_an_empty_recipe_fits_every_nest():
    assert ported("", product, stencil) == Recipe()


@given(st.permutations("abcdef"), st.permutations("abcdef"))
def test_interchanges_of_neighbours_reach_any_order(order, wanted):
    now = list(order)
    for step in _reordering(order, wanted):
        outer, inner = step.args
        place = now.index(outer)
        assert now[place + 1] == inner
        now[place], now[place + 1] = inner, outer
    assert now == wanted


def test_detours_vanish_from_the_inside_out():
    there, back = Step("interchange", ("L0", "L1")), Step("interchange", ("L1", "L0"))
    other = Step("interchange", ("L1", "L2"))
    undone = Step("interchange", ("L2", "L1"))
    assert _without_detours([there, other, undone, back]) == []
    assert _without_detours([there, other, back]) == [there, other, back]


@pytest.fixture
def trial():
    return Trials(_prepared(product))


def _prepared(kernel) -> str:
    return program.prepare(text_of(kernel)).to_json()


def test_all_of_a_good_recipe_fits(trial):
    nest = nests_of(product)[0]
    recipe = Recipe.parse(blocked())
    assert trial.fit(nest, recipe) == Fit(recipe)


def test_a_refused_refinement_is_left_out(trial):
    nest = nests_of(product)[0]
    recipe = Recipe.parse("unroll L2\n" + "interchange L1 L2\nvectorize L1\n")
    assert trial.fit(nest, recipe) == Fit(
        Recipe.parse("interchange L1 L2\nvectorize L1\n"), (Step("unroll", ("L2",)),)
    )


def test_a_refused_structure_is_an_error_and_leaves_no_trace(trial):
    nest = nests_of(product)[0]
    with pytest.raises(IllegalStepError) as caught:
        trial.fit(nest, Recipe.parse("tile L0 8\ninterchange L0 L2\n"))
    assert caught.value.position == 1
    recipe = Recipe.parse(blocked())
    assert trial.fit(nest, recipe) == Fit(recipe)


def test_recipes_that_begin_alike_fit_as_they_do_alone(trial):
    nest = nests_of(product)[0]
    texts = [
        blocked(),
        "unroll L2\ninterchange L1 L2\nvectorize L1\n",
        "unroll L2\ninterchange L1 L2\ntile L1 8\n",
        blocked() + "unroll L0*\n",
        blocked(),
    ]
    alone = [Trials(_prepared(product)).fit(nest, Recipe.parse(text)) for text in texts]
    assert [trial.fit(nest, Recipe.parse(text)) for text in texts] == alone


@pytest.mark.parametrize("kernel", [product_permuted, product_transposed])
def test_what_is_ported_is_legal_step_by_step(kernel):
    recipe = ported(blocked(), product, kernel)
    assert recipe is not None
    assert Trials(_prepared(kernel)).fit(nests_of(kernel)[0], recipe) == Fit(recipe)


def test_what_is_like_a_refused_recipe_is_covered():
    def of(text: str):
        return Recipe.parse(text.replace("; ", "\n")).steps

    refusals = Refusals()
    tried = of("tile L0 4; interchange L0 L1; parallel L0.tile")
    assert not refusals.cover(tried)
    refusals.add(tried, Refusal("step 2", position=1))
    assert refusals.cover(of("tile L0 8; interchange L0 L1; vectorize L1"))
    assert not refusals.cover(of("tile L0 8; interchange L1 L2"))
    assert not refusals.cover(of("interchange L0 L1"))
    refusals.add(of("tile L1 4; parallel L1.tile"), Refusal("", ordered=frozenset({"L1.tile"})))
    assert refusals.cover(of("tile L1 2; vectorize L1; parallel L1.tile"))
    assert not refusals.cover(of("tile L1 2; vectorize L1; single"))
    assert not refusals.cover(of("tile L1 2; mark_parallel L1.tile; parallel L1.tile")), (
        "it is proven now"
    )


def last_row(A, counts):
    for i in range(A.shape[0]):
        last = 0.0
        for j in range(A.shape[1]):
            last = A[i, j] - 0.5 * last
        counts[i] = last


def last_and_sum(A, counts):
    for i in range(A.shape[0]):
        last = 0.0
        other = 1.0
        for j in range(A.shape[1]):
            last = A[i, j] - 0.5 * last
            other = A[i, j] - 0.25 * other
        counts[i] = last + other


def nest_of_loops(kernel, *args) -> Nest:
    sdfg = program.prepare(frontend.trace(kernel, list(args)))
    return program.nests(sdfg)[0]


def test_recurrences_that_run_at_the_same_time_are_counted():
    A = np.ones((40, 50))
    assert recurrences(nest_of_loops(last_and_sum, A, np.ones(40))) == 2
    assert recurrences(nest_of_loops(last_row, A, np.ones(40))) == 1
    assert recurrences(nest_of_loops(product, *[np.ones((4, 4))] * 3)) == 0


TILE, SINK = "tile L0 8", "strip_and_sink L0 8"


@pytest.mark.parametrize(("count", "offered"), [(8, [TILE]), (1, [SINK, TILE])])
def test_no_loop_is_sunk_into_one_that_runs_enough_recurrences(monkeypatch, count, offered):
    class Told(Ports):
        def __init__(self) -> None:
            self._nest = nests_of(product)[0]

        def _renamed(self):
            for text, expected in ((SINK, 2.0), (TILE, 1.0)):
                yield Port(Recipe.parse(text), None, AS_IT_IS, expected)  # type: ignore[arg-type]

        def _refitted(self):
            yield from ()

    monkeypatch.setattr(ports, "recurrences", lambda nest: count)
    assert [one.recipe.text().strip() for one in Told().best()] == offered


def test_work_is_shared_among_threads_in_other_ways():
    class Told(Ports):
        def __init__(self, target: str) -> None:
            self._around = TuningContext(target, 8, threads=2)

        def expect(self, recipe, rule=""):
            return 0.0, None  # type: ignore[return-value]

    one = Port(Recipe.parse(f"{TILE}\nsingle"), None, AS_IT_IS, 1.0)  # type: ignore[arg-type]
    assert [other.recipe.text().strip() for other in Told("openmp").shared(one)] == [
        TILE,
        f"{TILE}\nparallel L0.tile\nsingle",
        f"{TILE}\nparallel L0\nsingle",
    ]
    assert Told("sequential").shared(one) == []
    none = Port(Recipe.parse("single"), None, AS_IT_IS, 1.0)  # type: ignore[arg-type]
    assert Told("openmp").shared(none) == []
