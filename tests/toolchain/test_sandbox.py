"""Whatever a child process does comes back as a value or as one of our errors."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from sdfg_kit import children
from wait_kit import wait_until

from loopbook.errors import (
    CompilerError,
    DeadlineError,
    GeneratedCodeError,
    IllegalStepError,
    KernelError,
    LoopbookError,
    MemoryLimitError,
)
from loopbook.toolchain.sandbox import compile_error, run_limited


def test_a_result_comes_back():
    assert run_limited(lambda a, b: a + b, 2, 3) == 5
    assert run_limited(lambda: None) is None


def test_the_child_looks_for_no_garbage_in_what_the_parent_has():
    assert run_limited(gc.get_freeze_count) > gc.get_freeze_count()


def test_big_results_come_back_whole():
    sent = np.random.default_rng(0).random(3_000_000)
    assert np.array_equal(run_limited(lambda: sent * 2.0), sent * 2.0)


def test_the_child_changes_nothing_of_ours(capfd):
    values = [1]

    def child():
        values.append(2)
        os.write(1, b"from the child\n")
        os.write(2, b"from the child too\n")
        os.environ["LOOPBOOK_TEST_CHILD"] = "1"
        return len(values)

    assert run_limited(child) == 2
    assert values == [1]
    assert "LOOPBOOK_TEST_CHILD" not in os.environ
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("death", "message"),
    [
        (lambda: os.kill(os.getpid(), signal.SIGSEGV), "SIGSEGV"),
        (os.abort, "SIGABRT"),
        (lambda: os.kill(os.getpid(), signal.SIGKILL), "SIGKILL"),
        (lambda: os._exit(3), "exit code 3"),
        (lambda: sys.exit(5), "exit code 70"),
        (lambda: os._exit(0), "exit code 0"),
    ],
)
def test_deaths_are_kernel_errors(death, message: str):
    with pytest.raises(KernelError, match=message):
        run_limited(death)


def test_what_crashes_now_and_then_gets_other_tries(tmp_path):
    def dying(times: int) -> str:
        started = len(list(tmp_path.iterdir()))
        (tmp_path / f"{started}").touch()
        if started < times:
            os.kill(os.getpid(), signal.SIGSEGV)
        return "done"

    with pytest.raises(KernelError, match="SIGSEGV"):
        run_limited(dying, 3, tries=3)
    assert len(list(tmp_path.iterdir())) == 3
    assert run_limited(dying, 5, tries=3) == "done"


def test_an_exception_is_a_kernel_error_on_one_line():
    def child():
        raise ValueError("two\nlines")

    with pytest.raises(KernelError, match=r"^ValueError: two lines$"):
        run_limited(child)


def test_our_errors_come_back_as_they_are():
    def child():
        raise IllegalStepError("step 3: no", 2)

    with pytest.raises(IllegalStepError, match="step 3: no") as caught:
        run_limited(child)
    assert caught.value.position == 2


def test_what_cannot_be_sent_is_an_error():
    with pytest.raises(LoopbookError):
        run_limited(lambda: lambda: None)


def test_a_hang_ends_with_all_that_the_child_started(tmp_path):
    def child():
        process = subprocess.Popen(["sleep", "300"])
        (tmp_path / "pid").write_text(str(process.pid))
        while True:
            time.sleep(1)

    told = tmp_path / "pid"
    for seconds in (0.25, 2.5, 25):  # where the machine is slow, it has not started it at first
        with pytest.raises(DeadlineError, match=f"the guest did not end within {seconds:g} s"):
            run_limited(child, seconds=seconds, what="the guest")
        if told.exists() and told.read_text():
            break
    assert wait_until(lambda: not running(int(told.read_text()))), "the child's child lives on"


def running(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_child_that_ignores_signals_ends_too():
    def child():
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        while True:
            pass

    with pytest.raises(DeadlineError):
        run_limited(child, seconds=0.2)


def test_processor_time_is_limited_and_waiting_is_none():
    def worked():
        while True:
            pass

    with pytest.raises(DeadlineError, match="the guest took more processor time"):
        run_limited(worked, processor=0.1, what="the guest")
    assert run_limited(lambda: time.sleep(0.3) or 7, processor=0.1) == 7


def test_too_much_memory():
    with pytest.raises(MemoryLimitError, match="memory"):
        run_limited(lambda: np.ones(1 << 30), memory=2 << 30)


def test_what_docc_says_of_a_failing_compile_is_a_compiler_error():
    def child():
        os.write(2, b"x.cpp:3:4: error: no matching function\n")
        os.abort()

    with pytest.raises(CompilerError, match="no matching function"):
        run_limited(child)


def test_no_descriptors_or_zombies_are_left():
    others = children()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        run_limited(lambda: 1)
    with pytest.raises(KernelError):
        run_limited(os.abort)
    assert len(os.listdir("/proc/self/fd")) == before
    assert children() <= others


FORKS_UNDER_FIRE = """\
import os, signal
from loopbook.toolchain.sandbox import compile_error, run_limited
from loopbook.toolchain.worker import Worker

signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs of shells ignore it
parent = os.getpid()
os.register_at_fork(before=lambda: os.kill(parent, signal.SIGINT))
for start in (lambda: run_limited(int), lambda: Worker(int).send(seconds=9.0)):
    try:
        start()
    except KeyboardInterrupt:
        print("stopped")
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("no child is left")
"""


def test_an_interrupt_while_forking_is_not_lost():
    done = subprocess.run(
        [sys.executable, "-c", FORKS_UNDER_FIRE], capture_output=True, text=True, timeout=600
    )
    assert (done.stdout, done.stderr) == ("stopped\nstopped\nno child is left\n", "")


@pytest.mark.parametrize(
    ("said", "codes"),
    [
        ("In file included from a.h:1:\na.cpp:3:17: error: expected ';'\n1 error generated.", True),
        ("a.cpp:3:17: fatal error: too many errors emitted", True),
        ("a.h:1:10: fatal error: 'omp.h' file not found", False),
        ("clang++: error: unable to execute command: Killed", False),
        ("clang++: error: linker command failed with exit code 1", False),
        ("exit code 1", False),
    ],
)
def test_what_the_compiler_says_tells_whether_the_code_is_at_fault(said, codes):
    error = compile_error(said)
    assert isinstance(error, GeneratedCodeError) == codes
    assert "\n" not in str(error)
