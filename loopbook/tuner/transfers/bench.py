"""Builds and measures ported recipes in one program, for several instruction sets.

Recipes are applied once and compiled for each instruction set; many are compiled and measured
together (see `loopbook.toolchain.batch` and `loopbook.toolchain.batch_runner`).
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

from loopbook.errors import DeadlineError, LoopbookError
from loopbook.program.trips import trip_counts
from loopbook.sdfg import program
from loopbook.sdfg.build import BUILD_BYTES
from loopbook.sdfg.sources import write_tuned, write_unoptimised
from loopbook.sdfg.transformed import Recipes
from loopbook.toolchain import scratch
from loopbook.toolchain.batch import Source, compile_together, silent_compiler
from loopbook.toolchain.batch_runner import BatchRunner, Reading, Rounds
from loopbook.toolchain.built import Built
from loopbook.toolchain.compiler import activate
from loopbook.toolchain.run import RUN_SECONDS
from loopbook.toolchain.worker import Worker
from loopbook.tuner.task import TuningTask

Result = TypeVar("Result")

APPLY_SECONDS = 6.0
"""A recipe whose legality takes longer to decide is given up."""

LONGEST = 0.01
"""Seconds that the program may take at the second size."""

TOGETHER = 12
"""Programs compiled and measured together; a failure among them costs each a compile of its own."""

ROUNDS = (Rounds(most=7, seconds=0.08), Rounds(most=5, seconds=0.03))
"""At the first size and at the second one."""

TIMES_SLOWER = 40.0
"""A candidate that takes so many times longer than docc's own schedule is ended."""


def patiently(function: Callable[[], Result]) -> Result:
    """``function()``, once more if its time is up: that may be the fault of whatever else the
    machine does."""
    try:
        return function()
    except DeadlineError:
        return function()


@dataclass(frozen=True)
class Size:
    """The program at one size.

    Attributes:
        runner: what measures there.
        plain_s: seconds of the prepared program without recipes.
        shares: nest position to its share of these.
        trips: nest position to how often its loops run.
    """

    preset: str
    runner: BatchRunner
    plain_s: float
    shares: dict[int, float]
    trips: dict[int, dict[str, int]]


