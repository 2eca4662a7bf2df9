"""A process that does jobs through a pipe: what it answers, and how it ends."""

from __future__ import annotations

import json
import os
import time

import pytest

from loopbook.errors import DeadlineError
from loopbook.toolchain.attendant import READY, Attendant, Died


def echo(pipe, word: str) -> None:
    """Answers with what it was asked; sleeps and dies where it is told to."""
    pipe.send_bytes(READY)
    while True:
        job, body = pipe.recv_bytes().decode(), pipe.recv_bytes()
        if job == "sleep":
            time.sleep(3600)
        if job == "die":
            os._exit(1)
        pipe.send_bytes(json.dumps({"word": word, "job": job}).encode())
        pipe.send_bytes(body)


@pytest.fixture
def attendant():
    one = Attendant(echo, "here")
    one.wait_until_ready()
    yield one
    one.close()


def test_a_job_comes_back(attendant):
    assert attendant.ask("job", b"body", 60) == ({"word": "here", "job": "job"}, b"body")
    assert attendant.alive
    assert attendant.jobs == 1


def test_a_job_that_takes_too_long_ends_with_its_process(attendant):
    with pytest.raises(DeadlineError):
        attendant.ask("sleep", b"", 0.01)
    attendant._process.join(60)
    assert not attendant.alive


def test_a_process_that_dies_is_told(attendant):
    with pytest.raises(Died):
        attendant.ask("die", b"", 60)
