"""What calls keep and cost: memory after many of them, the first one, and a warm one's overhead."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.npbench_suite import systems
from benchmarks.npbench_suite.contest import Contestant, Setting
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
        with _contestant(name, program, setting) as contestant:
            outcome: dict[str, Any] = {"status": "ok", "resident": {}}
            found[name] = outcome
            end, made = time.monotonic() + seconds, 1
            try:
                contestant.prepare(results=False)
                outcome["notes"] = contestant.notes
                for count in STEPS:
                    left = max(end - time.monotonic(), 0.1)
                    answer = contestant.ask(f"calls {count - made}", left, f"call {count}")
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
            with _contestant(name, program, setting) as contestant, _noting(found[name]):
                contestant.prepare(results=False)
                found[name] |= {"first_s": contestant.first_s, "notes": contestant.notes}
                contestant.turn()
                found[name]["warm_s"] = min(contestant.times)
        idle = [stack.enter_context(_contestant(name, program, setting)) for name in names]
        for contestant in idle:
            with contextlib.suppress(Failed):
                contestant.prepare(results=False, call=False)
        for _ in range(TURNS):
            for contestant in idle:
                outcome = found[contestant.system]
                with contextlib.suppress(Failed):
                    seconds = contestant.ask("overhead", setting.limit, "the overhead")["seconds"]
                    outcome["overhead_s"] = min(seconds, outcome.get("overhead_s", seconds))
    return found


@contextlib.contextmanager
def _noting(outcome: dict[str, Any]) -> Iterator[None]:
    try:
        yield
    except Failed as failed:
        outcome |= {"status": failed.kind, "reason": failed.reason}


@contextlib.contextmanager
def _contestant(name: str, program: Program, setting: Setting) -> Iterator[Contestant]:
    with tempfile.TemporaryDirectory(prefix="npbench-") as folder:
        version = (systems.versions(name, program) or [name])[0]
        with Contestant(name, version, program, setting, Path(folder)) as contestant:
            yield contestant
