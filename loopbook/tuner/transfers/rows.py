"""The rows that transfers are kept as."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from loopbook.client import fit, match, port
from loopbook.errors import LoopbookError
from loopbook.tuner.session import FAILURES

FASTER, SLOWER = 1.05, 0.95
"""What lies between is the same: differences that small may be noise."""

NO_MATCH = "no match"

OUTCOMES = ("faster", "same", "slower", NO_MATCH, "illegal", "wrong", "crash", "hang", "memory",
            "compiler", "error")  # fmt: skip
"""Those after "slower" have no times."""


@dataclass(frozen=True, slots=True)
class Unit:
    """What all rows of one program at one size, for one target, have in common.

    Attributes:
        suite: "polybench" or "synthetic".
        family: of a synthetic program; a kernel of PolyBench is a family of its own.
        seed: of the draw of donors.
        port_version: see `port_version`.
    """

    program: str
    suite: str
    family: str
    preset: str
    sizes: dict[str, int]
    target: str
    seed: int
    port_version: str
    docc: str
    compiler: str
    loopbook: str


@dataclass(frozen=True, slots=True)
class Place:
    """A nest of a program that donors' recipes were tried on.

    Attributes:
        nest: position in the prepared program.
        share: of the program's time by docc's own schedule, 0 to 1.
        trips: loop to how often it runs, see `loopbook.program.trips.trip_counts`.
    """

    nest: int
    fingerprint: str
    share: float
    trips: dict[str, int]


@dataclass(frozen=True, slots=True)
class Pair:
    """One donor's recipe on one nest, on one kind of machine.

    Attributes:
        nest, fingerprint: of the nest it was tried on.
        donor, donor_fingerprint, record, donor_hardware: whose recipe.
        drawn: a key of `loopbook.tuner.transfers.donors.SHARES`, or "own" for a record of the very
            nest.
        recipe: the donor's.
        ported: in the nest's words, without what was dropped; empty where there is no match.
        dropped: optional steps that were refused.
        hardware, isa, threads, cpu: what it was measured on.
        outcome: one of `OUTCOMES`.
        speedup: baseline_s over tuned_s; None without times.
        baseline_s, tuned_s: seconds of the nest by docc's own schedule and with the recipe: the
            fastest of runs in turn.
        runs: how many; 1 or 2 where it was clearly slower.
        shared: the generated code is that of an earlier row, which it shares the times with.
        code: hash of the generated C++.
        message: why it failed.
        date: ISO 8601.
    """

    nest: int
    fingerprint: str
    donor: str
    donor_fingerprint: str
    record: str
    donor_hardware: str
    drawn: str
    recipe: str
    ported: str
    dropped: str
    hardware: str
    isa: str
    threads: int
    cpu: str
    outcome: str
    speedup: float | None = None
    baseline_s: float | None = None
    tuned_s: float | None = None
    runs: int = 0
    shared: bool = False
    code: str = ""
    message: str = ""
    date: str = ""


OWN = "own"


def outcome_of(speedup: float) -> str:
    """What a speedup is called."""
    if speedup >= FASTER:
        return "faster"
    return "slower" if speedup <= SLOWER else "same"


def failure_of(error: LoopbookError) -> str:
    """What an error is called."""
    return next((name for kind, name in FAILURES.items() if isinstance(error, kind)), "error")


@lru_cache(maxsize=1)
def port_version() -> str:
    """Another one whenever the code that ports recipes is."""
    digest = hashlib.sha256()
    for module in (port, match, fit):
        digest.update(Path(str(module.__file__)).read_bytes())
    return digest.hexdigest()[:8]


@dataclass(frozen=True, slots=True)
class Best:
    """The best that is known of a nest on one kind of machine, at the size measured.

    Attributes:
        baseline_s: seconds by docc's own schedule, the median over all pairs.
        best: the greatest speedup over it that was measured; 1 is docc's own schedule.
        best_steps: the recipe; empty for docc's own schedule.
        best_from: "pair", "own" or "docc".
    """

    hardware: str
    baseline_s: float | None
    best: float
    best_steps: str
    best_from: str


@dataclass(frozen=True, slots=True)
class DonorRow:
    """A record that recipes came from.

    Attributes:
        speedup: of the recipe on its own nest, where it was tuned.
        trips: loop to how often it runs, at the largest size measured.
    """

    record: str
    donor: str
    fingerprint: str
    kernel: str
    target: str
    hardware: str
    recipe: str
    speedup: float
    trips: dict[str, int]
    source: str


@dataclass(frozen=True, slots=True)
class NestRow:
    """A nest, of a target program or of a donor, as SDFG JSON text of its own."""

    fingerprint: str
    nest_json: str


@dataclass(frozen=True, slots=True)
class ProfileRow:
    """A machine: the JSON text of its `loopbook.recipes.hardware.HardwareProfile`."""

    hardware: str
    profile: str
