"""Strategies on made-up landscapes: no compiler, no clock, the same every time."""

from __future__ import annotations

import sys
from collections import Counter, deque
from collections.abc import Hashable
from functools import cache
from itertools import pairwise
from math import log2
from random import Random
from statistics import median

import numpy as np
import pytest
from client_kit import chain, nests_of, product, stencil
from hypothesis import given, settings
from hypothesis import strategies as st

from loopbook.errors import InputError
from loopbook.predict.loops import LoopReader
from loopbook.recipes.recipe import Recipe
from loopbook.rules import TuningContext, seed_population
from loopbook.steps import Step
from loopbook.steps.transformer import Transformer
from loopbook.tuner.strategies import STRATEGIES, Problem, Strategy, model, population
from loopbook.tuner.strategies.editing import SIZES, edited, grafted, resized
from loopbook.tuner.strategies.explain import ALIKE, explain
from loopbook.tuner.strategies.genome import Genome, Tracer, cross, express, mutate
from loopbook.tuner.strategies.population import Population
from loopbook.tuner.strategies.ranker import GRADES, Ranker, grades

Steps = tuple[Step, ...]

AROUND = TuningContext("sequential", 8)
TRIPS = {"L0": 1000, "L1": 1000, "L2": 1000}
MARKS = ("vectorize", "unroll")
SIZES_WANTED = {0: 6, 1: 32, 2: 256}
"""Tile sizes that the made-up machine likes, by loop."""

READER = LoopReader(nests_of(product)[0], TRIPS)

TRANSFORMED = {kernel: Transformer(nests_of(kernel)[0]) for kernel in (product, stencil, chain)}

LEARNING = [name for name in STRATEGIES if name != "random"]


_EXPLAINED: dict[Hashable, Genome | None] = {}


@pytest.fixture(autouse=True)
def _explained_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Explaining a recipe takes a tenth of a second, comes to the same every time, and every search
    here does it for the same seed population."""

    def once(problem: Problem, steps: Steps) -> Genome | None:
        key = problem.nest.fingerprint, repr(problem.context), steps
        if key not in _EXPLAINED:
            _EXPLAINED[key] = explain(problem, steps)
        return _EXPLAINED[key]

    monkeypatch.setattr(population, "explain", once)


@pytest.fixture(autouse=True)
def _transformed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches of one nest propose much the same: what they find out about it they all know."""
    of = {nests_of(kernel)[0].fingerprint: one for kernel, one in TRANSFORMED.items()}
    monkeypatch.setattr(Problem, "transformed", property(lambda self: of[self.nest.fingerprint]))


