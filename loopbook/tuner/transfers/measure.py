"""Tries donors' recipes on the nests of program after program, and goes on where it was stopped."""

from __future__ import annotations

import datetime
import fcntl
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

from loopbook.client.port import port
from loopbook.embed.inference import Encoder
from loopbook.errors import CorpusError, LoopbookError
from loopbook.program.nest import Nest
from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.recipe import Recipe
from loopbook.sdfg import program
from loopbook.steps import Step
from loopbook.toolchain.batch import Source
from loopbook.toolchain.batch_runner import Reading
from loopbook.tuner.search import versions
from loopbook.tuner.task import TuningTask
from loopbook.tuner.thresholds import WORTH_TUNING
from loopbook.tuner.transfers.bench import Bench
from loopbook.tuner.transfers.donors import Donor, Donors, family_of
from loopbook.tuner.transfers.log import TransferLog
from loopbook.tuner.transfers.rows import (
    NO_MATCH,
    OWN,
    Pair,
    Place,
    Unit,
    failure_of,
    outcome_of,
    port_version,
)

Profiles = Mapping[str, HardwareProfile]
"""Instruction set, in the compiler's words, to the machine that it makes."""


@dataclass(frozen=True)
class Job:
    """A program to try recipes on.

    Attributes:
        presets, least_s: which size to measure at, see `Bench`.
    """

    task: TuningTask
    suite: str
    presets: Sequence[str]
    least_s: float


@dataclass(frozen=True)
class Done:
    """What became of a job.

    Attributes:
        pairs: measured now.
        error: why there are none.
        skipped: it had been done before.
        usage: see `Bench`.
    """

    job: Job
    pairs: Sequence[Pair] = ()
    error: str = ""
    skipped: bool = False
    seconds: float = 0.0
    usage: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    """What to try on every program.

    Attributes:
        logs: folder for the logs; what they hold is not measured again.
        count: recipes of other nests to try on each nest that matters.
        seed: of the draw.
    """

    target: str
    profiles: Profiles
    donors: Donors
    encoder: Encoder
    logs: Path
    count: int
    seed: int

    @property
    def keys(self) -> set[str]:
        """Of the profiles."""
        return {profile.key for profile in self.profiles.values()}

    def name(self, job: Job) -> str:
        """What the logs of a job begin with."""
        threads = max(profile.threads for profile in self.profiles.values())
        return f"{job.task.name}-{self.target}-{threads}t"


def measure(jobs: Iterable[Job], plan: Plan) -> Iterator[Done]:
    """Try recipes on the nests of programs, on all profiles before the next nest.

    Several processes may do so with the same logs: what one works on, the others skip.
    """
    common = TransferLog(plan.logs / "common.jsonl")
    for profile in plan.profiles.values():
        common.profile(profile.key, profile.to_json())
    for job in jobs:
        begun = time.monotonic()
        name = plan.name(job)
        with claimed(plan.logs / f".{name}.lock") as mine:
            if not mine or any(
                TransferLog(path).done(plan.keys) for path in plan.logs.glob(f"{name}-*.jsonl")
            ):
                yield Done(job, skipped=True)
                continue
            try:
                pairs, usage = _measured(job, plan, common)
                done = Done(job, pairs, usage=usage)
            except LoopbookError as error:
                done = Done(job, error=str(error))
        yield replace(done, seconds=time.monotonic() - begun)


