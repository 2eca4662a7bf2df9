"""The kinds of recipes that there are, each as something that can be built on any nest it fits.

A neighbour's recipe tells which kind pays. Its steps may make no sense on another nest, where loops
hold other loops; the move that makes such steps does, or says that it has nothing for this nest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import wraps
from random import Random

from loopbook.moves.base import Move, Steps, Surroundings, step
from loopbook.moves.chains import chains
from loopbook.moves.draws import Draws, best_draws
from loopbook.moves.factor import factor_tiles
from loopbook.moves.fission import pushed_on, right_looking
from loopbook.moves.jamming import jam
from loopbook.moves.orders import leave, stride_one
from loopbook.moves.pivots import pivot_cuts
from loopbook.moves.reductions import accumulate
from loopbook.moves.registers import packed_tiles, register_tiles
from loopbook.moves.separation import separate
from loopbook.moves.staircase import staircase
from loopbook.moves.strips import strips_at
from loopbook.moves.threads import one_thread, shares
from loopbook.moves.tiling import cache_tiles, strip_mine, unroll_and_jam
from loopbook.moves.timetiling import fitted_time_tiles, time_tiles
from loopbook.moves.triangular import triangle, triangular_tiles
from loopbook.moves.wavefront import wavefront
from loopbook.moves.whole import NestMove, combine
from loopbook.program.nest import Nest
from loopbook.recipes.likeness import apart, likeness
from loopbook.steps import Step

Built = tuple[Step, ...]

RARE = {
    "separate": "expand",
    "factor_tiles": "push",
    "right_looking": "push",
    "pivot_cuts": "straighten",
    "pushed": "push",
    "triangular_tiles": "block",
    "wavefront": "wavefront",
}
"""Kinds that few nests fit, with the step that gives such a recipe away. That two nests fit one of
these says much about how alike they are."""

SIZES_MATTER = 0.2
"""How much parameters that are far away count against likeness."""


@dataclass(frozen=True)
class Kind:
    """One kind of recipe.

    Attributes:
        name: of the move behind it.
        build: the recipe for a nest with some draws; empty where the kind does not fit the nest.
        fitted: recipes whose parameters follow from the nest and the caches; most kinds have none.
    """

    name: str
    build: Callable[[Nest, Random, Surroundings], Built]
    fitted: Callable[[Nest, Surroundings], list[Steps]] | None = None

    def first(self, nest: Nest, around: Surroundings) -> Built:
        """One recipe of this kind, fitted or with the usual parameters; empty if there is none."""
        if self.fitted is not None:
            found = self.fitted(nest, around)
            return tuple(found[0]) if found else ()
        return self.build(nest, Draws(), around)

    def like(self, steps: Built, nest: Nest, around: Surroundings) -> Built:
        """The recipe of this kind that is most like `steps`."""

        def alike(made: Built) -> float:
            return likeness(made, steps) - SIZES_MATTER * apart(made, steps)

        return best_draws(lambda draws: self.build(nest, draws, around), alike)


def kinds(nest: Nest) -> Iterator[Kind]:
    """The kinds that may fit a nest, those that fit few nests first."""
    yield from _OF_NESTS
    found = chains(nest)
    if any(triangle(chain) or staircase(chain) for chain in found):
        yield _OF_TRIANGLES
    if any(len(chain.loops) > 2 for chain in found):
        yield from _OF_PRODUCTS
    yield from _OF_CHAINS


Firsts = dict[Kind, Built]
"""The kinds that can be built for a nest, each with its first recipe."""


def firsts(nest: Nest, around: Surroundings) -> Firsts:
    """What can be built for a nest, in the order of `kinds`."""
    made = {kind: kind.first(nest, around) for kind in kinds(nest)}
    return {kind: steps for kind, steps in made.items() if steps}


def fitting(nest: Nest, around: Surroundings) -> frozenset[str]:
    """Names of the kinds that can be built for a nest."""
    return names(firsts(nest, around))


def names(built: Iterable[Kind]) -> frozenset[str]:
    return frozenset(kind.name for kind in built)


def with_threads(steps: Built, around: Surroundings) -> list[Built]:
    """The recipe for the target: itself, and for OpenMP, where it says nothing of threads, variants
    that do. Which of them is like a neighbour's shows whether that has threads."""
    return [steps, *shares(steps, around)]


def _on_chains(move: Move) -> Kind:
    def build(nest: Nest, random: Random, around: Surroundings) -> Built:
        return combine(nest, lambda: move, random, around)

    return Kind(_name(move), build)


def _on_nest(
    move: NestMove,
    fitted: Callable[[Nest, Surroundings], list[Steps]] | None = None,
    name: str = "",
) -> Kind:
    def build(nest: Nest, random: Random, around: Surroundings) -> Built:
        return tuple(move(nest, random, around))

    return Kind(name or _name(move), build, fitted)


def _name(move: Callable[..., object]) -> str:
    return getattr(move, "__name__", "")


def _serial(move: NestMove, loops: int) -> NestMove:
    """The move for nests of which so many loops, from the outermost one, run in order."""

    @wraps(move)
    def moved(nest: Nest, random: Random, around: Surroundings) -> Steps:
        in_order = all(loop.kind == "for" for loop in nest.loops[:loops])
        return move(nest, random, around) if in_order else []

    return moved


def pushed(nest: Nest, random: Random, around: Surroundings) -> Steps:
    """Results pushed on as soon as they are final, in long strips, and nothing else."""
    steps, found = pushed_on(nest)
    return steps + [step("tile", loops[-1], 512) for loops, _ in found]


def _stencil(nest: Nest, around: Surroundings) -> list[Steps]:
    return fitted_time_tiles(nest, around) if nest.loops[0].kind == "for" else []


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
_OF_TRIANGLES = _on_chains(triangular_tiles)
_OF_PRODUCTS = tuple(map(_on_chains, (packed_tiles, register_tiles)))
_OF_CHAINS = tuple(
    map(_on_chains, (stride_one, accumulate, jam, unroll_and_jam, strip_mine, cache_tiles, leave))
)

NAMES = tuple(kind.name for kind in (*_OF_NESTS, _OF_TRIANGLES, *_OF_PRODUCTS, *_OF_CHAINS))
"""Of all kinds."""
