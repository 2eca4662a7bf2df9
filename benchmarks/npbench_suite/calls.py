"""What calls keep and cost: memory after many of them, the first one, and a warm one's overhead."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.npbench_suite import systems
from benchmarks.npbench_suite.comparison import Compared, Setting
from benchmarks.npbench_suite.programs import Program
from benchmarks.systems.child import Failed

STEPS = (10, 30, 100, 300, 1000)
"""After so many calls the resident memory is read."""

TURNS = 3


def memory(
    program: Program, names: Sequence[str], setting: Setting, seconds: float
) -> dict[str, dict[str, Any]]:
    """By system: ``status``, and ``resident``, bytes by number of calls.

    Args:
        seconds: for all calls of one system; where they are not enough, the counts end earlier.
    """
    found: dict[str, dict[str, Any]] = {}
    for name in names:
        with _compared(name, program, setting) as compared:
            outcome: dict[str, Any] = {"status": "ok", "resident": {}}
            found[name] = outcome
            end, made = time.monotonic() + seconds, 1
            try:
                compared.prepare(results=False)
                outcome["notes"] = compared.notes
                for count in STEPS:
                    left = max(end - time.monotonic(), 0.1)
                    answer = compared.ask(f"calls {count - made}", left, f"call {count}")
                    outcome["resident"][str(count)] = answer["resident"]
                    made = count
            except Failed as failed:
                late = failed.kind == "timeout" and len(outcome["resident"]) > 1
                outcome["status"] = "ok" if late else failed.kind
                outcome["reason"] = failed.reason
    return found


def first_calls(
    program: Program, names: Sequence[str], setting: Setting
) -> dict[str, dict[str, Any]]:
    """By system: ``status``, ``first_s`` of the first call, ``warm_s`` of a later one, ``notes``,
    and ``overhead_s`` of a call that has next to nothing to do."""
    found: dict[str, dict[str, Any]] = {name: {"status": "ok"} for name in names}
    with contextlib.ExitStack() as stack:
        for name in names:
            with _compared(name, program, setting) as compared, _noting(found[name]):
                compared.prepare(results=False)
                found[name] |= {"first_s": compared.first_s, "notes": compared.notes}
                compared.turn()
                found[name]["warm_s"] = min(compared.times)
        idle = [stack.enter_context(_compared(name, program, setting)) for name in names]
        for compared in idle:
            with contextlib.suppress(Failed):
                compared.prepare(results=False, call=False)
        for _ in range(TURNS):
            for compared in idle:
                outcome = found[compared.system]
                with contextlib.suppress(Failed):
                    seconds = compared.ask("overhead", setting.limit, "the overhead")["seconds"]
                    outcome["overhead_s"] = min(seconds, outcome.get("overhead_s", seconds))
    return found


@contextlib.contextmanager
def _noting(outcome: dict[str, Any]) -> Iterator[None]:
    try:
        yield
    except Failed as failed:
        outcome |= {"status": failed.kind, "reason": failed.reason}


@contextlib.contextmanager
def _compared(name: str, program: Program, setting: Setting) -> Iterator[Compared]:
    with tempfile.TemporaryDirectory(prefix="npbench-") as folder:
        version = (systems.versions(name, program) or [name])[0]
        with Compared(name, version, program, setting, Path(folder)) as compared:
            yield compared
