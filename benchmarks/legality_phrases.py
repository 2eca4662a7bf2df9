"""Steps drawn at random, with arguments of the right kinds, and those that only fit behind others.

Nothing here is of today's code alone: `benchmarks.legality_before_old` draws with it, too.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations

from loopbook.program.nest import Nest
from loopbook.steps import STEPS, Container, Integer, Keyword, Loop, Step

StepPair = tuple[str, tuple[str | int, ...]]

Phrase = Callable[[Sequence[str], Nest, random.Random], list[StepPair]]
"""Steps that belong together, for the loops of a nest."""

SMALL = (2, 3, 4, 5, 8)
"""Sizes of tiles and the like: arrays are small."""


WEIGHTS = {
    "tile": 3,
    "interchange": 6,
    "peel": 4,
    "stage": 4,
    "unroll": 2,
    "vectorize": 1,
    "parallel": 3,
    "distribute": 3,
    "fuse": 3,
    "skew": 3,
    "strip_and_sink": 3,
    "library": 0.5,
    "single": 0.5,
    "serialize": 0.5,
}
"""How often a step is drawn alone; others once or twice (see `OTHERWISE`)."""

OTHERWISE = 1.5


def alone(loops: Sequence[str], containers: Sequence[str], rng: random.Random) -> StepPair:
    """Any step, with arguments for it."""
    ops = list(STEPS)
    op = rng.choices(ops, [WEIGHTS.get(op, OTHERWISE) for op in ops])[0]
    return op, arguments(STEPS[op], loops, containers, rng)


def small(steps: Iterable[StepPair], rng: random.Random) -> list[StepPair]:
    """Steps with sizes that small arrays have room for; equal ones stay equal."""
    sizes: dict[int, int] = {}

    def made(value: str | int) -> str | int:
        if isinstance(value, str) or value <= max(SMALL):
            return value
        return sizes.setdefault(value, rng.choice(SMALL))

    return [(op, tuple(map(made, args))) for op, args in steps]


def arguments(
    step: type[Step], loops: Sequence[str], containers: Sequence[str], rng: random.Random
) -> tuple[str | int, ...]:
    """Arguments for a step, of the right kinds. Loops that stand together are likelier."""
    found: list[str | int] = []
    last = -1
    starred = False
    for argument in step.arguments:
        if argument.optional and rng.random() < 0.5:
            break
        if isinstance(argument, Loop):
            place = last + rng.choice((1, 1, 1, 2, -1)) if last >= 0 else rng.randrange(len(loops))
            last = place % len(loops)
            name = loops[last]
            if not starred and rng.random() < 0.15:
                name, starred = re.sub(r"\.(rest|part)\d*$", "", name) + "*", True
            found.append(name)
        elif isinstance(argument, Container):
            found.append(rng.choice(containers or ["A0"]))
        elif isinstance(argument, Keyword):
            found.append(rng.choice(argument.words))
        elif isinstance(argument, Integer):
            low, high = max(argument.low, -2), min(argument.high, 8)
            fitting = [n for n in (*SMALL, 1, -1) if low <= n <= high]
            found.append(rng.choice(fitting))
    return tuple(found)


def _neighbours(loops: Sequence[str], rng: random.Random) -> tuple[str, str]:
    """Two loops of which one follows the other in preorder."""
    place = rng.randrange(max(len(loops) - 1, 1))
    return loops[place], loops[min(place + 1, len(loops) - 1)]


def _buffered(loops: Sequence[str], nest: Nest, rng: random.Random) -> list[StepPair]:
    """Tiles of two loops, held while those run, or the one inside of them."""
    one, other = _neighbours(loops, rng)
    inner = loops[min(loops.index(other) + 1, len(loops) - 1)]
    steps: list[StepPair] = [
        ("tile", (one, rng.choice(SMALL))),
        ("tile", (other, rng.choice(SMALL))),
        ("interchange", (one, f"{other}.tile")),
    ]
    pair = (one, other)
    if inner != other and rng.random() < 0.5:
        steps += [
            ("tile", (inner, rng.choice(SMALL))),
            ("interchange", (other, f"{inner}.tile")),
            ("interchange", (one, f"{inner}.tile")),
        ]
        pair = rng.choice(((one, other), (one, inner), (other, inner)))
    return [*steps, ("buffer", (one, *rng.choice((pair, pair[::-1]))))]


def _overlapped(loops: Sequence[str], nest: Nest, rng: random.Random) -> list[StepPair]:
    """Tiles of two loops that may stand one after the other, fused."""
    beside = [
        (one.name, other.name)
        for one, other in combinations(nest.loops, 2)
        if one.parent == other.parent and {one.name, other.name} <= {*loops}
    ]
    one, other = rng.choice(beside or [_neighbours(loops, rng)])
    size = rng.choice(SMALL)
    return [
        ("tile", (one, size)),
        ("tile", (other, size)),
        ("fuse_tiles", (f"{one}.tile", f"{other}.tile")),
    ]


def _tiled(loops: Sequence[str], nest: Nest, rng: random.Random) -> list[StepPair]:
    """Tiles of two loops around each other, apart from what is left over."""
    one, other = _neighbours(loops, rng)
    return [
        ("tile", (one, rng.choice(SMALL))),
        ("tile", (other, rng.choice(SMALL))),
        ("interchange", (one, f"{other}.tile")),
        ("peel", (one,)),
        ("peel", (f"{other}*",)),
        (rng.choice(("unroll", "stage", "vectorize")), (f"{other}*",)),
    ]


def _padded(loops: Sequence[str], nest: Nest, rng: random.Random) -> list[StepPair]:
    """Tiles whose results are held, run in full."""
    one, other = _neighbours(loops, rng)
    return [
        ("tile", (one, rng.choice(SMALL))),
        ("stage", (one, rng.choice(("A0", "A1", "A2")), rng.choice(("out", "auto")))),
        ("pad", (one,)),
        ("interchange", (other, one)),
    ]


def _branches(loops: Sequence[str], nest: Nest, rng: random.Random) -> list[StepPair]:
    """Branches made, moved or removed."""
    one, other = _neighbours(loops, rng)
    return [
        (rng.choice(("hoist", "reorder", "unswitch")), (other,)),
        ("unswitch", (one,)),
        (rng.choice(("unswitch", "if_convert", "vectorize")), (other,)),
    ]


PHRASES: tuple[Phrase, ...] = (_buffered, _overlapped, _tiled, _padded, _branches)
