"""The sequences of steps that `benchmarks.legality` draws.

A sequence is one step more than an earlier one of the same program, or begins anew: so each step
that is allowed makes a sequence. Steps come alone, with random arguments; as phrases, for steps
that only fit behind others; and as what the tuner's own rules propose.
"""

from __future__ import annotations

import copy
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

from loopbook.errors import IllegalStepError
from loopbook.program.nest import Nest
from loopbook.program.tree import Program
from loopbook.rules import TuningContext, propose
from loopbook.steps import STEPS, Container, Integer, Keyword, Loop, Step
from loopbook.steps.workbench import StepPair, Workbench

LONGEST = 12
"""Steps of a sequence."""

ANEW = 0.25
"""So many draws begin with the program as it is; the others go on."""

PROPOSED = 0.5
"""Of those: begun with what a rule of the tuner's proposes."""

PHRASED = 0.2
"""So many other draws are phrases."""

TRIES = 6
"""Draws, for each sequence that is wanted."""

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

Phrase = Callable[[Sequence[str], Nest, random.Random], list[StepPair]]
"""Steps that belong together, for the loops of a nest."""


class Sequenced(NamedTuple):
    """A sequence of steps that are allowed.

    Attributes:
        nest: where they were tried.
        trees: the program before the first, and after each.
        bench: after the last.
    """

    nest: int
    steps: tuple[StepPair, ...]
    trees: tuple[Program, ...]
    bench: Workbench


@dataclass
class Drawer:
    """Draws sequences for one program.

    Attributes:
        drawn, allowed: how often each step was.
        refused: step and reason of each that was not allowed.
        raised: what steps raised that is no refusal.
    """

    tree: Program
    nests: Sequence[Nest]
    rng: random.Random
    drawn: Counter[str] = field(default_factory=Counter)
    allowed: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    raised: list[str] = field(default_factory=list)

    def sequences(self, count: int) -> Iterator[Sequenced]:
        """So many different ones, fewer where nothing more is found."""
        made: list[Sequenced] = []
        seen: set[tuple[int, tuple[StepPair, ...]]] = set()
        for _ in range(TRIES * count):
            if len(made) >= count:
                break
            state, steps = self._draw(made)
            for step in steps:
                longer = self._longer(state, step)
                if longer is None:
                    continue
                state = longer
                if (state.nest, state.steps) not in seen and len(made) < count:
                    seen.add((state.nest, state.steps))
                    made.append(state)
                    yield state

    def _draw(self, made: Sequence[Sequenced]) -> tuple[Sequenced, list[StepPair]]:
        """A sequence, and what to try behind it."""
        rng = self.rng
        open_ = [one for one in made if len(one.steps) < LONGEST and one.bench.names]
        if not open_ or rng.random() < ANEW:
            nest = rng.randrange(len(self.nests))
            bench = Workbench(self.tree, self.nests[nest])
            state = Sequenced(nest, (), (bench.program,), bench)
            if rng.random() < PROPOSED:
                return state, proposed(self.nests[nest], rng)
        else:
            state = rng.choice(open_)
        loops = list(state.bench.names)
        if rng.random() < PHRASED:
            return state, rng.choice(PHRASES)(loops, self.nests[state.nest], rng)
        ops = list(STEPS)
        op = rng.choices(ops, [WEIGHTS.get(op, OTHERWISE) for op in ops])[0]
        containers = [c.name for c in self.nests[state.nest].arrays]
        return state, [(op, arguments(STEPS[op], loops, containers, rng))]

    def _longer(self, state: Sequenced, step: StepPair) -> Sequenced | None:
        """A sequence with one step more; None where that is not allowed."""
        bench = copy.copy(state.bench)
        op, args = step
        self.drawn[op] += 1
        try:
            bench.apply(op, args, len(state.steps))
        except IllegalStepError as refusal:
            self.refused[f"{op}: {kind_of(str(refusal))}"] += 1
        except Exception as error:
            self.raised.append(f"{op} {args}: {type(error).__name__}: {error}"[:300])
        else:
            self.allowed[op] += 1
            trees = (*state.trees, bench.program)
            return Sequenced(state.nest, (*state.steps, step), trees, bench)
        return None


def proposed(nest: Nest, rng: random.Random) -> list[StepPair]:
    """What the tuner might try, with sizes that small arrays have room for."""
    context = TuningContext(rng.choice(("sequential", "openmp")), 4, threads=2, libraries=True)
    sizes: dict[int, int] = {}

    def small(value: str | int) -> str | int:
        if isinstance(value, str) or value <= max(SMALL):
            return value
        return sizes.setdefault(value, rng.choice(SMALL))

    found = propose(nest, rng, context)
    return [(op, tuple(map(small, args))) for op, args in found][: 2 * LONGEST]


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


def kind_of(refusal: str) -> str:
    """A refusal without names and numbers."""
    reason = refusal.partition("not known to be legal: ")[2] or refusal.partition(": ")[2]
    reason = re.sub(r"\bL\d+[\w.*]*", "L", reason)
    return re.sub(r"'[^']*'|\b[A-Za-z_]*\d+\w*\b", "#", reason)[:70]
