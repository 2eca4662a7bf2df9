"""What the models learn from: single recipes measured on single nests, as rows and figures."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from loopbook.errors import RecipeError
from loopbook.predict.rows import COLUMNS, Donor, Rows
from loopbook.program.nest import Nest
from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.recipe import Recipe
from loopbook.rules import TuningContext
from loopbook.rules.schedule_rule import applicable
from loopbook.steps.workbench import Transformed, transformed

FAILED = -3.0
"""What stands for the logarithm of the speedup of a recipe that gave wrong numbers, crashed or
hung: about as bad as the worst that is ever measured."""

LEAST, MOST = -3.0, 8.0
"""Logarithms of speedups are cut off here: beyond, how bad or good it is makes no difference."""


@dataclass(frozen=True)
class Example:
    """One recipe on one nest, size and machine.

    Attributes:
        program, family: where the nest comes from; whole families are held out together.
        steps: the recipe's text in the nest's own words.
        dropped: how many of the donor's steps were left out.
        gain: base-2 logarithm of the speedup over docc's own compile, what preparing the program
            gains included.
        best: base-2 logarithm of the best speedup known of the nest there, at least 0.
        fits: False if the recipe cannot be ported to the nest or is illegal there. Who serves
            recipes knows that before asking what to expect of them.
        baseline_s: seconds of the nest by docc's own schedule; 0 where that is not known.
        donor: record that the recipe was ported from; empty for a tuner's candidate.
        voucher: record that speaks most for it, where it was not ported (see
            `loopbook.learn.expectations`).
        expected: speedup that near records speak for; 1 where none was asked.
        trips: loop name to how often it runs.
    """

    program: str
    family: str
    fingerprint: str
    target: str
    hardware: str
    trips: Mapping[str, int]
    steps: str
    gain: float
    best: float = 0.0
    fits: bool = True
    baseline_s: float = 0.0
    dropped: int = 0
    donor: str = ""
    voucher: str = ""
    expected: float = 1.0

    @property
    def record(self) -> str:
        """The record that is known of it; empty if there is none."""
        return self.donor or self.voucher


@dataclass(frozen=True)
class Source:
    """A record that recipes were ported from.

    Attributes:
        steps: the recipe's text in the words of the record's own nest.
        trips: of that nest at the largest size measured.
    """

    record: str
    kernel: str
    fingerprint: str
    hardware: str
    target: str
    steps: str
    speedup: float
    trips: Mapping[str, int]


@dataclass
class Examples:
    """Examples with all that they speak of.

    Attributes:
        nests: by fingerprint.
        hardware: profiles by key.
        sources: donor records by id.
    """

    examples: list[Example] = field(default_factory=list)
    nests: dict[str, Nest] = field(default_factory=dict)
    hardware: dict[str, HardwareProfile] = field(default_factory=dict)
    sources: dict[str, Source] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.examples)

    def __add__(self, other: Examples) -> Examples:
        return Examples(
            self.examples + other.examples,
            self.nests | other.nests,
            self.hardware | other.hardware,
            self.sources | other.sources,
        )

    def keep(self, wanted: Callable[[Example], bool]) -> Examples:
        """Those examples that are wanted."""
        return replace(self, examples=[one for one in self.examples if wanted(one)])

    def without(self, programs: Collection[str], fingerprints: Collection[str]) -> Examples:
        """Without what comes from some programs or speaks of some nests, as target or as donor."""

        def clean(one: Example) -> bool:
            source = self.sources.get(one.record)
            told = {one.fingerprint, source.fingerprint if source else ""}
            named = {one.program, source.kernel if source else ""}
            return told.isdisjoint(fingerprints) and named.isdisjoint(programs)

        return self.keep(clean)

    @property
    def transfers(self) -> int:
        """How many recipes were ported from another nest."""
        return sum(bool(one.donor) for one in self.examples)

    @property
    def programs(self) -> set[str]:
        """All programs that something is learnt from, donors' among them."""
        sources = (self.sources[one.record] for one in self.examples if one.record in self.sources)
        return {one.program for one in self.examples} | {source.kernel for source in sources}

    @property
    def fingerprints(self) -> set[str]:
        """All nests that something is learnt from, donors' among them."""
        sources = (self.sources[one.record] for one in self.examples if one.record in self.sources)
        own = {one.fingerprint for one in self.examples}
        return own | {source.fingerprint for source in sources}


