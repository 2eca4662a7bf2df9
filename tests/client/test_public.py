"""The package's public names, and that importing it is cheap."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import loopbook
from loopbook.client import hardware
from loopbook.errors import CompilerError
from loopbook.targets import named


def test_import_is_light():
    heavy = ["docc", "torch", "faiss", "numpy", "scipy", "sqlalchemy", "matplotlib"]
    code = (
        f"import sys, loopbook, json; print(json.dumps([m for m in {heavy} if m in sys.modules]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=600
    )
    assert json.loads(done.stdout) == []


def test_every_public_name_is_there():
    for name in loopbook.__all__:
        assert getattr(loopbook, name) is not None
    assert loopbook.open.__name__ == "open_book"
    with pytest.raises(AttributeError):
        _ = loopbook.nothing


@pytest.fixture
def fresh(monkeypatch, tmp_path):
    """No profile remembered, neither in memory nor on disk."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    hardware._profile.cache_clear()
    yield tmp_path
    hardware._profile.cache_clear()


def test_the_profile_is_measured_once(fresh, monkeypatch):
    calls = []

    def measure(profile, compiler, march):
        from dataclasses import replace

        calls.append(compiler)
        return replace(profile, peak_gflops=12.0, bandwidth_gbs=3.0)

    monkeypatch.setattr("loopbook.recipes.measure.measure", measure)
    first = hardware.local_profile(1)
    assert first.peak_gflops == 12.0
    hardware._profile.cache_clear()
    assert hardware.local_profile(1) == first
    assert len(calls) == 1
    (kept,) = (fresh / "loopbook").iterdir()
    kept.write_text("{")
    hardware._profile.cache_clear()
    assert hardware.local_profile(1) == first
    assert len(calls) == 2


def test_a_cache_folder_that_cannot_be_made_is_no_matter(fresh, monkeypatch):
    (fresh / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(fresh / "file"))
    monkeypatch.setattr("loopbook.recipes.measure.measure", lambda profile, *_: profile)
    assert hardware.local_profile(1) == hardware.local_profile(1, measured=False)


def test_without_a_compiler_figures_stay_unknown(fresh, monkeypatch):
    def missing():
        raise CompilerError("none")

    monkeypatch.setattr("loopbook.toolchain.compiler.find_compiler", missing)
    assert hardware.local_profile(1).peak_gflops == 0


def test_another_instruction_set_is_another_machine(fresh, monkeypatch):
    monkeypatch.setenv("LOOPBOOK_MARCH", "x86-64-v2")
    profile = hardware.local_profile(1, measured=False)
    assert (profile.isa, profile.vector_bits) == ("sse2", 128)


def test_threads_follow_the_target_and_openmp(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3,2")
    assert named("openmp").threads == 3
    assert named("sequential").threads == 1
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert named("openmp").threads >= 1
