"""What code is made for: each target declared once, with all that follows from it.

To add one, add it to `TARGETS`. Records, look-ups, the command line, the server and docc's hook
then know it; one that cannot be compiled for here says so in `missing`.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from loopbook.errors import InputError

THREADS_VARIABLE = "OMP_NUM_THREADS"

UNSCHEDULED = "none"
"""docc's own target whose loops stay as they are, without a schedule. No recipes are for it."""


class Target(NamedTuple):
    """What code is made for.

    Attributes:
        name: what records and users call it.
        docc: what docc's scheduler calls it.
        plugin: docc's target that takes recipes from the book for it.
        parallel: whether threads share the iterations of outermost loops.
        missing: why nothing for it can be compiled and run here; empty where it can.
    """

    name: str
    docc: str
    plugin: str
    parallel: bool = False
    missing: str = ""

    @property
    def threads(self) -> int:
        """Threads that a program built for the target runs with: 1, or what OpenMP will use."""
        if not self.parallel:
            return 1
        chosen = os.environ.get(THREADS_VARIABLE, "").split(",")[0].strip()
        return int(chosen) if chosen.isdigit() and int(chosen) > 0 else usable_cores()


TARGETS = {
    target.name: target
    for target in (
        Target("sequential", docc="sequential", plugin="loopbook"),
        Target("openmp", docc="openmp", plugin="loopbook-openmp", parallel=True),
    )
}
"""Every target by its name; `DEFAULT` is the first."""

DEFAULT = next(iter(TARGETS))


def named(name: str) -> Target:
    """The target of this name.

    Raises:
        InputError: there is none.
    """
    if name not in TARGETS:
        raise InputError(f"there is no target {str(name)[:40]!a}; take {choice()}")
    return TARGETS[name]


def runnable(name: str) -> Target:
    """The target of this name, if code can be compiled for it and run here.

    Raises:
        InputError: there is none, or it cannot.
    """
    target = named(name)
    if target.missing:
        raise InputError(f"nothing can be run here for the target {name}: {target.missing}")
    return target


def here() -> tuple[str, ...]:
    """Names of the targets that code can be compiled for and run here."""
    return tuple(name for name, target in TARGETS.items() if not target.missing)


def for_threads(threads: int) -> Target:
    """The target that runs with so many threads."""
    return next(target for target in TARGETS.values() if target.parallel == (threads > 1))


def choice() -> str:
    """The targets' names for people, such as "sequential or openmp"."""
    *most, last = TARGETS
    return f"{', '.join(most)} or {last}" if most else last


def usable_cores() -> int:
    """Processors, hyper-threads counted too, that this process may run on."""
    try:
        return len(os.sched_getaffinity(0))
    except (AttributeError, OSError):
        return os.cpu_count() or 1
