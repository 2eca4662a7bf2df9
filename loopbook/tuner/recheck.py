"""Checks the numbers of finalists on other data than they were searched on.

At the size of the search, sizes may happen to be multiples of tiles, and the benchmark's own data
may hide what is wrong: the start field of a stencil hardly changes, whether or not it is computed.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from loopbook.errors import LoopbookError
from loopbook.sdfg.build import build_baseline, build_tuned
from loopbook.sdfg.run import Schedule
from loopbook.tuner.session import Candidate
from loopbook.tuner.subject import Subject

CHECKED_AT = ("SMALL", "S")
"""Presets small enough for a slow reference, whose sizes are no round numbers."""

ONCE = Schedule(repeats=0)


def right_elsewhere(subject: Subject, target: str, finalists: Sequence[Candidate]) -> list[bool]:
    """For each finalist, whether its numbers are the unoptimised program's on other data too.

    The data are the subject's own at a small size, and where it has any, its second ones.
    """
    preset = next((p for p in CHECKED_AT if p in subject.parameters), None)
    if preset is None:
        return [True for _ in finalists]
    arguments = subject.arguments(preset)
    second = subject.second_data(arguments)
    text = subject.text(arguments)
    with tempfile.TemporaryDirectory(prefix="loopbook-") as made:
        folder = Path(made)
        plain = build_baseline(text, "none", folder / "none")
        checks = []
        for data in (arguments, second):
            if data is not None:
                binding = subject.binding(data)
                checks.append((binding, binding.results(plain.library)))
        verdicts = []
        for number, candidate in enumerate(finalists):
            try:
                built = build_tuned(text, target, candidate, folder / f"f{number}", lenient=True)
                for binding, expected in checks:
                    binding.measure([built], ONCE, expected)
            except LoopbookError:
                verdicts.append(False)
            else:
                verdicts.append(True)
    return verdicts