class Bench:
    """One program for one target. Use as a context manager: it keeps builds in a folder.

    Attributes:
        text: the prepared program's SDFG.
        nests: of the prepared program.
        sizes: at which it is measured; what is compiled serves all of them.
        usage: seconds spent on "beginning", "applying", "compiling" and "running".
    """

    def __init__(
        self, task: TuningTask, presets: Sequence[str], least_s: float, target: str
    ) -> None:
        """
        Args:
            presets: smallest first. The first one at which docc's own schedule takes `least_s`
                seconds is chosen, else the last; also the one after, if that takes no longer than
                `LONGEST`.

        Raises:
            LoopbookError: if the program cannot be traced, compiled or run at all.
        """
        self.target = target
        self._folder = scratch.make()
        self._numbers = count()
        self.usage: dict[str, float] = {}
        self.text = ""
        self._interface: tuple[str, ...] = ()
        self.sizes: list[Size] = []
        activate()
        self._silent = silent_compiler(self._folder / "silent")
        self._writer = Worker(write_tuned, memory=BUILD_BYTES, what="docc")
        try:
            with self._counted("beginning"):
                self._begin(task, presets, least_s)
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
        shutil.rmtree(self._folder, ignore_errors=True)

    def _begin(self, task: TuningTask, presets: Sequence[str], least_s: float) -> None:
        for preset in presets:
            arguments = task.arguments(preset)
            traced = task.text(arguments)
            text, nests = program.prepare_apart(traced)
            arrays = program.parse(text).arguments
            interface = (*arrays, *(nest.fingerprint for nest in nests))
            if self.sizes and interface != self._interface:
                break  # docc has another program at that size
            if not self.text:
                self.text, self.nests, self._interface = text, nests, interface
                self._plain = self.write({})
                right = self._unoptimised(traced)
                group = [right, self._plain]
                library = patiently(partial(self._compile, group, "native"))
            size = self._size(task, preset, arguments, library, group)
            if self.sizes and size.plain_s > LONGEST:
                break
            self.sizes.append(size)
            if len(self.sizes) == len(ROUNDS):
                break
            if size.plain_s < least_s and preset != presets[-1]:
                self.sizes, self.text = [], ""

    def _unoptimised(self, traced: str) -> Source:
        """What gives the right numbers."""
        with Worker(write_unoptimised, memory=BUILD_BYTES, what="docc") as writer:
            folder = self._new_folder()
            writer.send(self._silent, traced, self.target, folder, seconds=APPLY_SECONDS)
            return writer.receive()

    def _size(
        self,
        task: TuningTask,
        preset: str,
        arguments: list[Any],
        library: Path,
        group: Sequence[Source],
    ) -> Size:
        binding = task.binding(arguments)
        unoptimised = Built(library, group[0].code, group[0].owners, {})
        expected, first = binding.run_once(unoptimised, seconds=RUN_SECONDS)
        runner = BatchRunner(binding, library, expected)
        limit = 5.0 + TIMES_SLOWER * first.seconds[0]
        (reading,) = runner.measure(library, group, rounds=ROUNDS[0], seconds=limit)
        if reading.error is not None:
            raise reading.error
        fastest = {place: min(runs) for place, runs in reading.times.nests.items()}
        total = sum(fastest.values()) or 1.0
        positions = [nest.position for nest in self.nests]
        symbols = task.symbols(arguments)
        return Size(
            preset,
            runner,
            min(reading.times.seconds),
            {position: fastest.get(position, 0.0) / total for position in positions},
            {nest.position: trip_counts(nest, symbols) for nest in self.nests},
        )

    def write(self, recipes: Recipes) -> Source:
        """Apply recipes and write the sources. Steps that only refine others
        (`loopbook.steps.Step.refines`) are left out where they do not fit.

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
            True,
            seconds=APPLY_SECONDS,
        )
        return self._writer.receive()

    def measure(self, sources: Sequence[Source], march: str) -> list[list[Reading]]:
        """Compile and measure, each in turn with the program without recipes.

        Args:
            march: instruction set, in the compiler's words.

        Returns:
            For each source a reading at each size.
        """
        readings: list[list[Reading]] = []
        for begun in range(0, len(sources), TOGETHER):
            readings += self._together(sources[begun : begun + TOGETHER], march)
        return readings

    def _together(self, sources: Sequence[Source], march: str) -> list[list[Reading]]:
        group = [self._plain, *sources]
        try:
            with self._counted("compiling"):
                library = patiently(partial(self._compile, group, march))
        except LoopbookError as error:
            if len(sources) == 1:
                return [[Reading(error=error) for _ in self.sizes]]
            return [readings for one in sources for readings in self._together([one], march)]
        try:
            with self._counted("running"):
                columns = [
                    size.runner.measure(
                        library, group, rounds=rounds, seconds=2.0 + TIMES_SLOWER * size.plain_s
                    )
                    for size, rounds in zip(self.sizes, ROUNDS, strict=False)
                ]
            return [list(row) for row in zip(*columns, strict=True)]
        finally:
            shutil.rmtree(library.parent, ignore_errors=True)

    def _compile(self, sources: Sequence[Source], march: str) -> Path:
        return compile_together(sources, self._new_folder() / "together.so", march)

    @contextmanager
    def _counted(self, what: str) -> Iterator[None]:
        begun = time.monotonic()
        try:
            yield
        finally:
            self.usage[what] = self.usage.get(what, 0.0) + time.monotonic() - begun

    def _new_folder(self) -> Path:
        return self._folder / f"f{next(self._numbers)}"
