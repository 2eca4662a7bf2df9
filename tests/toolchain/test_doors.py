"""Requests go out of a jail and answers come in, while it runs; what is no request goes nowhere."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from wait_kit import wait_until

from loopbook.toolchain import jail
from loopbook.toolchain.jail import doors

HERE = Path(__file__).parent


class Outside:
    """Answers in capitals, until it is asked to be silent."""

    def __init__(self) -> None:
        self.heard: list[bytes] = []

    def __call__(self, request: bytes) -> bytes | None:
        self.heard.append(request)
        return None if request == b"die" else request.upper()


def run(job: str, given: Any, outside: Outside) -> Any:
    with doors.opened(2, outside) as descriptors:
        return jail.call(f"jail_jobs:{job}", given, modules=[HERE], doors=descriptors)


@pytest.fixture
def outside() -> Outside:
    return Outside()


def test_answers_come_one_after_the_other(outside):
    assert run("ask", ["one", "", "x" * 100_000], outside) == ["ONE", "", "X" * 100_000]
    assert len(outside.heard) == 3


def test_a_door_is_shut_when_there_is_nobody_to_answer(outside):
    assert run("ask", ["one", "die", "two"], outside) == ["ONE", None, None]
    assert outside.heard == [b"one", b"die"]


@pytest.mark.parametrize("length", [doors.MOST_REQUEST + 1, 2**64 - 1])
def test_who_announces_too_much_finds_the_door_shut(outside, length):
    assert run("push", length.to_bytes(8, "little").hex() + "00" * 100, outside)
    assert outside.heard == []


@pytest.mark.parametrize("said", ["", "0500", (5).to_bytes(8, "little").hex() + "61"])
def test_half_a_request_is_none(outside, said):
    before = threading.active_count()
    run("push_and_end", said, outside)
    assert wait_until(lambda: threading.active_count() <= before), "somebody still listens"
    assert outside.heard == []
