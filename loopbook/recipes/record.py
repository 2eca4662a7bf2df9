"""A record: a nest, the machine, the recipe that made it fast there, and the proof.

Everything here is immutable. A record's id is a hash of its content, so that adding the same
record twice, or merging two books that share some, changes nothing, and a record damaged in
storage gives itself away.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any

from loopbook.display import brief, cut, seconds, table, times
from loopbook.errors import InputError
from loopbook.recipes import _fields
from loopbook.recipes._data import LATER, Count, Counts, Data, Figure, Kernel, Seconds, Text
from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.recipe import Recipe
from loopbook.targets import TARGETS, choice

JSON_VERSION = 1
MAX_NEST = 8 * 2**20
MAX_MEASUREMENTS = 64

ADOPTED = "adopted"
"""What the source of a record begins with whose recipe was compared, on its machine and at its
sizes, with the recipes of other machines' records of the nest."""

LOSES = 0.98
"""A recipe loses where its speedup is below this; what lies between this and 1 is noise."""


@dataclass(frozen=True)
class Measurement(Data):
    """One nest at one size, timed in turn with and without the recipe.

    Attributes:
        baseline_s: seconds of docc's own schedule, fastest run.
        tuned_s: seconds with the recipe, fastest run.
        spread: relative spread of the ratio of the two (interquartile range over median).
        runs: how many pairs were timed.
        sizes: the sizes measured at, such as ``{"NI": 1000}``, in the program's words.
        trips: loop of the nest to how often it runs at that size, such as ``{"L0": 1000}``. The
            words are the recipe's, so that other programs can compare their sizes. Empty where
            nobody counted.
    """

    what = "a measurement"

    baseline_s: Seconds
    tuned_s: Seconds
    spread: Figure
    runs: Count
    sizes: Counts = field(default_factory=dict)
    trips: Annotated[Counts, LATER] = field(default_factory=dict)

    @property
    def speedup(self) -> float:
        """How many times faster than docc's own schedule."""
        return self.baseline_s / self.tuned_s


@dataclass(frozen=True)
class Provenance(Data):
    """Where a record comes from.

    Attributes:
        kernel: the program it was tuned in, such as ``gemm``; what ``--exclude`` names.
        source: file, URL or suite of that program, such as ``polybench``.
        date: when it was measured, ISO 8601.
        docc, compiler, loopbook: versions used.
        seed: of the search that found it.
        trials: candidates measured before it was chosen.
    """

    what = "a provenance"

    kernel: Kernel
    source: Text = ""
    date: Text = ""
    docc: Text = ""
    compiler: Text = ""
    loopbook: Text = ""
    seed: Count = 0
    trials: Count = 0