@contextmanager
def claimed(path: Path) -> Iterator[bool]:
    """Whether nobody else holds this file; nobody else does then until the end of the block.

    Raises:
        CorpusError: the file cannot be made.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
    except OSError as error:
        raise CorpusError(f"cannot write {path}: {error.strerror}") from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        yield False
    else:
        yield True
    finally:
        os.close(handle)


def _measured(job: Job, plan: Plan, common: TransferLog) -> tuple[list[Pair], dict[str, float]]:
    """The pairs of one program, and where the time went."""
    name, pairs = plan.name(job), []
    with Bench(job.task, job.presets, job.least_s, plan.target) as bench:
        logs = [TransferLog(plan.logs / f"{name}-{size.preset}.jsonl") for size in bench.sizes]
        for log, size in zip(logs, bench.sizes, strict=True):
            if log.empty:
                log.begin(_unit(job, plan, size.preset))
        for nest in bench.nests:
            if max(size.shares[nest.position] for size in bench.sizes) >= WORTH_TUNING:
                attempt = Attempt(bench, nest, plan.encoder)
                drawn = attempt.drawn(plan.donors, job.task.name, plan.count, plan.seed)
                pairs += _tried(attempt, drawn, plan.profiles, logs, common)
    for log in reversed(logs):  # the first one says that the program is done
        log.finish(plan.keys)
    return pairs, bench.usage


class Attempt:
    """One nest of a program that recipes are tried on.

    Each recipe is ported and applied once, whatever the number of profiles.
    """

    def __init__(self, bench: Bench, nest: Nest, encoder: Encoder) -> None:
        self.bench, self.nest = bench, nest
        self._embedding = encoder.encode(nest)
        self._ported: dict[str, Recipe | None] = {}
        self._written: dict[Recipe, Source | LoopbookError] = {}

    def places(self) -> list[Place]:
        """The nest at each size."""
        position, fingerprint = self.nest.position, self.nest.fingerprint
        return [
            Place(position, fingerprint, round(size.shares[position], 4), size.trips[position])
            for size in self.bench.sizes
        ]

    def drawn(self, donors: Donors, name: str, count: int, seed: int) -> list[tuple[str, Donor]]:
        """Records of the very nest, then others; each with why it was drawn."""
        random = Random(f"{seed} {self.nest.fingerprint}")
        others = donors.draw(
            self.nest,
            self._embedding,
            name,
            count,
            random,
            lambda donor: self.ported(donor) is not None,
        )
        return [*((OWN, donor) for donor in donors.own(self.nest)), *others]

    def ported(self, donor: Donor) -> Recipe | None:
        """The donor's recipe in this nest's words; None if there is no match."""
        record = donor.record
        if record.id not in self._ported:
            self._ported[record.id] = port(
                record.recipe, donor.nest, donor.embedding, self.nest, self._embedding
            )
        return self._ported[record.id]

    def written(self, recipe: Recipe) -> Source | LoopbookError:
        """The sources with a recipe, or why there are none."""
        if recipe not in self._written:
            try:
                self._written[recipe] = self.bench.write(
                    {self.nest.position: tuple((step.op, step.args) for step in recipe)}
                )
            except LoopbookError as error:
                self._written[recipe] = error
        return self._written[recipe]

    def readings(self, recipes: Iterable[Recipe], march: str) -> list[dict[str, Reading]]:
        """For each size, hash of the code to what was measured of it."""
        sources = [self.written(recipe) for recipe in recipes]
        fresh = {source.code: source for source in sources if isinstance(source, Source)}
        measured = self.bench.measure(list(fresh.values()), march)
        return [
            {code: readings[place] for code, readings in zip(fresh, measured, strict=True)}
            for place in range(len(self.bench.sizes))
        ]


def _tried(
    attempt: Attempt,
    drawn: Sequence[tuple[str, Donor]],
    profiles: Profiles,
    logs: Sequence[TransferLog],
    common: TransferLog,
) -> list[Pair]:
    """Try the donors' recipes on all profiles that the logs, one for each size, lack."""
    position = attempt.nest.position
    todo = {
        march: profile
        for march, profile in profiles.items()
        if not all(log.measured(position, profile.key) for log in logs)
    }
    if not todo or not drawn:
        return []
    common.records(donor.record for _, donor in drawn)
    nest_json = program.cut(program.parse(attempt.bench.text), attempt.nest)
    for log, place in zip(logs, attempt.places(), strict=True):
        log.place(place, nest_json)
    ported = [attempt.ported(donor) for _, donor in drawn]
    done: list[Pair] = []
    for march, profile in todo.items():
        found = attempt.readings([one for one in ported if one is not None], march)
        for number, (log, readings) in enumerate(zip(logs, found, strict=True)):
            seen: set[str] = set()
            pairs = []
            for (why, donor), recipe in zip(drawn, ported, strict=True):
                blank = _blank(attempt, why, donor, profile)
                pair = _outcome(attempt, blank, recipe, readings, seen)
                seen.add(pair.code)
                # What is not built at one size is not at any: the first one's row is enough.
                if pair.code or not number:
                    pairs.append(replace(pair, date=_now()))
            if not log.measured(position, profile.key):
                log.pairs(pairs)
                done += pairs
    return done


def _blank(attempt: Attempt, why: str, donor: Donor, profile: HardwareProfile) -> Pair:
    record = donor.record
    return Pair(
        nest=attempt.nest.position,
        fingerprint=attempt.nest.fingerprint,
        donor=record.nest,
        donor_fingerprint=record.fingerprint,
        record=record.id,
        donor_hardware=record.hardware.key,
        drawn=why,
        recipe=record.recipe.text(),
        ported="",
        dropped="",
        hardware=profile.key,
        isa=profile.isa,
        threads=profile.threads,
        cpu=profile.cpu,
        outcome=NO_MATCH,
    )


def _outcome(
    attempt: Attempt,
    pair: Pair,
    recipe: Recipe | None,
    readings: Mapping[str, Reading],
    seen: set[str],
) -> Pair:
    """`pair` with what came of the recipe."""
    if recipe is None:
        return pair
    source = attempt.written(recipe)
    if isinstance(source, LoopbookError):
        return replace(
            pair, ported=recipe.text(), outcome=failure_of(source), message=_short(source)
        )
    position = attempt.nest.position
    applied = tuple(Step(op, args) for op, args in source.recipes[position])
    pair = replace(
        pair,
        ported=Recipe(applied).text(),
        dropped=Recipe(tuple(left_out(recipe.steps, applied))).text(),
        code=source.code,
        shared=source.code in seen,
    )
    reading = readings[source.code]
    if reading.error is not None:
        return replace(pair, outcome=failure_of(reading.error), message=_short(reading.error))
    before, after = reading.reference.nests.get(position), reading.times.nests.get(position)
    message = ""
    if not (before and after and min(before) > 0 and min(after) > 0):
        before, after = reading.reference.seconds, reading.times.seconds
        message = "times of the whole program"  # the nest's timers are gone
    speedup = min(before) / min(after)
    return replace(
        pair,
        outcome=outcome_of(speedup),
        speedup=round(speedup, 5),
        baseline_s=round(min(before), 9),
        tuned_s=round(min(after), 9),
        runs=len(after),
        message=message,
    )


def left_out(steps: Iterable[Step], applied: Sequence[Step]) -> Iterator[Step]:
    """What of `steps` is missing in `applied`, which has the rest in the same order."""
    waiting = list(applied)
    for step in steps:
        if waiting and waiting[0] == step:
            del waiting[0]
        else:
            yield step


def _unit(job: Job, plan: Plan, preset: str) -> Unit:
    name = job.task.name
    return Unit(
        program=name,
        suite=job.suite,
        family=family_of(name),
        preset=preset,
        sizes=dict(job.task.parameters[preset]),
        target=plan.target,
        seed=plan.seed,
        port_version=port_version(),
        **versions(),
    )


def _short(error: LoopbookError) -> str:
    return " ".join(str(error).split())[:200]


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
