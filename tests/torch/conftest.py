"""PyTorch for the tests of this room, imported only where one runs: see ``heavy`` in the tests'
`conftest.py`."""

from __future__ import annotations

from types import ModuleType

import pytest

from loopbook.sdfg import from_torch


@pytest.fixture(scope="session")
def torch() -> ModuleType:
    """The package."""
    return pytest.importorskip("torch", reason="torch is not installed")


@pytest.fixture
def docc_ai(torch: ModuleType) -> None:
    """Skips a test where docc-ai or torch-mlir is not installed."""
    if reason := from_torch.missing():
        pytest.skip(reason)
