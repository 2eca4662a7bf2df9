"""Builds and measures ported recipes in one program, for several instruction sets.

Recipes are applied once and compiled for each instruction set; many are compiled and measured
together (see `loopbook.sdfg.batch` and `loopbook.sdfg.turns`).
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import TypeVar

from loopbook.client.fit import OPTIONAL
from loopbook.errors import DeadlineError, LoopbookError
from loopbook.sdfg import batch, program, scratch
from loopbook.sdfg.batch import Source
from loopbook.sdfg.build import BUILD_BYTES, Built, Recipes
from loopbook.sdfg.compiler import activate
from loopbook.sdfg.run import RUN_SECONDS
from loopbook.sdfg.trips import trip_counts
from loopbook.sdfg.turns import Reading, Rounds, Turns
from loopbook.sdfg.worker import Worker
from loopbook.tuner.subject import Subject

Result = TypeVar("Result")

APPLY_SECONDS = 6.0
"""A recipe whose legality takes longer to decide is given up."""

TOGETHER = 12
"""Programs compiled and measured together; a failure among them costs each a compile of its own."""

ROUNDS = Rounds(most=9, seconds=0.12)

TIMES_SLOWER = 40.0
"""A candidate that takes so many times longer than docc's own schedule is ended."""


def patiently(function: Callable[[], Result]) -> Result:
    """``function()``, once more if its time is up: that may be the fault of whatever else the
    machine does."""
    try:
        return function()
    except DeadlineError:
        return function()


class Bench:
    """One program for one target. Use as a context manager: it keeps builds in a folder.

    Attributes:
        text: the prepared program's SDFG.
        nests: of the prepared program.
        preset: the size that was chosen.
        usage: seconds spent on "beginning", "applying", "compiling" and "running".
        plain_s: seconds of the prepared program without recipes.
        shares: nest position to its share of these.
        trips: nest position to how often its loops run.
    """

    def __init__(
        self, subject: Subject, presets: Sequence[str], least_s: float, target: str
    ) -> None:
        """
        Args:
            presets: smallest first; the first one at which docc's own schedule takes `least_s`
                seconds is chosen, else the last.

        Raises:
            LoopbookError: if the program cannot be traced, compiled or run at all.
        """
        self.target = target
        self._folder = scratch.make()
        self._numbers = count()
        self.usage: dict[str, float] = {}
        activate()
        silent = batch.silent_compiler(self._folder / "silent")
        self._silent = silent
        self._writer = Worker(batch.write_tuned, memory=BUILD_BYTES, what="docc")
        self._other = Worker(batch.write_baseline, memory=BUILD_BYTES, what="docc")
        try:
            with self._counted("beginning"):
                self._begin(subject, presets, least_s)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Bench:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the builder, and delete what was built."""
        self._writer.close()
        self._other.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _begin(self, subject: Subject, presets: Sequence[str], least_s: float) -> None:
        for self.preset in presets:
            arguments = subject.arguments(self.preset)
            traced = subject.text(arguments)
            prepared, self.nests = program.prepare_nests(traced)
            self.text = prepared.to_json()
            self._plain = self.write({})
            self._other.send(
                self._silent, traced, "none", self._new_folder(), seconds=APPLY_SECONDS
            )
            with self._other:
                right = self._other.receive()
            binding = subject.binding(arguments)
            group = [right, self._plain]
            library = patiently(partial(self._compile, group, "native"))
            unoptimised = Built(library, right.code, right.owners, {})
            expected, first = binding.run_once(unoptimised, seconds=RUN_SECONDS)
            turns = Turns(binding, library, expected)
            limit = 5.0 + TIMES_SLOWER * first.seconds[0]
            (reading,) = turns.measure(library, group, rounds=ROUNDS, seconds=limit)
            if reading.error is not None:
                raise reading.error
            self.plain_s = min(reading.times.seconds)
            if self.plain_s >= least_s:
                break
        self._turns = turns
        fastest = {place: min(runs) for place, runs in reading.times.nests.items()}
        total = sum(fastest.values()) or 1.0
        self.shares = {
            nest.position: fastest.get(nest.position, 0.0) / total for nest in self.nests
        }
        symbols = subject.symbols(arguments)
        self.trips = {nest.position: trip_counts(nest, symbols) for nest in self.nests}

    def write(self, recipes: Recipes) -> Source:
        """Apply recipes and write the sources. Steps in `loopbook.client.fit.OPTIONAL` that do not
        fit are left out.

        Raises:
            IllegalStepError: another step does not fit.
            RunError: docc crashed or hung.
        """
        with self._counted("applying"):
            return patiently(partial(self._write, recipes))

    def _write(self, recipes: Recipes) -> Source:
        folder = self._new_folder()
        self._writer.send(
            self._silent,
            self.text,
            self.target,
            recipes,
            folder,
            OPTIONAL,
            seconds=APPLY_SECONDS,
        )
        return self._writer.receive()

    def measure(self, sources: Sequence[Source], march: str) -> list[Reading]:
        """Compile and measure, each in turn with the program without recipes.

        Args:
            march: instruction set, in the compiler's words.
        """
        readings: list[Reading] = []
        for begun in range(0, len(sources), TOGETHER):
            readings += self._together(sources[begun : begun + TOGETHER], march)
        return readings

    def _together(self, sources: Sequence[Source], march: str) -> list[Reading]:
        group = [self._plain, *sources]
        try:
            with self._counted("compiling"):
                library = patiently(partial(self._compile, group, march))
        except LoopbookError as error:
            if len(sources) == 1:
                return [Reading(error=error)]
            return [reading for one in sources for reading in self._together([one], march)]
        try:
            limit = 2.0 + TIMES_SLOWER * self.plain_s
            with self._counted("running"):
                return self._turns.measure(library, group, rounds=ROUNDS, seconds=limit)
        finally:
            shutil.rmtree(library.parent, ignore_errors=True)

    def _compile(self, sources: Sequence[Source], march: str) -> Path:
        return batch.compile_together(sources, self._new_folder() / "together.so", march)

    @contextmanager
    def _counted(self, what: str) -> Iterator[None]:
        begun = time.monotonic()
        try:
            yield
        finally:
            self.usage[what] = self.usage.get(what, 0.0) + time.monotonic() - begun

    def _new_folder(self) -> Path:
        return self._folder / f"f{next(self._numbers)}"
