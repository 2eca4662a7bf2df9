"""What a command is about: an SDFG from a file, or a workload with its data."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from loopbook.cli.deadline import deadline
from loopbook.errors import InputError, SdfgError, WorkloadError

if TYPE_CHECKING:
    from loopbook.sdfg.untrusted import Names
    from loopbook.tuner.task import TuningTask
    from loopbook.workloads.call import Call
    from loopbook.workloads.workload import Workload

T = TypeVar("T")

SECONDS = 60.0
"""Limit for reading an SDFG or setting up a workload's data."""


def _own_names() -> Names:
    from loopbook.sdfg.untrusted import Names

    return Names()


@dataclass
class Source:
    """One program.

    Attributes:
        preset: of a workload; "given" for an SDFG file.
        workload: None for an SDFG file.
        json_text: of an SDFG file, as it was let in (see `loopbook.sdfg.untrusted`).
        names: what its author calls things; `sizes` are by our names.
    """

    name: str
    preset: str
    sizes: Mapping[str, int]
    workload: Workload | None = None
    json_text: str = ""
    names: Names = field(default_factory=_own_names)

    @cached_property
    def arguments(self) -> list[Any]:
        """The workload's arguments at the chosen size."""
        if self.workload is None:
            raise InputError(f"{self.name} is an SDFG without data; give a workload file")
        return self.workload.arguments(self.preset, self.sizes or None)

    @cached_property
    def call(self) -> Call | None:
        """What docc is given for a workload: loops, where its kernel is made of arrays."""
        if self.workload is None:
            return None
        from loopbook.workloads.call import Call

        return Call.of(self.workload, self.arguments)

    @property
    def text(self) -> str:
        """The SDFG as JSON text, not prepared."""
        return self.json_text if self.call is None else self.call.text

    @property
    def symbols(self) -> dict[str, int]:
        """Values of the SDFG's size symbols, as far as they are known."""
        return dict(self.sizes) if self.call is None else self.call.symbols

    def told(self, value: T) -> T:
        """What is told about the program, in its author's names."""
        if isinstance(value, str):
            return self.names.words(value)
        return self.names.restored(value)

    def check(self) -> None:
        """Go once through all that comes before the first compile, in a child process.

        Raises:
            LoopbookError: docc cannot handle the program or crashes on it, it has no loops, its
                data cannot be made, or all that takes longer than `SECONDS`.
        """
        from loopbook.toolchain.sandbox import TRIES, run_limited

        with self.names.in_errors():
            run_limited(self._check, seconds=SECONDS, what=f"reading {self.name}", tries=TRIES)

    def _check(self) -> None:
        from loopbook.sdfg.program import prepare_nests

        task = self.task()
        alone = self.workload is None  # what has no loops needs no sizes either
        text = self.json_text if alone else task.text(task.arguments(self.preset))
        if not prepare_nests(text)[1]:
            raise SdfgError(f"{self.name} has no loops: there is nothing to tune")
        if alone:
            task.arguments(self.preset)

    def task(self) -> TuningTask:
        """The program for the tuner."""
        from loopbook.tuner.task import PythonTask, SdfgTask

        if self.workload is not None:
            return PythonTask(self.workload, self.sizes)
        return SdfgTask(self.name, self.json_text, self.sizes)


def load_source(given: str, preset: str, sizes: Mapping[str, int]) -> Source:
    """The program that a command line names.

    Raises:
        InputError: if there is no such file, kernel or preset, or it cannot be read.
        SdfgError: if the file is no SDFG that is let in.
    """
    if given.endswith(".json"):
        from loopbook.sdfg.untrusted import admit

        path = Path(given)
        admitted = admit(_read(path))
        sizes, names = admitted.names.fresh(sizes), admitted.names
        return Source(path.stem, "given", sizes, json_text=admitted.text, names=names)
    workload = load_workload(given)
    from loopbook.workloads.given import usual_preset

    preset = preset or usual_preset(workload.parameters)
    if preset not in workload.parameters:
        known = ", ".join(workload.parameters)
        raise WorkloadError(f"{workload.name} has no preset {preset!r}, only {known}")
    return Source(workload.name, preset, sizes, workload)


def load_workload(given: str) -> Workload:
    """A workload by file (``FILE.py[:FUNC]``), PolyBench name or made program's name.

    Its ``initialize`` is stopped after `SECONDS`.
    """
    from loopbook.workloads.given import known
    from loopbook.workloads.workload import load_workload as load

    if (found := known(given)) is not None:
        return found
    path, _, func = given.partition(":")
    if path.endswith(".json"):
        raise InputError(f"{given} is an SDFG without data; give a workload file")
    if not path.endswith(".py"):
        raise InputError(f"{given!r} is neither FILE.py, FILE.json nor a PolyBench kernel's name")
    with deadline(SECONDS, f"running {path}"):
        workload = load(path, func or None)
    _refuse_exceptions(workload)
    return replace(workload, initialize=_stopped(workload.initialize))


def _refuse_exceptions(workload: Workload) -> None:
    """docc leaves ``raise`` out without a word, and what it compiles computes on."""
    try:
        source = textwrap.dedent(inspect.getsource(workload.kernel))
        found = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Raise)]
    except (OSError, SyntaxError):
        return  # docc cannot parse it either, and says so
    if found:
        raise WorkloadError(
            f"{workload.path}: {workload.kernel.__name__} raises an exception in line"
            f" {found[0].lineno}; compiled code would go on there, so take it out"
        )


def _stopped(initialize: Callable[..., Any]) -> Callable[..., Any]:
    """`initialize` with a limit on its time; leaving the program counts as a failure of its own."""

    @wraps(initialize)
    def limited(*args: Any, **kwargs: Any) -> Any:
        try:
            with deadline(SECONDS, "it"):
                return initialize(*args, **kwargs)
        except SystemExit:
            raise WorkloadError("it wanted to end the program") from None

    return limited


def _read(path: Path) -> str:
    from loopbook.program.load import MAX_TEXT

    try:
        if path.stat().st_size > MAX_TEXT:
            raise SdfgError(f"{path} has more than {MAX_TEXT >> 20} MiB")
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise SdfgError(f"{path} is no text in UTF-8") from None
    except OSError as error:
        raise SdfgError(f"cannot read {path}: {error.strerror}") from None
