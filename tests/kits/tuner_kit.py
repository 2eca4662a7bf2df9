"""Small real programs to tune, and a look at the processes that tuning leaves."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from cli_kit import PRODUCT

from loopbook.program.load import load_json
from loopbook.steps import Step
from loopbook.toolchain.compiler import find_compiler
from loopbook.tuner.task import PythonTask
from loopbook.workloads.workload import load_workload

VECTORISED = (
    Step("interchange", ("L0", "L1")),
    Step("interchange", ("L0", "L2")),
    Step("vectorize", ("L0",)),
)
"""For the product in `PRODUCT`."""


def task(folder: Path, name: str = "mine", text: str = PRODUCT) -> PythonTask:
    """The workload `text`, from a file in `folder`."""
    path = folder / f"{name}.py"
    path.write_text(text)
    return PythonTask(load_workload(path))


@dataclass(frozen=True)
class Process:
    """One line of /proc.

    Attributes:
        state: R, S, T…
        ticks: processor time used so far, in clock ticks.
    """

    pid: int
    parent: int
    group: int
    state: str
    ticks: int


def processes() -> list[Process]:
    """All that run, without zombies."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if words[0] not in "ZX":
            parent, group, ticks = int(words[1]), int(words[2]), int(words[11]) + int(words[12])
            found.append(Process(int(path.parent.name), parent, group, words[0], ticks))
    return found


def descendants(pid: int) -> list[Process]:
    """All processes below `pid`."""
    everything, found, above = processes(), [], {pid}
    while above:
        below = [process for process in everything if process.parent in above]
        found += below
        above = {process.pid for process in below}
    return found


def marked(mark: str) -> list[int]:
    """Ids of the processes that have `mark` in their environment or inherited it."""
    found = []
    for process in processes():
        try:
            environment = Path(f"/proc/{process.pid}/environ").read_bytes()
        except OSError:
            continue
        if mark.encode() in environment:
            found.append(process.pid)
    return found


def bad_library(text: str, folder: Path, body: str) -> Path:
    """A library with the interface of the product's SDFG and this body; the result is ``C``."""
    document = load_json(text)
    arguments = ", ".join(
        f"long {name}" if name.startswith("_s") else f"double *{'C' if name == 'lb_out' else name}"
        for name in document["arguments"]
    )
    folder.mkdir()
    source, library = folder / "bad.cpp", folder / "bad.so"
    source.write_text(f'extern "C" void {document["name"]}({arguments}) {{ {body} }}')
    command = [find_compiler().path, "-shared", "-fPIC", "-O0", source, "-o", library]
    subprocess.run(command, check=True)
    return library
