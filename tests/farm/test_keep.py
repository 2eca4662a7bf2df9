"""Processes that are kept alive."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

from wait_kit import wait_until

from loopbook.farm import keep as keeping
from loopbook.farm.keep import Part, keep


def sleeper() -> subprocess.Popen[bytes]:
    child = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'input()'])"
    return subprocess.Popen(
        [sys.executable, "-c", child], stdin=subprocess.PIPE, start_new_session=True
    )


def deaf() -> subprocess.Popen[bytes]:
    """It does not end when it is asked to, and says when it is so far."""
    child = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('', flush=True)"
    process = subprocess.Popen(
        [sys.executable, "-c", f"{child}; input()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    process.stdout.readline()
    return process


def pid_of(part: Part) -> int:
    return 0 if part.process is None else part.process.pid


def group_of(pid: int) -> list[int]:
    """Its processes, without those that have ended and that nobody has asked about yet."""
    command = ["pgrep", "--runstates", "D,R,S", "-g", str(pid)]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    return [int(one) for one in found.stdout.split()]


def test_what_dies_is_started_again_and_what_follows_it_too(monkeypatch):
    monkeypatch.setattr(keeping, "FIRST_PAUSE_S", 0.01)
    leader, follower = Part("leader", sleeper, leads=True), Part("follower", sleeper)
    leader.pause = follower.pause = 0.01
    stop, said = threading.Event(), []
    thread = threading.Thread(target=keep, args=([leader, follower], stop, said.append))
    thread.start()
    try:
        assert wait_until(lambda: leader.alive and follower.alive)
        first, second = pid_of(leader), pid_of(follower)
        os.kill(second, signal.SIGKILL)
        assert wait_until(lambda: follower.alive and pid_of(follower) != second)
        assert pid_of(leader) == first
        second = pid_of(follower)
        os.kill(first, signal.SIGKILL)
        assert wait_until(lambda: leader.alive and pid_of(leader) != first)
        assert wait_until(lambda: follower.alive and pid_of(follower) != second)
        assert wait_until(lambda: not group_of(first))
        last = [pid_of(leader), pid_of(follower)]
    finally:
        stop.set()
        thread.join()
    assert wait_until(lambda: not any(map(group_of, last)))
    assert len(said) == 2


def test_nobody_waits_for_what_is_nothing_without_its_leader(monkeypatch):
    monkeypatch.setattr(keeping, "GRACE_S", 10_000.0)
    leader, follower = Part("leader", sleeper, leads=True), Part("follower", deaf)
    leader.pause = follower.pause = 0.01
    stop = threading.Event()
    thread = threading.Thread(target=keep, args=([leader, follower], stop))
    thread.start()
    try:
        assert wait_until(lambda: leader.alive and follower.alive)
        second = pid_of(follower)
        os.kill(pid_of(leader), signal.SIGKILL)
        assert wait_until(lambda: follower.alive and pid_of(follower) != second)
        assert not group_of(second)
    finally:
        stop.set()
        monkeypatch.setattr(keeping, "GRACE_S", 0.1)
        thread.join()
