"""What ``bench --json`` says of the times of one kernel."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from loopbook.toolchain.interleaved import Timed

PYTHON_SECONDS = 10.0
"""The Python function is not timed where one run takes longer."""


@dataclass(frozen=True)
class Times:
    """Seconds of the fastest runs.

    Attributes:
        baseline: whether `baseline_s` is of "docc", of docc's schedule of our "loops", or of
            "python".
        failed: why it is not docc.
        python: no seconds where it was not timed, and why.
    """

    baseline_s: float
    optimized_s: float
    baseline: str = "docc"
    failed: str = ""
    python: Timed = field(default_factory=Timed)

    def to_json(self) -> dict[str, Any]:
        python_s = self.python.fastest
        named = {"docc": self.baseline_s} if self.baseline == "docc" else {}
        named |= {"python": python_s} if python_s is not None else {}
        named["loopbook"] = self.optimized_s  # behind Python, which it is where they are equal
        return {
            "baseline": self.baseline,
            **given(docc_failed=self.failed),
            "python_s": python_s,
            "python_speedup": python_s and python_s / self.optimized_s,
            **given(python_skipped=self.python.error),
            "fastest": min(named, key=lambda name: named[name]),
        }


def given(**told: str) -> dict[str, str]:
    """Those that there are."""
    return {name: text for name, text in told.items() if text}
