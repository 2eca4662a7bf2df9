"""Python searches for circles as often as before, whoever asked for less meanwhile."""

from __future__ import annotations

import gc
import threading

import pytest

from loopbook.toolchain.circles import SELDOM, seldom_searched

OFTEN = 600, 9, 9


@pytest.fixture
def often():
    before = gc.get_threshold()
    gc.set_threshold(*OFTEN)
    yield
    gc.set_threshold(*before)


def test_an_error_ends_it(often):
    with pytest.raises(ZeroDivisionError), seldom_searched():
        1 / (gc.get_threshold() != SELDOM)
    assert gc.get_threshold() == OFTEN


def test_the_last_of_several_ends_it(often):
    inside, leave = threading.Event(), threading.Event()

    def other():
        with seldom_searched():
            inside.set()
            leave.wait(60)

    with seldom_searched():
        thread = threading.Thread(target=other)
        thread.start()
        assert inside.wait(60)
    assert gc.get_threshold() == SELDOM  # the other one is still at it
    leave.set()
    thread.join()
    assert gc.get_threshold() == OFTEN
