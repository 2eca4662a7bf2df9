"""Settings that the tests of benchmarks share."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks.systems.child import Child
from loopbook.toolchain import scratch


@pytest.fixture(autouse=True)
def kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system's process finds what a user's processes keep for each other, the precompiled headers
    above all, although its temporary folder is its own: to make them takes longer than the rest."""
    begin = Child.__init__

    def begun(child: Child, command: Sequence[str], folder: Path, *more: Any) -> None:
        shared = scratch.shared()
        with contextlib.suppress(OSError):  # it goes without
            shutil.copytree(shared, folder / shared.name, copy_function=os.link)
        begin(child, command, folder, *more)

    monkeypatch.setattr(Child, "__init__", begun)
