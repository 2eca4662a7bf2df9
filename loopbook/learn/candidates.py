"""Examples from tuners' candidates: logs of searches, with the nests that they are about."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path

from loopbook.errors import LoopbookError
from loopbook.learn.examples import Example, Examples, gain_of
from loopbook.recipes.hardware import HardwareProfile
from loopbook.sdfg import frontend, program
from loopbook.sdfg.nest import Nest
from loopbook.sdfg.trips import trip_counts
from loopbook.tuner import corpus
from loopbook.tuner.samples import Sample, read_logs
from loopbook.workloads import polybench, synthetic
from loopbook.workloads.workload import Workload

MEASURED = frozenset({"ok", "wrong", "hang", "crash", "memory"})
"""Statuses that say something of the recipe; what is illegal is never asked about."""


def from_logs(
    paths: Iterable[Path], progress: Callable[[int, int], None] = lambda done, total: None
) -> Examples:
    """All candidates on synthetic programs in logs of searches, see
    `loopbook.tuner.samples.read_logs`, or in folders of a corpus that such logs were packed into.

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
    return of_samples([one for one in found if one.kernel not in suite], progress)


def of_samples(
    samples: Iterable[Sample], progress: Callable[[int, int], None] = lambda done, total: None
) -> Examples:
    """Candidates as examples. Programs that are not known by name are left out, and so are nests
    that docc makes otherwise today than when they were measured.

    Args:
        progress: called with programs done and in all.
    """
    programs: dict[tuple[object, ...], list[Sample]] = {}
    for sample in samples:
        if sample.status in MEASURED and sample.profile:
            key = (sample.kernel, sample.preset, tuple(sorted(sample.sizes.items())))
            programs.setdefault(key, []).append(sample)
    found = Examples()
    for number, group in enumerate(programs.values(), 1):
        _add(found, group)
        progress(number, len(programs))
    return found


def _add(found: Examples, group: list[Sample]) -> None:
    """Add the candidates of one program at one size."""
    first = group[0]
    known = _nests(first)
    for sample in group:
        if sample.fingerprint not in known:
            continue
        nest, trips = known[sample.fingerprint]
        found.nests[sample.fingerprint] = nest
        if sample.hardware not in found.hardware:
            found.hardware[sample.hardware] = HardwareProfile.from_json(json.loads(sample.profile))
        found.examples.append(
            Example(
                program=sample.kernel,
                family=family_of(sample.kernel),
                fingerprint=sample.fingerprint,
                target=sample.target,
                hardware=sample.hardware,
                trips=trips,
                steps=sample.steps,
                gain=gain_of(sample.speedup),
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
