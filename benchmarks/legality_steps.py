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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from benchmarks.legality_phrases import PHRASES, Phrase, alone, small
from loopbook.errors import IllegalStepError
from loopbook.program.nest import Nest
from loopbook.program.tree import Program
from loopbook.rules import TuningContext, propose
from loopbook.steps.workbench import StepPair, Workbench

LONGEST = 12
"""Steps of a sequence."""

ANEW = 0.25
"""So many draws begin with the program as it is; the others go on."""

MADE_ANEW = 0.65
"""The same, for programs that are made for something: most of that fits on nothing else."""

PROPOSED = 0.5
"""Of those: begun with what a rule of the tuner's proposes."""

PHRASED = 0.2
"""So many other draws are phrases."""

MADE_FOR = 0.7
"""So many draws are what the program is made for, if it is made for something."""

TRIES = 6
"""Draws, for each sequence that is wanted."""


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
        made_for: what the program is made for.
        drawn, allowed: how often each step was.
        refused: step and reason of each that was not allowed.
        raised: what steps raised that is no refusal.
    """

    tree: Program
    nests: Sequence[Nest]
    rng: random.Random
    made_for: Sequence[Phrase] = ()
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
        if not open_ or rng.random() < (MADE_ANEW if self.made_for else ANEW):
            nest = rng.randrange(len(self.nests))
            bench = Workbench(self.tree, self.nests[nest])
            state = Sequenced(nest, (), (bench.program,), bench)
            if rng.random() < PROPOSED and not self.made_for:
                return state, proposed(self.nests[nest], rng)
        else:
            state = rng.choice(open_)
        loops = list(state.bench.names)
        if self.made_for and rng.random() < MADE_FOR:
            return state, rng.choice(self.made_for)(loops, self.nests[state.nest], rng)
        if rng.random() < PHRASED:
            return state, rng.choice(PHRASES)(loops, self.nests[state.nest], rng)
        containers = [c.name for c in self.nests[state.nest].arrays]
        return state, [alone(loops, containers, rng)]

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
    return small(propose(nest, rng, context), rng)[: 2 * LONGEST]


def kind_of(refusal: str) -> str:
    """A refusal without names and numbers."""
    reason = refusal.partition("not known to be legal: ")[2] or refusal.partition(": ")[2]
    reason = re.sub(r"\bL\d+[\w.*]*", "L", reason)
    return re.sub(r"'[^']*'|\b[A-Za-z_]*\d+\w*\b", "#", reason)[:70]