@pytest.fixture(autouse=True)
def _small_pools(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every proposal of a pool is made, applied and read, which is most of what these tests take;
    fewer show as well whether the model's choice of them is any good."""
    monkeypatch.setattr(model, "POOL", 48)
    monkeypatch.setattr(model, "SURVIVORS", 10)


def problem(seed: int, kernel=product, around=AROUND, starts: tuple[Steps, ...] = ()) -> Problem:
    return Problem(nests_of(kernel)[0], around, Random(seed), starts)


def landscape(steps: Steps) -> float | None:
    """A made-up machine that likes what real ones do: contiguous accesses innermost, vectors, and a
    register tile of a certain size inside the reduction. Recipes that are too long fail."""
    if len(steps) > 30:
        return None
    path, _ = READER(TRANSFORMED[product](steps)[0]).bodies[0]
    score = {0: 1.0, 1: 4.0, 2: 2.0}[path[-1].base]
    marks = {mark: {node.base for node in path if mark in node.marks} for mark in MARKS}
    score += 1.5 * (marks["vectorize"] == {1}) + 0.5 * (marks["unroll"] == {0})
    score += 2.0 * ([node.base for node in path[-3:]] == [2, 0, 1])
    for base, wanted in SIZES_WANTED.items():
        sizes = [node.size for node in path if node.base == base and node.size]
        if sizes:
            score += 2.0 / (1 + abs(log2(sizes[0] / wanted)))
    return score - 0.05 * len(steps)


def lenient(steps: Steps) -> Steps:
    """A stand-in for docc: loops must have been made, skewing and wide tiles are refused."""
    loops, left = {"L0", "L1", "L2", "L3", "L4"}, []
    for step in steps:
        names = [str(a).rstrip("*") for a in step.args if str(a).startswith("L")]
        wide = step.op == "tile" and int(step.args[1]) > 256
        if step.op == "skew" or wide or not loops.issuperset(names):
            continue
        if step.op == "tile":
            loops.add(f"{names[0]}.tile")
        left.append(step)
    return tuple(left)


def search(strategy: Strategy, trials: int) -> list[tuple[Steps, float | None]]:
    told = []
    for _ in range(trials):
        steps = lenient(strategy.ask())
        told.append((steps, landscape(steps)))
        strategy.tell(*told[-1])
    return told


@cache
def best(name: str, seed: int, trials: int) -> float:
    return max(score or 0.0 for _, score in search(STRATEGIES[name](problem(seed)), trials))


@pytest.mark.parametrize("name", LEARNING)
def test_what_learns_beats_random_search(name):
    gains = [best(name, seed, 70) - best("random", seed, 70) for seed in range(3)]
    assert median(gains) > 0, gains


def test_neighbours_recipes_save_trials():
    """The more alike to a secret recipe, the faster; a neighbour's is, and none of the seed
    population is."""
    known = seed_population(nests_of(product)[0], AROUND)
    pairs = [express(problem(0), Random(seed)) for seed in range(60)]
    secret, genome = min(
        (pair for pair in pairs if len(pair[0]) > 5),
        key=lambda pair: max(alike(pair[0], seed) for seed in known),
    )
    relatives = (express(problem(0), Random(s), mutate(genome, Random(s), 3))[0] for s in range(60))
    near = next(steps for steps in relatives if 0.5 < alike(steps, secret) < 0.85)

    def nearest(starts: tuple[Steps, ...], seed: int) -> float:
        strategy, best = STRATEGIES["transfer"](problem(seed, starts=starts)), 0.0
        for _ in range(25):
            steps = strategy.ask()
            best = max(best, alike(steps, secret))
            strategy.tell(steps, 1 + alike(steps, secret))
        return best

    seeded = median(nearest((near,), seed) for seed in range(3))
    assert seeded > median(nearest((), seed) for seed in range(3))


def alike(steps: Steps, others: Steps) -> float:
    """Share of steps that two recipes have in common."""
    if not steps and not others:
        return 1.0
    common = Counter(steps) & Counter(others)
    return 2 * common.total() / (len(steps) + len(others))


def test_transfer_asks_for_neighbours_recipes_first_and_once():
    starts = ((Step("tile", ("L0", 32)),), (Step("tile", ("L1", 32)),), (Step("tile", ("L0", 32)),))
    strategy = STRATEGIES["transfer"](problem(0, starts=starts))
    asked = [steps for steps, _ in search(strategy, 40)]
    assert asked[:2] == list(starts[:2])
    assert asked.count(starts[0]) == 1


@pytest.mark.parametrize("name", STRATEGIES)
def test_the_seed_population_comes_first_and_the_seed_decides_the_rest(name):
    first = search(STRATEGIES[name](problem(1)), 40)
    assert first == search(STRATEGIES[name](problem(1)), 40)
    assert first != search(STRATEGIES[name](problem(2)), 40)
    known = [lenient(steps) for steps in seed_population(nests_of(product)[0], AROUND)]
    assert [steps for steps, _ in first[: len(known)]] == known


@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize("kernel", [product, stencil, chain])
@pytest.mark.parametrize("target", ["sequential", "openmp"])
def test_all_that_is_asked_is_a_recipe(name, kernel, target):
    strategy = STRATEGIES[name](problem(3, kernel, TuningContext(target, 4, trips={"L0": 40})))
    for number in range(34):
        steps = strategy.ask()
        assert Recipe.parse(Recipe(steps).text()) == Recipe(steps)
        strategy.tell(lenient(steps), None if number % 7 == 6 else 1.0 + number % 5)


@pytest.mark.parametrize("name", LEARNING)
def test_asking_ahead_and_telling_out_of_order(name):
    strategy = STRATEGIES[name](problem(5))
    under_way: deque[Steps] = deque()
    random, asked = Random(0), []
    for _ in range(80):
        while len(under_way) < 5:
            under_way.append(strategy.ask())
            asked.append(under_way[-1])
        place = random.randrange(5)
        steps = lenient(under_way[place])
        del under_way[place]
        strategy.tell(steps, landscape(steps))
    assert len(set(asked)) == len(asked), "nothing is asked twice, also while it is under way"
    assert max(landscape(lenient(steps)) or 0 for steps in asked) > 6


@pytest.mark.parametrize("name", LEARNING)
def test_a_search_that_is_only_told_goes_on_from_there(name):
    told = search(STRATEGIES[name](problem(6)), 40)
    resumed = STRATEGIES[name](problem(7))
    for steps, speedup in told:
        resumed.tell(steps, speedup)
    more = search(resumed, 24)
    known = {steps for steps, _ in told}
    assert sum(steps in known for steps, _ in more) < 15, "docc may make the same of other steps"
    assert max(s or 0 for _, s in more) > max(s or 0 for _, s in told) - 0.5


@pytest.mark.parametrize("name", STRATEGIES)
def test_failures_alone_stop_no_search(name):
    strategy = STRATEGIES[name](problem(0))
    for _ in range(40):
        strategy.tell(strategy.ask(), None)
    assert isinstance(strategy.ask(), tuple)


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_nest_of_which_docc_refuses_everything_stops_no_search(name):
    strategy = STRATEGIES[name](problem(0))
    for _ in range(30):
        strategy.ask()
        strategy.tell((), 1.0)


# -- what a search remembers ----------------------------------------------------------------------

A, B, C = (Step("tile", (loop, 8)) for loop in ("L0", "L1", "L2"))


def test_what_docc_refused_once_is_not_asked_again():
    population = Population(problem(0))
    population.ask((A, B, C))
    population.tell((A, C), 2.0)
    assert population.accepted((A, B, C)) == (A, C)
    assert population.knows((A, B, C))
    assert population.knows((A, B, B, C))
    assert population.accepted((B, A)) == (B, A), "after other steps docc may decide otherwise"
    assert not population.knows((B, A))


def test_nothing_is_learnt_from_a_result_of_unknown_origin():
    population = Population(problem(0))
    population.ask((A, B))
    population.ask((A, C))
    population.tell((A,), 2.0)
    assert population.accepted((A, B)) == (A, B)
    assert population.accepted((A, C)) == (A, C)


def test_results_find_the_proposal_that_they_came_from():
    population = Population(problem(0))
    genomes = [express(problem(seed), Random(seed))[1] for seed in range(2)]
    population.ask((A, B), genomes[0])
    population.ask((B, C), genomes[1])
    assert population.tell((B, C), 1.0).genome == genomes[1]
    assert population.tell((A,), 3.0).genome == genomes[0]
    assert population.tell((C,), 2.0).genome is None
    assert [i.steps for i in population.best(2)] == [(A,), (C,)]
    population.tell((C,), None)
    assert population.best(2)[1].speedup == 2.0
    assert population.trials == 4
    population.tell((B,), 2.001)
    assert [i.steps for i in population.best(9)] == [(A,), (B,), (B, C)], "one of equally fast ones"


def test_telling_what_was_told_before_gives_the_same_population():
    first, again = Population(problem(0)), Population(problem(0))
    for steps, speedup in search(STRATEGIES["genetic"](problem(8)), 40):
        first.ask(steps)
        first.tell(steps, speedup)
        again.tell(steps, speedup)
    assert first.best(99) == again.best(99)


# -- genomes --------------------------------------------------------------------------------------


@given(st.integers(0, 2**32), st.integers(0, 2**32))
def test_a_genome_makes_its_recipe_again_whatever_is_drawn_besides(seed, other):
    for kernel in (product, stencil):
        steps, genome = express(problem(0, kernel), Random(seed))
        assert express(problem(0, kernel), Random(other), genome) == (steps, genome)


@given(st.lists(st.integers(0, 2**32), min_size=1, max_size=3), st.integers(0, 2**32))
def test_children_have_only_their_parents_genes(seeds, seed):
    parents = [express(problem(0, stencil), Random(s))[1] for s in seeds]
    child = cross(parents, Random(seed))
    assert set(child) == {locus for parent in parents for locus in parent}
    assert all(gene in [p.get(locus) for p in parents] for locus, gene in child.items())
    if len(seeds) == 1:
        assert child == parents[0]


@given(st.integers(0, 2**32), st.integers(0, 2**32))
def test_mutants_differ_in_one_gene_and_can_be_expressed(seed, other):
    genome = express(problem(0), Random(seed))[1]
    mutant = mutate(genome, Random(other))
    assert set(mutant) == set(genome)
    assert sum(mutant[locus] != genome[locus] for locus in genome) <= 1
    Recipe(express(problem(0), Random(other), mutant)[0])


@given(st.integers(0, 2**32), st.integers(1, 20))
def test_a_tracer_draws_as_random_does(seed, size):
    tracer = Tracer(Random(seed), {})
    values = list(range(size))
    assert tracer.choice(values) in values
    assert 0 <= tracer.random() < 1
    assert 3 <= tracer.randint(3, 3 + size) <= 3 + size
    assert tracer.randrange(0, 2 * size, 2) in range(0, 2 * size, 2)
    assert sorted(tracer.sample(values, size)) == values
    shuffled = list(values)
    tracer.shuffle(shuffled)
    assert sorted(shuffled) == values
    assert tracer.choices(values, [0.0] * (size - 1) + [1.0]) == [size - 1]
    assert len(tracer.genome) == 7


def test_the_draws_of_a_move_belong_to_it():
    def one(tracer: Tracer) -> int:
        return tracer.choice(range(4))

    def other(tracer: Tracer) -> int:
        return tracer.choice(range(4))

    tracer = Tracer(Random(0), {})
    drawn = [tracer.choice([move])(tracer) for move in (one, other, one)]
    scopes = {locus.scope: gene for locus, gene in tracer.genome.items()}
    inside = [scopes[(1, "one")], scopes[(2, "other")], scopes[(3, "one")]]
    assert len(tracer.genome) == 6
    assert {locus.scope for locus in tracer.genome} >= {(1, "one"), (2, "other"), (3, "one")}
    assert len(drawn) == len(inside)


@given(st.integers(0, 2**32))
@settings(max_examples=12, deadline=None)
def test_recipes_from_elsewhere_are_explained_by_our_rules(seed):
    steps, _ = express(problem(0), Random(seed))
    genome = explain(problem(0), steps)
    if genome is not None:
        assert alike(express(problem(0), Random(0), genome)[0], steps) >= ALIKE


def test_the_seed_population_is_explained():
    known = seed_population(nests_of(product)[0], AROUND)
    genomes = [explain(problem(0), steps) for steps in known]
    found = [
        express(problem(0), Random(0), genome)[0] == steps
        for genome, steps in zip(genomes, known, strict=True)
        if genome is not None
    ]
    assert sum(found) >= 0.6 * len(known)


def test_what_no_move_makes_is_not_explained():
    odd = tuple(Step("tile", (f"L{n}", 7)) for n in range(3)) * 2
    assert explain(problem(0), odd) is None


# -- editing --------------------------------------------------------------------------------------


@given(st.integers(0, 2**32), st.sampled_from([2, 5, 32, 2048, 2**20]))
def test_sizes_change_to_usual_ones_nearby(seed, size):
    changed = resized(Step("tile", ("L0", size)), Random(seed))
    assert changed.args[0] == "L0"
    assert changed.args[1] in SIZES
    assert changed.args[1] != size


@given(st.integers(0, 2**32))
def test_edited_recipes_are_recipes(seed):
    random = Random(seed)
    steps = express(problem(0, stencil), random)[0]
    assert edited(problem(0, stencil), steps, random) is not None
    Recipe(edited(problem(0, stencil), steps, random))


def test_grafting_takes_the_steps_of_whole_chains():
    nest = nests_of(stencil)[0]
    first = (Step("tile", ("L1", 8)), Step("tile", ("L3", 8)), Step("parallel", ("L1",)))
    second = (Step("tile", ("L1", 16)), Step("tile", ("L3", 16)))
    children = {grafted(nest, first, second, Random(seed)) for seed in range(30)}
    sizes = {
        tuple(step.args[1] for step in sorted(child) if step.op == "tile") for child in children
    }
    assert sizes == {(8, 8), (8, 16), (16, 8), (16, 16)}
    assert all(child[-1].op == "parallel" for child in children if first[2] in child)


# -- the model ------------------------------------------------------------------------------------


def test_the_ranker_learns_an_order():
    random = np.random.default_rng(0)
    rows = random.random((120, 8)).astype(np.float32)
    speedups = 2 ** (3 * rows[:, 2] - 2 * rows[:, 5])
    ranker = Ranker(0)
    assert not ranker.scores(rows).any()
    ranker.fit(rows[:80], list(speedups[:80]))
    scores, truth = ranker.scores(rows[80:]), speedups[80:]
    agree = np.sign(scores[:, None] - scores) == np.sign(truth[:, None] - truth)
    assert agree.mean() > 0.8
    assert np.array_equal(scores, ranker.scores(rows[80:]))


def test_the_ranker_bears_failures_and_few_samples():
    ranker = Ranker(0)
    ranker.fit(np.zeros((1, 3), np.float32), [0.0])
    assert np.isfinite(ranker.scores(np.ones((2, 3), np.float32))).all()
    assert ranker.scores(np.empty((0, 3), np.float32)).shape == (0,)


@given(st.lists(st.floats(0, 1e6), max_size=30))
def test_grades_follow_speedups(speedups):
    graded = grades(speedups)
    assert all(0 <= grade < GRADES for grade in graded)
    order = sorted(range(len(speedups)), key=lambda place: speedups[place])
    assert all(graded[a] <= graded[b] for a, b in pairwise(order))
    assert all((grade == 0) == (value == 0) for grade, value in zip(graded, speedups, strict=True))


def test_without_lightgbm_the_model_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(InputError, match=r"pip install 'loopbook\[tune\]'"):
        STRATEGIES["model"](problem(0))
    STRATEGIES["genetic"](problem(0))
