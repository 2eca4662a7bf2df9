"""What was decided for a program and its nests: recipes to choose from, and why."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from loopbook.display import brief, counted, cut, table, times
from loopbook.program.nest import Nest
from loopbook.recipes.recipe import Recipe
from loopbook.recipes.record import Record

MISORDERED = "docc's own compile may change what it computes; compiled without"
"""Why a nest without a recipe gets docc's schedule, but not its normalisation."""


@dataclass(frozen=True)
class Choice:
    """One recipe that can be used for a nest.

    Attributes:
        tier: "exact" for a record of this very nest, "near" for a neighbour's, "library" for a call
            of one and "rows" for rows of a matrix together, which need no record.
        recipe: in the nest's own words, legal there.
        dropped: how many of the recipe's steps are not legal here.
        predicted_speedup: over docc's own schedule.
        lower: what it reaches with high probability; 0 where nothing predicted that.
    """

    tier: str
    record: Record | None
    distance: float
    recipe: Recipe
    dropped: int
    predicted_speedup: float
    lower: float = 0.0

    @property
    def name(self) -> str:
        """Whose recipe it is."""
        return self.record.nest if self.record else self.tier

    def __repr__(self) -> str:
        told = f"{cut(self.name, 60)} ({self.tier}), {self.predicted_speedup:.2f}× expected"
        return brief(self, f"{told}: {self.recipe.in_line()}")

    def _repr_html_(self) -> str:
        rows = [
            ("from", f"{self.name} ({self.tier}, at distance {self.distance:.3f})"),
            ("expected", f"{times(self.predicted_speedup)}, at least {times(self.lower)}"),
            ("recipe", self.recipe.in_line()),
            ("steps refused here", self.dropped),
        ]
        return table((), rows, "Choice")


@dataclass(frozen=True)
class NestReport:
    """What was found for one nest, and what is done with it.

    Attributes:
        loops: induction variables in preorder.
        tier: "exact", "near", "none", or one of those in `WHENCE` that need no record.
        neighbour: name of the record used, or of the nearest one when none is used.
        record: its id.
        distance: to it, 0 for the very nest, None without any neighbour.
        recipe: the text of what is applied; empty for docc's own schedule.
        predicted_speedup: over docc's own schedule; 1 where that is used.
        reason: why this and nothing else, one line.
    """

    position: int
    loops: tuple[str, ...]
    fingerprint: str
    tier: str
    neighbour: str | None
    record: str | None
    distance: float | None
    recipe: str
    predicted_speedup: float
    reason: str

    def __repr__(self) -> str:
        loops = " ".join(self.loops)
        return brief(self, f"{self.position}: {cut(loops, 60)}: {self.tier}, {self.reason}")

    def _repr_html_(self) -> str:
        return nests_table([self])

    def to_json(self) -> dict[str, Any]:
        """The entry of ``nests`` in what `loopbook bench` prints."""
        return {
            "loops": list(self.loops),
            "tier": self.tier,
            "neighbour": self.neighbour,
            "distance": None if self.distance is None else round(self.distance, 4),
            "recipe": self.recipe,
            "predicted_speedup": round(self.predicted_speedup, 3),
        }


@dataclass(frozen=True)
class Plan:
    """What to do with a program.

    ::

        fast = loopbook.native(kernel)
        fast(A, B, C)
        fast.plan.nests[0].recipe      # "tile L0 4\\n…"

    Attributes:
        nests: one report for each nest of the prepared program, about the first choice.
        choices: nest position to the recipes that can be used, best first.
        prepared: compile the prepared program even if no nest has a recipe: measuring has shown
            that this alone is faster, or docc's own compile may be wrong.
        normalised: JSON text of the prepared program; docc may take seconds to make it again.
    """

    target: str
    nests: tuple[NestReport, ...]
    choices: Mapping[int, tuple[Choice, ...]] = field(default_factory=dict)
    prepared: bool = False
    normalised: str | None = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        return brief(self, told_of_nests(self.target, self.nests))

    def _repr_html_(self) -> str:
        return nests_table(self.nests, f"Plan {told_of_nests(self.target, self.nests)}")

    @property
    def recipes(self) -> dict[int, Recipe]:
        """Nest position to the recipe to apply; nests without one get docc's own schedule."""
        return {position: choices[0].recipe for position, choices in self.choices.items()}

    @property
    def active(self) -> bool:
        """False if nothing is better than compiling the program with docc's own schedule."""
        return bool(self.choices) or self.prepared

    @property
    def missed(self) -> list[str]:
        """Fingerprints of the nests that the book has nothing for."""
        return [
            report.fingerprint
            for report in self.nests
            if report.tier == "none" or report.tier in RULED
        ]

    def only(self, picks: Mapping[int, Choice], reason: str) -> Plan:
        """The plan with one choice for each nest in `picks`, and docc's own schedule elsewhere.

        Args:
            reason: why nests that had choices are left to docc.
        """
        bare = self.without_recipes(reason)
        return replace(
            self,
            choices={position: (choice,) for position, choice in picks.items()},
            nests=tuple(
                used(report, picks[report.position]) if report.position in picks else report
                for report in bare.nests
            ),
        )

    def distrusting(self, positions: Collection[int]) -> Plan:
        """The plan for a program with nests that docc's own compile may get wrong."""
        return replace(
            self,
            prepared=True,
            nests=tuple(
                replace(r, reason=MISORDERED) if r.position in positions and not r.recipe else r
                for r in self.nests
            ),
        )

    def without_recipes(self, reason: str) -> Plan:
        """The plan to leave everything to docc's schedule, and why."""
        return replace(
            self,
            choices={},
            nests=tuple(
                replace(r, tier="none", recipe="", predicted_speedup=1.0, reason=reason)
                if r.position in self.choices
                else r
                for r in self.nests
            ),
        )


