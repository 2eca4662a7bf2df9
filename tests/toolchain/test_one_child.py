"""Jobs that share a child."""

from __future__ import annotations

import os
import resource
import signal
import threading

import pytest

from loopbook.errors import DeadlineError, KernelError, MemoryLimitError, SdfgError
from loopbook.toolchain.one_child import one_child, run_shared


def crash() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def fail() -> None:
    raise SdfgError("not this one")


def spin() -> None:
    while True:
        pass


def variable(name: str) -> str | None:
    return os.environ.get(name)


def limit() -> int:
    return resource.getrlimit(resource.RLIMIT_AS)[0]


def take(size: int) -> int:
    return len(bytearray(size))


def of_a_childs_own() -> tuple[int, int]:
    return os.getpid(), run_shared(os.getpid)


def test_jobs_of_a_block_share_a_child_that_ends_with_it():
    with one_child():
        first = run_shared(os.getpid)
        with one_child():
            assert run_shared(os.getpid) == first != os.getpid()
        assert run_shared(os.getpid) == first
    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)
    assert run_shared(os.getpid) != run_shared(os.getpid)


def test_a_childs_children_do_not_answer_in_its_place():
    with one_child():
        child, grandchild = run_shared(of_a_childs_own)
        assert run_shared(os.getpid) == child != grandchild


def test_threads_have_children_of_their_own():
    found = []
    with one_child():
        first = run_shared(os.getpid)
        thread = threading.Thread(target=lambda: found.append(run_shared(os.getpid)))
        thread.start()
        thread.join()
        assert run_shared(os.getpid) == first
    assert found != [first]


def test_errors_come_back_and_crashes_cost_the_child():
    with one_child():
        first = run_shared(os.getpid)
        with pytest.raises(SdfgError, match="not this one"):
            run_shared(fail)
        assert run_shared(os.getpid) == first
        with pytest.raises(KernelError, match="the compile crashed"):
            run_shared(crash, what="the compile")
        with pytest.raises(KernelError, match="docc crashed"):
            run_shared(crash, what="docc", tries=2)
        assert run_shared(os.getpid) != first


def test_each_job_has_limits_of_its_own():
    with one_child():
        with pytest.raises(MemoryLimitError):
            run_shared(take, 1 << 31, memory=1 << 31)
        assert run_shared(limit, memory=3 << 30) == 3 << 30
        assert run_shared(take, 1 << 31, memory=6 << 30) == 1 << 31
        with pytest.raises(DeadlineError, match=r"within 0\.2 s"):
            run_shared(spin, seconds=0.2)
        with pytest.raises(DeadlineError, match="processor time"):
            run_shared(spin, processor=0.1)
        assert run_shared(os.getpid)


def test_each_job_sees_the_environment_as_it_is(monkeypatch):
    with one_child():
        assert run_shared(variable, "LOOPBOOK_TOLD") is None
        monkeypatch.setenv("LOOPBOOK_TOLD", "yes")
        assert run_shared(variable, "LOOPBOOK_TOLD") == "yes"
        monkeypatch.delenv("LOOPBOOK_TOLD")
        assert run_shared(variable, "LOOPBOOK_TOLD") is None