def gain_of(speedup: float | None, preparing: float = 0.0) -> float:
    """The base-2 logarithm that is learnt; `FAILED` for what has no speedup.

    Args:
        speedup: over docc's own schedule of the prepared program.
        preparing: what preparing it gained, as such a logarithm.
    """
    if speedup is None or speedup <= 0:
        return FAILED
    return min(max(math.log2(speedup) + preparing, LEAST), MOST)


Distances = Callable[[str, str], float]
"""From two fingerprints to the distance between the nests' vectors."""


@dataclass(frozen=True)
class Table:
    """Examples as arrays, row by row: each once with the tree that its recipe leaves, and once
    without, as recipes are ranked before they are tried.

    Attributes:
        rows: ``(n, len(COLUMNS))`` float32.
        tried: ``(n,)`` bool, whether the tree after the recipe is known.
        gains: ``(n,)`` float64.
        families: each row's family.
        nests: each row's nest, machine and target, as one text.
        examples: what each row is of; those whose steps cannot be read have none.
    """

    rows: np.ndarray
    tried: np.ndarray
    gains: np.ndarray
    families: list[str]
    nests: list[str]
    examples: list[Example]

    def __len__(self) -> int:
        return len(self.rows)


def tabulate(examples: Examples, distances: Distances) -> Table:
    """The rows of all examples whose steps can be read.

    Args:
        distances: between nests, by the encoder that the cost model is for.
    """
    makers: dict[tuple[object, ...], Rows] = {}
    trees: dict[tuple[str, str], Transformed] = {}
    bodies: dict[str, tuple[np.ndarray, np.ndarray]] = {}

    def maker(fingerprint: str, hardware: str, target: str, trips: Mapping[str, int]) -> Rows:
        key = (fingerprint, hardware, target, tuple(trips.items()))
        if key not in makers:
            nest, profile = examples.nests[fingerprint], examples.hardware[hardware]
            rules = applicable(nest, TuningContext.of(profile, target, trips))
            makers[key] = Rows(nest, profile, target, trips, rules)
        return makers[key]

    def tree(fingerprint: str, text: str) -> Transformed:
        if (fingerprint, text) not in trees:
            steps = Recipe.parse(text).steps
            trees[fingerprint, text] = transformed(examples.nests[fingerprint], steps)[0]
        return trees[fingerprint, text]

    rows: list[np.ndarray] = []
    kept: list[Example] = []
    for one in _known(examples):
        try:
            steps = Recipe.parse(one.steps).steps
            donor = None
            if one.record:
                source = examples.sources[one.record]
                if one.record not in bodies:
                    own = maker(source.fingerprint, source.hardware, source.target, source.trips)
                    bodies[one.record] = own.bodies(tree(source.fingerprint, source.steps))
                donor = Donor(
                    *bodies[one.record],
                    one.expected,
                    source.speedup,
                    distances(one.fingerprint, source.fingerprint),
                    examples.hardware[one.hardware].distance(examples.hardware[source.hardware]),
                )
            make = maker(one.fingerprint, one.hardware, one.target, one.trips)
            after = tree(one.fingerprint, one.steps)
        except RecipeError:
            continue
        for known in (after, None):
            rows.append(make(steps, known, donor, one.dropped))
            kept.append(one)
    return Table(
        np.stack(rows) if rows else np.empty((0, len(COLUMNS)), np.float32),
        np.arange(len(rows)) % 2 == 0,
        np.array([one.gain for one in kept]),
        [one.family for one in kept],
        [f"{one.fingerprint} {one.hardware} {one.target}" for one in kept],
        kept,
    )


def _known(examples: Examples) -> Iterable[Example]:
    """Those examples that fit, and whose nest, machine and donor are there."""
    for one in examples.examples:
        if (
            not one.fits
            or one.fingerprint not in examples.nests
            or one.hardware not in examples.hardware
        ):
            continue
        if one.record:
            source = examples.sources.get(one.record)
            if source is None or source.fingerprint not in examples.nests:
                continue
            if source.hardware not in examples.hardware:
                continue
        yield one
