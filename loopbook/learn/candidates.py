"""Examples from tuners' candidates: logs of searches, with the nests that they are about."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from loopbook.errors import LoopbookError
from loopbook.learn.examples import Example, Examples, gain_of
from loopbook.program.nest import Nest
from loopbook.program.trips import trip_counts
from loopbook.recipes.hardware import HardwareProfile
from loopbook.sdfg import frontend, program
from loopbook.tuner import corpus
from loopbook.tuner.preparing import Place, place_of
from loopbook.tuner.samples import Sample, read_logs
from loopbook.workloads import polybench, synthetic
from loopbook.workloads.workload import Workload

MEASURED = frozenset({"ok", "wrong", "hang", "crash", "memory"})
"""Statuses that say something of the recipe; what is illegal is never asked about."""

UNSTEADY = 1.5
"""A nest whose time by docc's own schedule was this many times what it was at best was measured
while something else had the machine: what its recipes seemed to gain is not theirs."""


def from_logs(
    paths: Iterable[Path],
    preparing: Mapping[Place, float] | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Examples:
    """All candidates on synthetic programs in logs of searches, see
    `loopbook.tuner.samples.read_logs`, or in folders of a corpus that such logs were packed into.

    Args:
        preparing: see `of_samples`.

    Raises:
        CorpusError: a log or corpus cannot be read.
    """
    found: list[Sample] = []
    for path in paths:
        if any(path.glob("*.parquet")):
            found += corpus.samples(corpus.load(path))
        else:
            found += read_logs([path], {}).samples
    suite = polybench.names()
    return of_samples([one for one in found if one.kernel not in suite], preparing, progress)


def of_samples(
    samples: Iterable[Sample],
    preparing: Mapping[Place, float] | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Examples:
    """Candidates as examples. Programs that are not known by name are left out, and so are nests
    that docc makes otherwise today than when they were measured.

    Args:
        preparing: what preparing each program gains, see `loopbook.tuner.preparing.load`.
        progress: called with programs done and in all.
    """
    programs: dict[tuple[object, ...], list[Sample]] = {}
    for sample in steady(samples):
        if sample.status in MEASURED and sample.profile:
            key = (sample.kernel, sample.preset, tuple(sorted(sample.sizes.items())))
            programs.setdefault(key, []).append(sample)
    found = Examples()
    for number, group in enumerate(programs.values(), 1):
        _add(found, group, preparing or {})
        progress(number, len(programs))
    return found


def steady(samples: Iterable[Sample]) -> list[Sample]:
    """Those that were compared with what docc's own schedule takes when nothing disturbs it, as far
    as the samples tell: a recipe without steps is that schedule, too."""
    told = list(samples)
    usual: dict[tuple[object, ...], float] = {}
    for one in told:
        times = [one.before_s, None if one.steps.strip() else one.after_s]
        known = [seconds for seconds in times if seconds]
        if known:
            usual[_place(one)] = min(*known, usual.get(_place(one), math.inf))
    return [
        one for one in told if not one.before_s or one.before_s <= UNSTEADY * usual[_place(one)]
    ]


def _place(sample: Sample) -> tuple[object, ...]:
    """The nest, size, machine and target of a sample."""
    sizes = tuple(sorted(sample.sizes.items()))
    return sample.kernel, sample.fingerprint, sizes, sample.hardware, sample.target


def _add(found: Examples, group: list[Sample], preparing: Mapping[Place, float]) -> None:
    """Add the candidates of one program at one size."""
    known = _nests(group[0])
    for sample in group:
        if sample.fingerprint not in known:
            continue
        nest, trips = known[sample.fingerprint]
        found.nests[sample.fingerprint] = nest
        if sample.hardware not in found.hardware:
            found.hardware[sample.hardware] = HardwareProfile.from_json(json.loads(sample.profile))
        place = place_of(sample.kernel, sample.preset, sample.target, sample.sizes)
        # Without steps it is docc's own schedule, whatever the clock says.
        speedup = sample.speedup if sample.steps.strip() else 1.0
        found.examples.append(
            Example(
                program=sample.kernel,
                family=family_of(sample.kernel),
                fingerprint=sample.fingerprint,
                target=sample.target,
                hardware=sample.hardware,
                trips=trips,
                steps=sample.steps,
                gain=gain_of(speedup, preparing.get(place, 0.0)),
                baseline_s=sample.before_s or 0.0,
            )
        )


def _nests(sample: Sample) -> dict[str, tuple[Nest, dict[str, int]]]:
    """Fingerprint to nest and trips, of a sample's program at its size."""
    try:
        workload = _workload(sample.kernel)
        sizes = sample.sizes if sample.sizes.keys() <= _sizes(workload, sample.preset) else {}
        arguments = workload.arguments(sample.preset, sizes or None)
        symbols = frontend.size_symbols(workload.kernel, arguments)
        _, nests = program.prepare_nests(frontend.trace(workload.kernel, arguments))
    except (LoopbookError, KeyError):
        return {}
    return {nest.fingerprint: (nest, trip_counts(nest, symbols)) for nest in nests}


def _sizes(workload: Workload, preset: str) -> set[str]:
    return set(workload.parameters[preset])


def _workload(name: str) -> Workload:
    return polybench.load(name) if name in polybench.names() else synthetic.load(name)


def family_of(kernel: str) -> str:
    """What is held out together: a synthetic program's family, or a PolyBench kernel."""
    return kernel.partition(".")[0]
