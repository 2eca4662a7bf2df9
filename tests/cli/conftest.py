"""Settings that all tests of the command line share."""

from __future__ import annotations

import pytest

from loopbook.tuner import builder_pool


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slow the machine is, no candidate is given up."""
    monkeypatch.setattr(builder_pool, "COMPILE_SECONDS", 300.0)
