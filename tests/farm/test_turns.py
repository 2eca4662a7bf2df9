"""Two that take times on one machine do so in turn, unless they have cores of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from loopbook.farm.turns import timing_alone

HOLDER = """
from loopbook.farm.turns import timing_alone
with timing_alone([900, 901]):
    print("mine", flush=True)
    input()
"""


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    """Farms that run on this machine meanwhile are none of these tests' business."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)


def test_the_next_one_waits_until_the_first_has_ended():
    begun = Event()

    def wait() -> None:
        with timing_alone([901, 902]):
            begun.set()

    with ThreadPoolExecutor() as threads:
        with timing_alone([900, 901]):
            waiting = threads.submit(wait)
            assert not begun.wait(0.3)
        waiting.result(10)


def test_other_cores_are_free():
    with timing_alone([900]), timing_alone([901]):
        pass


def test_whoever_is_killed_has_let_go():
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline()
        os.kill(other.pid, signal.SIGKILL)
        with timing_alone([901]):
            pass
