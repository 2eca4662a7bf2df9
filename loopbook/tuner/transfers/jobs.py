"""Which programs recipes are tried on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loopbook.tuner.task import PythonTask
from loopbook.tuner.transfers.measure import Job
from loopbook.workloads import polybench, synthetic
from loopbook.workloads.workload import Workload

SYNTHETIC_SIZES, SYNTHETIC_LEAST = ("M", "L"), 1.5e-4
POLYBENCH_SIZES, POLYBENCH_LEAST = ("SMALL", "MEDIUM"), 4e-4
"""The smallest of these sizes at which a run takes so many seconds: short runs are many pairs."""


def jobs(count: int, seed: int = 0, kernels: Sequence[str] | None = None) -> Iterator[Job]:
    """Synthetic programs, with PolyBench's kernels spread among them.

    Args:
        count: synthetic programs.
        kernels: of PolyBench; all by default.
    """
    suite = list(polybench.names() if kernels is None else kernels)
    done = 0
    for place, workload in enumerate(synthetic.generate(count, seed) if count else ()):
        yield _job(workload, "synthetic", SYNTHETIC_SIZES, SYNTHETIC_LEAST)
        while done < len(suite) * (place + 1) // count:
            yield _kernel(suite[done])
            done += 1
    for name in suite[done:]:
        yield _kernel(name)


def _kernel(name: str) -> Job:
    return _job(polybench.load(name), "polybench", POLYBENCH_SIZES, POLYBENCH_LEAST)


def _job(workload: Workload, suite: str, sizes: Sequence[str], least_s: float) -> Job:
    return Job(PythonTask(workload), suite, sizes, least_s)
