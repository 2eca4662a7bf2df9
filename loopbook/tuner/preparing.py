"""What preparing a program gains by itself, before any recipe.

Recipes want each nest on its own, its loops named apart, and threads that keep what they share in
variables of their own. The program made so is often as fast as docc's own compile, and for OpenMP
often many times as fast. Trials and transfers compare recipes with docc's own schedule of the
prepared program; what is served is compared with docc's own compile. These measurements are what
lies between the two.

One JSON object a line. A process that is killed leaves at most one torn line, which reading skips.
"""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from loopbook.errors import CorpusError, LoopbookError
from loopbook.tuner import corpus
from loopbook.tuner.samples import Sample
from loopbook.tuner.search import versions
from loopbook.tuner.session import Session
from loopbook.tuner.task import PythonTask
from loopbook.workloads import synthetic

PATH = corpus.CORPUS / "preparing.jsonl"
"""Those in the repository; wheels come without."""

Place = tuple[str, str, str, tuple[tuple[str, int], ...]]
"""Program, preset, target, sizes."""


@dataclass(frozen=True)
class Preparing:
    """One program at one size.

    Attributes:
        hardware: key of the machine's profile.
        baseline_s: seconds of docc's own compile, fastest run.
        prepared_s: seconds of the prepared program with docc's own schedule, taken in turn.
    """

    program: str
    preset: str
    sizes: dict[str, int]
    target: str
    hardware: str
    baseline_s: float
    prepared_s: float
    docc: str
    compiler: str
    loopbook: str
    date: str

    @property
    def place(self) -> Place:
        return place_of(self.program, self.preset, self.target, self.sizes)

    @property
    def gain(self) -> float:
        """Base-2 logarithm of the speedup over docc's own compile."""
        return math.log2(self.baseline_s / self.prepared_s)


def place_of(program: str, preset: str, target: str, sizes: dict[str, int]) -> Place:
    return program, preset, target, tuple(sorted(sizes.items()))


def load(path: Path) -> dict[Place, float]:
    """Gains of preparing (see `Preparing.gain`); empty where nothing was measured.

    Raises:
        CorpusError: the file cannot be read.
    """
    return {one.place: one.gain for one in rows(path)}


def rows(path: Path) -> Iterator[Preparing]:
    """All measurements in a file; none if it is missing.

    Raises:
        CorpusError: the file cannot be read.
    """
    try:
        lines = path.read_text().splitlines() if path.exists() else []
    except (OSError, UnicodeDecodeError) as error:
        raise CorpusError(f"cannot read {path}: {error}") from None
    for line in lines:
        try:
            one = Preparing(**json.loads(line))
            if one.baseline_s > 0 and one.prepared_s > 0:
                yield one
        except (ValueError, TypeError):
            continue


def places(samples: Iterable[Sample], target: str) -> list[Place]:
    """Where synthetic programs were tuned for a target."""
    found = {
        place_of(one.kernel, one.preset, one.target, one.sizes): None
        for one in samples
        if "." in one.kernel and one.target == target and one.sizes
    }
    return list(found)


def measure(
    wanted: Iterable[Place], path: Path, hardware: str, threads: int, *, timeout: float = 20.0
) -> Iterator[Preparing | None]:
    """Measure programs, each written to the file as soon as it is known; None for one that cannot
    be compiled or run here.

    Args:
        hardware: key of this machine's profile.
        threads: that OpenMP uses.
        timeout: limit for a run of the unoptimised program, seconds.

    Raises:
        CorpusError: the file cannot be written.
    """
    for place in wanted:
        try:
            one = _measured(place, hardware, threads, timeout)
        except LoopbookError:
            yield None
            continue
        try:
            with path.open("a") as file:
                file.write(json.dumps(asdict(one)) + "\n")
        except OSError as error:
            raise CorpusError(f"cannot write {path}: {error.strerror or error}") from None
        yield one


def _measured(place: Place, hardware: str, threads: int, timeout: float) -> Preparing:
    program, preset, target, sizes = place
    task = PythonTask(synthetic.load(program), dict(sizes))
    with Session(task, preset, target, threads=threads, timeout=timeout) as session:
        return Preparing(
            program,
            preset,
            dict(sizes),
            target,
            hardware,
            session.baseline_s,
            session.plain_s,
            **versions(),
            date=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        )
