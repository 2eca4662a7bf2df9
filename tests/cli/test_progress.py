"""What long commands say on stderr while they work: soon, seldom, and never on stdout."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys

import pytest

from loopbook.cli import progress as module
from loopbook.cli.progress import Estimate, Interrupted, clock, progress


def test_the_time_left_is_that_of_the_rest_at_the_rate_so_far():
    estimate = Estimate()
    assert estimate.left(0.5, 100.0) is None, "a search that goes on: this was done before"
    assert estimate.left(0.6, 101.0) is None, "too early to tell"
    assert estimate.left(0.6, 110.0) == pytest.approx(40.0)
    assert estimate.left(1.0, 120.0) is None


def test_times_for_people():
    assert [clock(one) for one in (0.4, 42, 190, 3800)] == ["0:00", "0:42", "3:10", "1:03:20"]


def test_a_pipe_gets_a_line_at_once_and_then_few(capfd):
    with progress("reading x.py", quiet=0.0) as shown:
        out, err = capfd.readouterr()
        assert (out, err) == ("", "[0:00] reading x.py\n")
        shown.stage("searching")
        for number in range(1000):
            shown.at(number, 1000, "nest 0: 1.20×")
        shown.tell("an outcome")
    out, err = capfd.readouterr()
    assert out == "an outcome\n"
    assert err == "", "no line is due yet"


def test_lines_are_due_when_something_changed_and_else_ever_more_seldom(monkeypatch, capfd):
    now = 0.0
    monkeypatch.setattr(module.time, "monotonic", lambda: now)
    shown = module._Lines(1, "", 0.0)
    shown.stage("searching")
    shown.at(10, 100)
    told = []
    for second in range(1, 121):
        now = float(second)
        if second <= 40:
            shown.at(10 + second, 100)
        shown.look()
        told.append(capfd.readouterr().err)
    lines = [line for line in told if line]
    assert 14 <= len(lines) <= 25
    assert "[0:30] searching, 40 of 100; about 1:00 left\n" in lines
    assert len(told[60:]) > 10 * len([line for line in told[60:] if line])


def test_a_quick_command_says_nothing(capfd):
    with progress("reading x.py", quiet=60.0) as shown:
        shown.stage("looking up")
    assert capfd.readouterr().err == ""


def test_several_jobs_are_counted(capfd):
    with progress("", 3, "program") as shown:
        shown.job(1)
        shown.stage("gemm, sequential")
        shown.at(5, 10)
        assert shown.words() == "program 2 of 3, gemm, sequential, 5 of 10"
        assert shown.share == pytest.approx(0.5)
        shown.job(3)  # all are done
        assert (shown.words(), shown.share) == ("program 3 of 3", 1.0)


def test_who_stops_a_command_is_told_what_became_of_its_work():
    with (
        pytest.raises(Interrupted, match="stopped; trials are kept"),
        progress("", stopped="trials are kept"),
    ):
        raise KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt), progress(""):
        raise KeyboardInterrupt


ON_A_TERMINAL = """\
import time
from loopbook.cli.progress import progress
with progress("searching") as shown:
    shown.at(1, 4, "nest 0")
    time.sleep(0.6)
    shown.tell("an outcome")
    time.sleep(0.3)
"""


def test_a_terminal_gets_a_bar_and_stdout_none_of_it():
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    done = subprocess.run(
        [sys.executable, "-c", ON_A_TERMINAL],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=environment,
    )
    os.close(theirs)
    shown = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert (done.returncode, done.stdout) == (0, b"an outcome\n")
    assert "searching, 1 of 4, nest 0" in shown
    assert "━" in shown
    assert not re.search(r"\[0:0\d\]", shown), "lines are for pipes"
