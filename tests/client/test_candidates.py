"""In which order the ports of a nest are tried."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from loopbook.client.candidates import Candidates
from loopbook.client.fit import Fit
from loopbook.predict.cost_model import Prediction
from loopbook.recipes.recipe import Recipe

TILES = "tile L0 32\ntile L1 32\ninterchange L0 L1.tile"
LARGER = "tile L0 64\ntile L1 64\ninterchange L0 L1.tile"
STRIPS = "strip_and_sink L0 16"
PROMISES = {TILES: 2.0, LARGER: 1.9, STRIPS: 1.6, "tile L0 8": 1.1}
WAYS = ("parallel L0.tile\nsingle", "single")


def candidates(promises: dict[str, float]) -> Candidates:
    """Of recipes that promise so much; ports are known by nothing but their recipes here."""

    def port(recipe: Recipe) -> Any:
        return SimpleNamespace(recipe=recipe)

    def estimator(ports: Any, dropped: int = 0, after: Any = None) -> list[Prediction]:
        told = [(after or promises)[one.recipe.text().strip()] for one in ports]
        return [Prediction(speedup, lower=speedup) for speedup in told]

    found = [port(Recipe.parse(text)) for text in promises]
    ports: Any = SimpleNamespace(
        best=lambda: found,
        changed=lambda _, recipe: port(recipe),
        shared=lambda one: [port(Recipe.parse(f"{one.recipe.text()}\n{way}")) for way in WAYS],
    )
    asked: Any = estimator
    return Candidates(ports, asked)


def text(made: Candidates, *beside: str) -> str:
    best = made.best([Recipe.parse(one) for one in beside])
    assert best is not None
    return best.port.recipe.text().strip()


def test_the_most_promising_comes_first():
    made = candidates(PROMISES)
    assert [text(made) for _ in PROMISES] == list(PROMISES)
    assert made.best() is None


def test_threads_are_shared_out_in_other_ways_once():
    made = candidates({TILES: 2.0})
    tried = made.best()
    assert tried is not None
    after: Any = {f"{TILES}\n{way}".strip(): 2.0 for way in ("", *WAYS)}
    made.add(tried, Fit(tried.port.recipe, after=after))
    served = made.best()
    assert served is not None
    others = made.shared(served)
    assert [one.port.recipe.text().strip() for one in others] == [f"{TILES}\n{w}" for w in WAYS]
    for one in others:
        made.add(one, Fit(one.port.recipe, after=after))
    left = [made.best() for _ in range(3)]
    assert all(one is not None and one.legal and not made.shared(one) for one in left)
    assert made.best() is None


def test_beside_a_recipe_something_else_is_measured():
    made = candidates(PROMISES)
    first = text(made)
    assert text(made, first) == STRIPS
    assert text(made, first, STRIPS) == LARGER


def test_much_more_promise_outweighs_novelty():
    made = candidates({TILES: 20.0, LARGER: 19.0, STRIPS: 2.0})
    first = text(made)
    assert text(made, first) == LARGER


def test_what_loses_steps_comes_when_its_new_promise_says_so():
    refused, kept = "stage L0 A0 in", "tile L0 32"
    made = candidates({f"{refused}\n{kept}": 2.0, STRIPS: 1.5, kept: 1.2})
    tried = made.best()
    assert tried is not None
    made.add(tried, Fit(Recipe.parse(kept), Recipe.parse(refused).steps))
    assert text(made) == STRIPS
    assert text(made) == kept
    assert made.best() is None  # the same recipe is not there twice


def test_what_promises_less_once_it_is_tried_lets_others_go_first():
    made = candidates(PROMISES)
    tried = made.best()
    assert tried is not None
    after: Any = {TILES: 1.7}  # what the tree after it is worth
    made.add(tried, Fit(tried.port.recipe, after=after))
    assert text(made) == LARGER
    again = made.best()
    assert again is not None
    assert again.legal
    assert again.estimate.speedup == 1.7


def test_when_no_more_is_to_be_tried_only_what_was_tried_is_left():
    made = candidates(PROMISES)
    tried = made.best()
    assert tried is not None
    after: Any = {TILES: 1.2}
    made.add(tried, Fit(tried.port.recipe, after=after))
    left = made.best(tried=True)
    assert left is not None
    assert left.port.recipe == tried.port.recipe
    assert made.best(tried=True) is None
    assert text(made) == LARGER
