"""A child process that does one kind of job again and again, and is replaced when it dies.

Where `loopbook.toolchain.sandbox.run_limited` forks for every call, a `Worker` stays: what it has
loaded is there for the next job. It can be kept to some cores, paused, and waited for together with
others (``select`` takes it). It dies with its parent, and so does all that it started; when it dies
or hangs itself, that is the failure of the job it had, and the next job gets a new one.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import resource
import select
import signal
import tempfile
import time
from collections.abc import Callable, Collection
from typing import Any, Generic, NoReturn, TypeVar

from loopbook.errors import DeadlineError
from loopbook.toolchain import frames, sandbox

Result = TypeVar("Result")


class Worker(Generic[Result]):
    """Runs ``function(*args)`` in its child, one job at a time.

    Attributes:
        pid: of the child, 0 if there is none.
        busy: it has a job.
        killed: somebody else killed the child during its last job, so the job is not to blame.

    Args:
        function: what the child calls. The child is forked when the first job comes, so it knows
            what the parent knew then.
        cores: cores that the child and its children may run on; all if empty.
        memory: limit on the child's address space, bytes.
        what: how error messages name the child.
        renew: the child is replaced after so many jobs, so that leaks do not add up.
        guarded: what the child has started ends with us, too, however we end. That costs a process.
    """

    def __init__(
        self,
        function: Callable[..., Result],
        *,
        cores: Collection[int] = (),
        memory: int = sandbox.DEFAULT_BYTES,
        what: str = "the child process",
        renew: int = 400,
        guarded: bool = True,
    ) -> None:
        self._function = function
        self.cores = frozenset(cores)
        self._memory = memory
        self._what = what
        self._renew = renew
        self._guarded = guarded
        self._jobs = 0
        self._deadline = 0.0
        self._paused_at = 0.0
        self._warden = 0
        self.pid = 0
        self.busy = False
        self.killed = False

    def __enter__(self) -> Worker[Result]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def fileno(self) -> int:
        """The descriptor that is readable when the job has ended, one way or another."""
        return self._answers

    def send(self, *args: Any, seconds: float, what: str = "") -> None:
        """Begin a job. `receive` gives its result.

        Args:
            seconds: wall-clock limit; time in which the worker is paused does not count.
            what: how error messages name the child from now on.
        """
        self._what = what or self._what
        assert not self.busy, "one job at a time"
        if self.pid and (self._jobs >= self._renew or self._answered()):
            self.close()  # one that says something unasked has died
        if not self.pid:
            self._start()
        self._jobs += 1
        self._seconds = seconds
        self._deadline = time.monotonic() + seconds
        self.busy = True
        with contextlib.suppress(BrokenPipeError):  # it has died: `receive` finds out
            frames.write(self._orders, pickle.dumps(args))

    @property
    def paused(self) -> bool:
        return self._paused_at > 0

    def left(self) -> float:
        """Seconds until the job's time is up, never below 0."""
        now = self._paused_at or time.monotonic()
        return max(0.0, self._deadline - now)

    def receive(self) -> Result:
        """The job's result; waits for it as long as the job may take.

        Raises:
            LoopbookError: whatever of ours the function raised, unchanged.
            KernelError: it raised another exception, or died from a signal or an abort.
            DeadlineError: it did not end in time.
            MemoryLimitError: it ran out of its memory.
        """
        assert self.busy, "no job"
        self.busy = self.killed = False
        payload, in_time = frames.read(self._answers, self._deadline)
        if payload is None:
            status = self._end()
            with self._stderr as words:
                if in_time and (late := sandbox.too_long(status, self._what)):
                    raise late
                if in_time:
                    self.killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
                    raise sandbox.death(status, words, self._what)
            raise DeadlineError(f"{self._what} did not end within {self._seconds:g} s")
        ok, value = pickle.loads(payload)
        if not ok:
            raise value
        return value

    def pause(self) -> None:
        """Stop the child and all that it started, until `resume`."""
        if self.busy and not self._paused_at:
            self._paused_at = time.monotonic()
            self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let a paused child go on."""
        if self._paused_at:
            self._deadline += time.monotonic() - self._paused_at
            self._paused_at = 0.0
            self._signal(signal.SIGCONT)

    def close(self) -> None:
        """End the child, with every process that it started."""
        if self.pid:
            self._end()
            self._stderr.close()
        self.busy = False

    @property
    def over(self) -> bool:
        """Whether the job has ended or its time is up."""
        return self.left() == 0.0 or self._answered()

    def _answered(self) -> bool:
        return bool(select.select([self._answers], [], [], 0)[0])

    def _start(self) -> None:
        orders, self._orders = os.pipe()
        self._answers, answers = os.pipe()
        lifeline, self._lifeline = os.pipe()
        parent = os.getpid()
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the child
        self.pid = sandbox.fork()
        if self.pid == 0:
            for descriptor in (self._orders, self._answers, self._lifeline):
                os.close(descriptor)
            self._serve(orders, answers, parent)
        with contextlib.suppress(OSError):  # so that it can be paused from the first moment on
            os.setpgid(self.pid, self.pid)
        self._warden = sandbox.fork() if self._guarded else -1
        if self._warden == 0:
            os.close(self._lifeline)
            _watch(lifeline, self.pid)
        for descriptor in (orders, answers, lifeline):
            os.close(descriptor)

    def _serve(self, orders: int, answers: int, parent: int) -> NoReturn:
        """Runs in the child; never returns."""
        try:
            sandbox.confine(self._stderr.fileno(), self._memory, parent)
            if self.cores:
                os.sched_setaffinity(0, self.cores)
            while True:
                payload, _ = frames.read(orders)
                if payload is None:
                    os._exit(0)
                os.ftruncate(2, 0)
                os.lseek(2, 0, os.SEEK_SET)
                answer = sandbox.answer(self._function, pickle.loads(payload), self._memory)
                frames.write(answers, pickle.dumps(answer))
        finally:  # the child must end here, whatever happened
            os._exit(70)

    def _end(self) -> int:
        """Kill the child and all that it started. Its wait status: of its own death, if it had
        died before."""
        self._signal(signal.SIGKILL)
        if self._warden > 0:
            os.kill(self._warden, signal.SIGKILL)
            os.waitpid(self._warden, 0)
        _, status = os.waitpid(self.pid, 0)
        for descriptor in (self._orders, self._answers, self._lifeline):
            os.close(descriptor)
        self.pid = self._jobs = 0
        self._paused_at = 0.0
        return status

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


def _watch(lifeline: int, group: int) -> NoReturn:
    """Runs in a process of its own: kills `group` as soon as nobody holds the lifeline's other end.

    When the parent ends, the kernel ends the child, but not what the child had started; what of
    that is paused would stay so for ever.
    """
    try:
        os.setpgid(0, 0)
        os.closerange(0, lifeline)
        os.closerange(lifeline + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
        os.read(lifeline, 1)
        os.killpg(group, signal.SIGKILL)
    finally:
        os._exit(0)