def told_of_nests(target: str, nests: Sequence[NestReport]) -> str:
    """In short, such as ``for openmp: 3 nests, 2 with recipes``."""
    served = sum(bool(nest.recipe) for nest in nests)
    return f"for {target}: {counted(len(nests), 'nest')}, {served} with recipes"


def nests_table(nests: Sequence[NestReport], caption: str = "") -> str:
    """What was found for each nest, as a table of HTML."""
    rows = [
        (
            nest.position,
            " ".join(nest.loops),
            nest.tier,
            nest.neighbour,
            None if nest.distance is None else f"{nest.distance:.3f}",
            times(nest.predicted_speedup),
            "; ".join(nest.recipe.splitlines()),
            nest.reason,
        )
        for nest in nests
    ]
    heads = ("nest", "loops", "tier", "neighbour", "distance", "expected", "recipe", "why")
    return table(heads, rows, caption)


RULED = {
    "order": "loops in the order in which the arrays lie in memory",
    "kept": "elements that innermost loops read and do not change are loaded once",
    "collapsed": "rows that are short, and follow each other in memory, as one",
    "apart": "maths functions apart from what iterations hand on to each other",
    "pivots": "rows and columns of a matrix apart from the pivot's",
    "strips": "sums or recurrences along which nothing lies side by side, some beside each other",
    "columns": "rows that meet the same sets of the caches, some columns at a time",
    "tiles": "a product, in tiles that stay in registers",
    "time": "several time steps on a part of a grid that no cache holds",
    "threads": "iterations that have nothing to do with each other",
    "sums": "sums that threads share, each with its own",
}
"""Where the recipe comes from of each tier for nests that no book knows more of."""

WHENCE = {
    "exact": "the very nest",
    "near": "ported from a neighbour",
    "library": "a product, as NumPy computes it",
    "rows": "a product with vectors, some rows of the matrix at a time",
    **RULED,
}
"""Where the recipe of each tier comes from."""


def left_to_docc(
    nest: Nest, record: Record | None, distance: float | None, reason: str
) -> NestReport:
    """The report of a nest that gets docc's own schedule.

    Args:
        record: the one that decided, or the nearest.
    """
    return NestReport(
        position=nest.position,
        loops=tuple(loop.indvar for loop in nest.loops),
        fingerprint=nest.fingerprint,
        tier="none",
        neighbour=record.nest if record else None,
        record=record.id if record else None,
        distance=distance,
        recipe="",
        predicted_speedup=1.0,
        reason=reason,
    )


def used(report: NestReport, choice: Choice) -> NestReport:
    """The report with a choice in it."""
    dropped = f", {choice.dropped} refused steps left out" if choice.dropped else ""
    where = WHENCE[choice.tier]
    return replace(
        report,
        tier=choice.tier,
        neighbour=choice.record.nest if choice.record else None,
        record=choice.record.id if choice.record else None,
        distance=choice.distance,
        recipe=choice.recipe.text(),
        predicted_speedup=choice.predicted_speedup,
        reason=where + dropped,
    )


def with_steps(choices: Iterable[Choice]) -> tuple[Choice, ...]:
    """Those that change something."""
    return tuple(choice for choice in choices if len(choice.recipe))


def distinct(choices: Sequence[Choice]) -> tuple[Choice, ...]:
    """The first choice of each recipe."""
    return tuple({choice.recipe: choice for choice in reversed(choices)}.values())[::-1]
