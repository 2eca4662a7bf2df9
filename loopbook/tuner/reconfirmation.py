"""Measures a record that somebody else has made: its nest alone, with data of our own.

Nothing that the record says is taken for true but the nest, the recipe, and how often loops run,
from which the sizes to measure at follow. What it says is read, built and run in a jail
(`loopbook.toolchain.jail`): `verdict_of` is called outside, `reconfirm` inside.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from loopbook.errors import IllegalStepError, InputError, JailError, LoopbookError
from loopbook.program.trips import trip_counts
from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.record import Measurement, Record
from loopbook.sdfg.arguments import size_names
from loopbook.sdfg.made_up import MadeUp
from loopbook.sdfg.program import prepare_nests
from loopbook.sdfg.transformed import transform
from loopbook.sdfg.untrusted import admit
from loopbook.toolchain import jail
from loopbook.toolchain.sandbox import run_limited
from loopbook.tuner.confirmation import confirm
from loopbook.tuner.records import spread
from loopbook.tuner.session import FAILURES, Session
from loopbook.tuner.sizes import MOST, sizes_for
from loopbook.tuner.task import SdfgTask

LONGEST_S = 1.0
"""Sizes at which the nest is said to take longer are not measured at, if there are others."""

READ_SECONDS = 60.0

UNMEASURED = "unmeasured"

STATUSES = frozenset({"ok", "error", UNMEASURED, *FAILURES.values()})

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")

MOST_SIZES = 64

LONGEST_TIME_S = 1e5

MOST_RUNS = 1_000_000

MOST_SPEEDUP = 1e6

MOST_TRIPS = 2**62


@dataclass(frozen=True)
class Verdict:
    """What measuring came to.

    Attributes:
        status: see `loopbook.tuner.session.Outcome`; "unmeasured" where nothing could be.
        speedup: of the nest over docc's own compile; 0 for a failure.
        sizes: that it was measured at.
        message: why it failed.
        baseline_s: seconds of docc's own compile.
        spread, runs, trips: see `loopbook.recipes.record.Measurement`.
    """

    status: str
    speedup: float = 0.0
    sizes: Mapping[str, int] = field(default_factory=dict)
    message: str = ""

    baseline_s: float = 0.0
    spread: float = 0.0
    runs: int = 0
    trips: Mapping[str, int] = field(default_factory=dict)

    @property
    def measurement(self) -> Measurement | None:
        """What was measured, as a record tells it; None for a failure."""
        if self.status != "ok":
            return None
        return Measurement(
            self.baseline_s,
            self.baseline_s / self.speedup,
            self.spread,
            self.runs,
            dict(self.sizes),
            dict(self.trips),
        )

    @classmethod
    def from_json(cls, told: Any) -> Verdict:
        """What `jailed` returned, or what a nest that has taken the jail over made of it.

        Raises:
            InputError: it is no verdict.
        """
        try:
            good = told.keys() == {one.name for one in fields(cls)}
            status, speedup, base = told["status"], told["speedup"], told["baseline_s"]
            sizes, trips = told["sizes"], told["trips"]
            spread, runs, message = told["spread"], told["runs"], told["message"]
            good &= status in STATUSES and isinstance(message, str)
            for number, most in ((speedup, MOST_SPEEDUP), (base, LONGEST_TIME_S), (spread, 1e3)):
                good &= type(number) in (int, float) and 0 <= number <= most
            good &= (speedup > 0) == (base > 0) == (runs > 0) == (status == "ok")
            good &= type(runs) is int and 0 <= runs <= MOST_RUNS
            for numbers, most in ((sizes, MOST), (trips, MOST_TRIPS)):
                good &= len(numbers) <= MOST_SIZES
                good &= all(type(one) is int and 0 <= one <= most for one in numbers.values())
                good &= all(_NAME.fullmatch(name) for name in numbers)
        except (TypeError, KeyError, AttributeError):
            good = False
        if not good:
            raise InputError("the jail sent something that is no verdict")
        return cls(
            status,
            float(speedup),
            dict(sizes),
            jail.clean(message),
            float(base),
            float(spread),
            runs,
            dict(trips),
        )


def reconfirm(record: Record, here: HardwareProfile) -> Verdict:
    """Build a record's nest with its recipe, check the numbers against the unoptimised nest's, and
    time it in turn with docc's own compile. To be called in a jail (see `jailed`).

    Raises:
        LoopbookError: the nest itself cannot be read, compiled or run on this machine, is not
            defined on any data that can be made for it, or is miscompiled without a recipe.
    """
    if not record.recipe.steps:
        raise InputError("there is no recipe to measure")
    text = admit(record.nest_json).text
    sizes, trips = run_limited(_sizes, record, text, seconds=READ_SECONDS, what="reading the nest")
    if misfit := _misfit(record, text):
        return Verdict("illegal", sizes=sizes, message=misfit)
    task = SdfgTask("nest", text, sizes)
    task.check()
    candidate = {0: record.recipe.steps}
    with Session(task, task.PRESET, record.target, threads=here.threads) as session:
        outcome = session.measure(candidate, lenient=False)
        if outcome.status != "ok":
            return Verdict(outcome.status, sizes=sizes, message=outcome.message)
        times = confirm(session, [candidate])
        if not times.tuned:
            return Verdict("wrong", sizes=sizes, message="its numbers differ now and then")
        before, after = times.before(0), times.after(0, record.recipe.steps)
        if not (before and after):  # the nest's timers are gone
            before, after = min(times.baseline.seconds), min(times.tuned[0].seconds)
        pairs = zip(times.plain.seconds, times.tuned[0].seconds, strict=False)
        ratios = [slow / fast for slow, fast in pairs]
    return Verdict("ok", before / after, sizes, "", before, spread(ratios), len(ratios), trips)


def _sizes(record: Record, text: str) -> tuple[dict[str, int], dict[str, int]]:
    """Sizes for a record's nest, and how often its loops run then. Runs in a child process: nobody
    knows the nest.

    Args:
        text: the nest, as it was let in.

    Raises:
        LoopbookError: it cannot be read, or is another one than the record says.
    """
    _, nests = prepare_nests(text)
    if [nest.fingerprint for nest in nests] != [record.fingerprint]:
        raise InputError("the record's fingerprint is not that of its nest")
    found = sizes_for(nests[0], size_names(text), _wanted(record))
    sizes = MadeUp(text, found).fitted(found, most=MOST)
    return sizes, {name: count for name, count in trip_counts(nests[0], sizes).items() if count}


def _misfit(record: Record, text: str) -> str:
    """Why the recipe does not fit the nest: that shows before anything is compiled. Nothing if it
    fits; whatever else is wrong shows when it is built."""
    try:
        run_limited(_apply, record, text, seconds=READ_SECONDS, what="applying the recipe")
    except IllegalStepError as error:
        return str(error)
    except LoopbookError:
        pass
    return ""


def _apply(record: Record, text: str) -> None:
    transform(text, record.target, {0: record.recipe.steps})


def _wanted(record: Record) -> Mapping[str, int]:
    """The trips to measure at: those of the longest measurement that does not take too long."""
    told = [one for one in record.measurements if one.trips]
    short = [one for one in told if one.baseline_s <= LONGEST_S]
    if short:
        return max(short, key=lambda one: one.baseline_s).trips
    return min(told, key=lambda one: one.baseline_s).trips if told else {}


def jailed(given: Any) -> Any:
    """`reconfirm` as a job of `loopbook.toolchain.jail`.

    Args:
        given: a record and a hardware profile, as JSON.
    """
    record, here = Record.from_json(given[0]), HardwareProfile.from_json(given[1])
    return asdict(reconfirm(record, here))


def reconfirm_in_jail(record: Record, here: HardwareProfile) -> Verdict:
    """`reconfirm` in a jail.

    Raises:
        JailError: this machine has no jails.
        LoopbookError: what `reconfirm` raises, or the jail had to be ended.
    """
    given = [record.to_json(), here.to_json()]
    told = jail.call(f"{__name__}:{jailed.__name__}", given, what="measuring the record")
    return Verdict.from_json(told)


def verdict_of(record: Record, here: HardwareProfile) -> Verdict:
    """`reconfirm_in_jail`, where what cannot be measured is a verdict too: one that leaves the
    matter open.

    Raises:
        JailError: this machine has no jails.
    """
    try:
        return reconfirm_in_jail(record, here)
    except JailError:
        raise
    except LoopbookError as error:
        return Verdict(UNMEASURED, message=str(error))
