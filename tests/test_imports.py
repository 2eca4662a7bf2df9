"""Rooms import only what they may, and `import loopbook` stays light."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

HEAVY = (
    *("torch", "torch_geometric", "docc", "faiss", "scipy"),
    *("sqlalchemy", "matplotlib", "rich", "islpy"),
)


def loaded_by(statement: str) -> set[str]:
    """Top-level modules in a fresh interpreter after `statement`."""
    code = f"{statement}\nimport sys\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=600
    )
    return set(done.stdout.split())


def test_import_rules_hold():
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


def test_import_loopbook_is_light():
    assert loaded_by("import loopbook").isdisjoint({*HEAVY, "numpy"})


def test_every_public_name_is_there():
    names = "[getattr(loopbook, name) for name in loopbook.__all__]"
    assert "loopbook" in loaded_by(f"import loopbook\n{names}")


@pytest.mark.parametrize(
    ("module", "banned"),
    [
        ("loopbook.errors", (*HEAVY, "numpy")),
        ("loopbook.program.nests", (*HEAVY, "numpy")),
        ("loopbook.recipes", ("torch", "torch_geometric", "docc", "faiss", "scipy", "islpy")),
        ("loopbook.dependence", (*HEAVY, "numpy")),
        ("loopbook.embed.inference", ("torch", "torch_geometric", "faiss")),
        ("loopbook.workloads.synthetic", ("torch", "docc", "faiss", "scipy", "sqlalchemy")),
        ("loopbook.sdfg.program", ("torch", "torch_geometric", "faiss", "sqlalchemy", "islpy")),
    ],
)
def test_rooms_load_nothing_heavy(module: str, banned: tuple[str, ...]):
    assert loaded_by(f"import {module}").isdisjoint(banned)


def test_isl_is_there_before_children_are_made():
    assert "islpy" in loaded_by("from loopbook import dependence\ndependence.load()")


def test_the_version_is_the_packages():
    from importlib.metadata import version

    text = (ROOT / "pyproject.toml").read_text()
    assert f'version = "{version("loopbook")}"' in text
