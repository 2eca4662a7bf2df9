"""The schedule rules that there are, each as something that can be built on any nest it fits.

A neighbour's recipe tells which rule pays. Its steps may make no sense on another nest, where loops
hold other loops; the rule that makes such steps does, or says that it has nothing for this nest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import wraps
from random import Random

from loopbook.program.nest import Nest
from loopbook.recipes.similarity import similarity, size_distance
from loopbook.rules.bands import bands
from loopbook.rules.base import BandRule, Steps, TuningContext, step
from loopbook.rules.decisions import SampledDecisions, best_decisions
from loopbook.rules.factor import factor_tiles
from loopbook.rules.fission import pushed_on, right_looking
from loopbook.rules.jamming import jam
from loopbook.rules.orders import leave, stride_one
from loopbook.rules.pivots import pivot_cuts
from loopbook.rules.reductions import accumulate
from loopbook.rules.registers import packed_tiles, register_tiles
from loopbook.rules.sampled import NestRule
from loopbook.rules.separation import separate
from loopbook.rules.space import combine
from loopbook.rules.staircase import staircase
from loopbook.rules.strips import strips_at
from loopbook.rules.threads import one_thread, shares
from loopbook.rules.tiling import cache_tiles, strip_mine, unroll_and_jam
from loopbook.rules.timetiling import fitted_time_tiles, time_tiles
from loopbook.rules.triangular import triangle, triangular_tiles
from loopbook.rules.wavefront import wavefront
from loopbook.steps import Step

Built = tuple[Step, ...]

RARE = {
    "separate": "expand",
    "factor_tiles": "right_looking",
    "right_looking": "right_looking",
    "pivot_cuts": "if_convert",
    "pushed": "right_looking",
    "triangular_tiles": "block",
    "wavefront": "wavefront",
}
"""Rules that few nests fit, with the step that gives such a recipe away. That two nests fit one of
these says much about how alike they are."""

SIZES_MATTER = 0.2
"""How much parameters that are far away count against similarity."""


@dataclass(frozen=True)
class ScheduleRule:
    """What makes one sort of recipe.

    Attributes:
        name: of the function behind it.
        build: the recipe for a nest with some sampled decisions; empty where the rule does not fit
            the nest.
        fitted: recipes whose parameters follow from the nest and the caches; most rules have none.
    """

    name: str
    build: Callable[[Nest, Random, TuningContext], Built]
    fitted: Callable[[Nest, TuningContext], list[Steps]] | None = None

    def first(self, nest: Nest, context: TuningContext) -> Built:
        """One recipe by this rule, fitted or with the usual parameters; empty if there is none."""
        if self.fitted is not None:
            found = self.fitted(nest, context)
            return tuple(found[0]) if found else ()
        return self.build(nest, SampledDecisions(), context)

    def like(self, steps: Built, nest: Nest, context: TuningContext) -> Built:
        """The recipe by this rule that is most like `steps`."""

        told: dict[Built, float] = {}

        def alike(made: Built) -> float:
            if made not in told:  # many decisions come to the same
                apart = size_distance(made, steps)
                told[made] = similarity(made, steps) - SIZES_MATTER * apart
            return told[made]

        return best_decisions(lambda decisions: self.build(nest, decisions, context), alike)


def candidate_rules(nest: Nest) -> Iterator[ScheduleRule]:
    """The rules that may fit a nest, those that fit few nests first."""
    yield from _OF_NESTS
    found = bands(nest)
    if any(triangle(band) or staircase(band) for band in found):
        yield _OF_TRIANGLES
    if any(len(band.loops) > 2 for band in found):
        yield from _OF_PRODUCTS
    yield from _OF_BANDS


Firsts = dict[ScheduleRule, Built]
"""The rules that can be built for a nest, each with its first recipe."""


def firsts(nest: Nest, context: TuningContext) -> Firsts:
    """What can be built for a nest, in the order of `candidate_rules`."""
    made = {rule: rule.first(nest, context) for rule in candidate_rules(nest)}
    return {rule: steps for rule, steps in made.items() if steps}


def applicable(nest: Nest, context: TuningContext) -> frozenset[str]:
    """Names of the rules that can be built for a nest."""
    return names(firsts(nest, context))


def names(built: Iterable[ScheduleRule]) -> frozenset[str]:
    return frozenset(rule.name for rule in built)


def with_threads(steps: Built, context: TuningContext) -> list[Built]:
    """The recipe for the target: itself, and for OpenMP, where it says nothing of threads, variants
    that do. Which of them is like a neighbour's shows whether that has threads."""
    return [steps, *shares(steps, context)]


def _on_bands(rule: BandRule) -> ScheduleRule:
    def build(nest: Nest, random: Random, context: TuningContext) -> Built:
        return combine(nest, lambda: rule, random, context)

    return ScheduleRule(_name(rule), build)


def _on_nest(
    rule: NestRule,
    fitted: Callable[[Nest, TuningContext], list[Steps]] | None = None,
    name: str = "",
) -> ScheduleRule:
    def build(nest: Nest, random: Random, context: TuningContext) -> Built:
        return tuple(rule(nest, random, context))

    return ScheduleRule(name or _name(rule), build, fitted)


def _name(rule: Callable[..., object]) -> str:
    return getattr(rule, "__name__", "")


def _serial(rule: NestRule, loops: int) -> NestRule:
    """The rule for nests of which so many loops, from the outermost one, run in order."""

    @wraps(rule)
    def made(nest: Nest, random: Random, context: TuningContext) -> Steps:
        in_order = all(loop.kind == "for" for loop in nest.loops[:loops])
        return rule(nest, random, context) if in_order else []

    return made


def pushed(nest: Nest, random: Random, context: TuningContext) -> Steps:
    """Results pushed on as soon as they are final, in long strips, and nothing else."""
    steps, found = pushed_on(nest)
    return steps + [step("tile", loops[-1], 512) for loops, _ in found]


def _stencil(nest: Nest, context: TuningContext) -> list[Steps]:
    return fitted_time_tiles(nest, context) if nest.loops[0].kind == "for" else []


_OF_NESTS = (
    _on_nest(separate),
    _on_nest(factor_tiles),
    _on_nest(right_looking),
    _on_nest(pushed),
    _on_nest(pivot_cuts),
    _on_nest(_serial(time_tiles, 1), _stencil),
    _on_nest(_serial(wavefront, 3)),
    _on_nest(strips_at(0), name="strips of outermost loops"),
    _on_nest(strips_at(1), name="strips of second loops"),
    _on_nest(one_thread),
)
_OF_TRIANGLES = _on_bands(triangular_tiles)
_OF_PRODUCTS = tuple(map(_on_bands, (packed_tiles, register_tiles)))
_OF_BANDS = tuple(
    map(_on_bands, (stride_one, accumulate, jam, unroll_and_jam, strip_mine, cache_tiles, leave))
)

NAMES = tuple(rule.name for rule in (*_OF_NESTS, _OF_TRIANGLES, *_OF_PRODUCTS, *_OF_BANDS))
"""Of all rules, as cost models' weights know them."""