@dataclass(frozen=True)
class Record:
    """One tuned nest.

    Attributes:
        fingerprint: of the nest; the same however its variables are named.
        nest: a name for people: the kernel and the nest's position in it, such as ``gemm:1``.
        nest_json: the renamed nest as SDFG JSON text, for embedding it anew and for verification.
        target: a name in `loopbook.targets.TARGETS`.
        hardware: the machine it was measured on.
        recipe: what makes it fast there; no steps means that docc's own schedule was best.
        measurements: one for each size measured.
        provenance: where it comes from.

    Raises:
        InputError: an unknown target, a text too long, or too many measurements.
    """

    fingerprint: str
    nest: str
    nest_json: str
    target: str
    hardware: HardwareProfile
    recipe: Recipe
    measurements: tuple[Measurement, ...]
    provenance: Provenance

    def __post_init__(self) -> None:
        what = "a record"
        object.__setattr__(self, "measurements", tuple(self.measurements))
        _fields.check_text(self.fingerprint, f"{what}: fingerprint", limit=128, empty=False)
        _fields.check_text(self.nest, f"{what}: nest", limit=256)
        _fields.check_text(self.nest_json, f"{what}: nest_json", limit=MAX_NEST)
        if self.target not in TARGETS:
            raise InputError(f"{what}: target is {choice()}")
        if len(self.measurements) > MAX_MEASUREMENTS:
            raise InputError(f"{what} has at most {MAX_MEASUREMENTS} measurements")

    @cached_property
    def id(self) -> str:
        """32 hexadecimal digits, the hash of all that the record says, whatever its steps are
        called today."""
        # Sorted keys and no spaces: the same content gives the same bytes everywhere.
        content = {**self._content(), "recipe": self.recipe.recorded()}
        text = json.dumps(content, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode("ascii")).hexdigest()[:32]

    @property
    def kernel(self) -> str:
        """The program that the nest comes from."""
        return self.provenance.kernel

    @property
    def adopted(self) -> bool:
        """Whether other machines' records say nothing more about its machine; see `ADOPTED`."""
        return self.provenance.source.startswith(ADOPTED)

    @cached_property
    def speedup(self) -> float:
        """Geometric mean over the sizes measured; 1 if none was."""
        if not self.measurements:
            return 1.0
        logs = [math.log(m.baseline_s) - math.log(m.tuned_s) for m in self.measurements]
        # Times at the two ends of a double would overflow; no real pair comes near.
        return math.exp(min(math.fsum(logs) / len(logs), 700.0))

    @property
    def worst(self) -> float:
        """The least speedup over the sizes measured; 1 if none was."""
        return min((one.speedup for one in self.measurements), default=1.0)

    @property
    def best(self) -> float:
        """The greatest speedup over the sizes measured; 1 if none was."""
        return max((one.speedup for one in self.measurements), default=1.0)

    def measurement_at(self, apart: Callable[[Measurement], float | None]) -> Measurement | None:
        """The measurement at the size nearest to some size; None if it cannot be told which.

        Args:
            apart: how far a measurement's size is from that size; None if that cannot be told.
        """
        distances = [apart(one) for one in self.measurements]
        known = [distance for distance in distances if distance is not None]
        if not known or len(known) < len(distances):
            return None
        return self.measurements[known.index(min(known))]

    def speedup_at(self, apart: Callable[[Measurement], float | None]) -> float:
        """What to expect of the recipe at some size: its speedup at the nearest size measured.

        Where it cannot be told which is the nearest, the recipe has to hold at all of them: it is
        the geometric mean if it does, and the least speedup if it loses at one.

        Args:
            apart: see `measurement_at`.
        """
        nearest = self.measurement_at(apart)
        if nearest is not None:
            return nearest.speedup
        return self.worst if self.worst < LOSES else self.speedup

    def __repr__(self) -> str:
        told = f"{self.target}, {self.speedup:.2f}× on {self.hardware.cpu or 'some machine'}"
        return brief(self, f"{self.id[:12]} {cut(self.nest, 60)}: {told}: {self.recipe.in_line()}")

    def _repr_html_(self) -> str:
        rows = [
            ("id", self.id),
            ("target", self.target),
            (
                "machine",
                f"{self.hardware.cpu} ({self.hardware.isa}, {self.hardware.threads} threads)",
            ),
            ("recipe", self.recipe.in_line() or "docc's own schedule"),
        ]
        for one in self.measurements:
            sizes = ", ".join(f"{name} {size}" for name, size in one.sizes.items())
            taken = f"{seconds(one.baseline_s)} → {seconds(one.tuned_s)}"
            rows.append((sizes or "measured", f"{taken}: {times(one.speedup)}"))
        rows.append(("from", f"{self.provenance.source} {self.provenance.date}"))
        return table((), rows, f"Record of {self.nest}")

    def to_json(self) -> dict[str, Any]:
        """A JSON object without loss, with the id."""
        return {"id": self.id, **self._content()}

    @classmethod
    def from_json(cls, obj: object) -> Record:
        """Read what :meth:`to_json` wrote; the id may be absent.

        Raises:
            InputError: it is no such object, or its id is not the hash of its content.
        """
        what = "a record"
        given = _fields.mapping(obj, what)
        if given.get("version") != JSON_VERSION or isinstance(given["version"], bool):
            raise InputError(f"{what} needs version {JSON_VERSION}")
        measured = _fields.items(given, "measurements", what, limit=MAX_MEASUREMENTS)
        record = cls(
            fingerprint=_fields.text(given, "fingerprint", what, limit=128),
            nest=_fields.text(given, "nest", what),
            nest_json=_fields.text(given, "nest_json", what, limit=MAX_NEST),
            target=_fields.text(given, "target", what),
            hardware=HardwareProfile.from_json(given.get("hardware")),
            recipe=Recipe.from_json(given.get("recipe")),
            measurements=tuple(Measurement.from_json(one) for one in measured),
            provenance=Provenance.from_json(given.get("provenance")),
        )
        if given.get("id", record.id) != record.id:
            raise InputError(f"{what}'s id is not the hash of its content: it has been changed")
        return record

    def _content(self) -> dict[str, Any]:
        return {
            "version": JSON_VERSION,
            "fingerprint": self.fingerprint,
            "nest": self.nest,
            "nest_json": self.nest_json,
            "target": self.target,
            "hardware": self.hardware.to_json(),
            "recipe": self.recipe.to_json(),
            "measurements": [measurement.to_json() for measurement in self.measurements],
            "provenance": self.provenance.to_json(),
        }
