"""Runs a function in a child process with limits on time and memory.

docc ends the process when its generated code does not compile, damaged SDFGs may crash its C++, and
kernels can crash, hang or eat the machine. Whatever happens in the child comes back as an error
value; our own process goes on.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import pickle
import re
import resource
import select
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from random import Random
from typing import Any, NoReturn, TypeVar

from loopbook.errors import (
    CompilerError,
    DeadlineError,
    GeneratedCodeError,
    KernelError,
    LoopbookError,
    MemoryLimitError,
    RunError,
)
from loopbook.toolchain.circles import SELDOM

Result = TypeVar("Result")

PR_SET_PDEATHSIG = 1

_OPENMP = "libomp.so.5"
_HARD = 2
"""``omp_pause_hard`` (OpenMP 5.0, 3.2.44): nothing is kept."""

DEFAULT_SECONDS = 60.0
DEFAULT_BYTES = 8 << 30

TRIES = 3
"""For functions that let docc normalise programs. docc 0.8.1 dies of factorisations now and then:
it asks SymEngine's linear solver whether maps may be fused, which crashes for some orders of the
unknowns, and their order depends on where they lie in memory."""


def run_limited(
    function: Callable[..., Result],
    *args: Any,
    seconds: float = DEFAULT_SECONDS,
    memory: int = DEFAULT_BYTES,
    what: str = "the child process",
    tries: int = 1,
    processor: float = 0.0,
) -> Result:
    """``function(*args)`` in a forked child.

    The child writes nothing to our terminal. It is killed, with every process that it started, when
    its time is up.

    Args:
        seconds: wall-clock limit.
        memory: limit on the child's address space, bytes.
        what: how error messages name the child.
        tries: children to start at most, one after the other, while they crash. What C++ crashes of
            may depend on where things lie in memory; each child has them elsewhere.
        processor: limit on the child's processor time, seconds, however much else the machine has
            to do; 0 is no limit.

    Raises:
        LoopbookError: whatever of ours the function raised, unchanged.
        KernelError: it raised another exception, or died from a signal or an abort.
        DeadlineError: it did not end in time.
        MemoryLimitError: it ran out of its memory.
    """
    for number in range(tries - 1):
        with contextlib.suppress(KernelError):
            return _run(number, function, args, seconds, memory, what, processor)
    return _run(tries - 1, function, args, seconds, memory, what, processor)


def _run(
    number: int,
    function: Callable[..., Result],
    args: tuple[Any, ...],
    seconds: float,
    memory: int,
    what: str,
    processor: float,
) -> Result:
    """One try."""
    receive, send = os.pipe()
    parent = os.getpid()
    with tempfile.TemporaryFile() as stderr:
        pid = fork()
        if pid == 0:
            os.close(receive)
            limits = memory, processor
            _child(function, args, send, stderr.fileno(), limits, parent, _scattered(number))
        os.close(send)
        try:
            payload, in_time = _collect(receive, time.monotonic() + seconds)
        finally:
            os.close(receive)
            _kill_group(pid)
            _, status = os.waitpid(pid, 0)
        if payload:
            try:
                ok, value = pickle.loads(payload)
            except (pickle.UnpicklingError, EOFError):
                pass
            else:
                if ok:
                    return value
                raise value
        if not in_time:
            raise DeadlineError(f"{what} did not end within {seconds:g} s")
        raise too_long(status, what) or death(status, stderr, what)


def fork() -> int:
    """`os.fork`, with Ctrl-C kept waiting: Python drops an interrupt that comes while it runs what
    modules have registered for forks. It comes afterwards, and no child is left over."""
    _rest_openmp()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    pid = -1
    try:
        pid = os.fork()
    finally:
        try:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        except KeyboardInterrupt:
            if pid > 0:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            raise
    return pid


def _rest_openmp() -> None:
    """Have LLVM's OpenMP, if it is loaded, end its threads: a child has none of them, and would
    wait for them for ever. LLVM's own handler sees to that, but not where GNU's OpenMP was loaded
    before it, as scikit-learn and LightGBM do (seen with LLVM 19). The next loop makes threads
    anew. Where another thread is in such a loop meanwhile, its threads stay."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(_OPENMP, mode=os.RTLD_NOLOAD | os.RTLD_NOW).omp_pause_resource_all(_HARD)


def _scattered(number: int) -> list[bytes]:
    """Blocks of memory with holes between them, others for each number; none for the first."""
    random = Random(number)
    blocks = [bytes(random.randrange(1, 2000)) for _ in range(20_000 if number else 0)]
    return blocks[::2]


def _child(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    send: int,
    stderr: int,
    limits: tuple[int, float],
    parent: int,
    scattered: list[bytes],
) -> NoReturn:
    """Runs in the child; never returns. What is scattered stays until it ends."""
    memory, processor = limits
    try:
        confine(stderr, memory, parent)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, processor)
        _send(send, pickle.dumps(answer(function, args, memory)))
    except BaseException:  # the child must end here, whatever happened
        os._exit(70)
    os._exit(0)


def confine(stderr: int, memory: int, parent: int) -> None:
    """Make this process a child that harms nobody: no terminal, limited memory, a process group of
    its own, files that only their owner reads, and an end when its parent ends.

    Args:
        stderr: descriptor that takes what it says.
        memory: limit on its address space, bytes.
        parent: process id of its parent.
    """
    os.setpgid(0, 0)
    die_with_parent()
    if os.getppid() != parent:  # it had ended before
        os._exit(70)
    gc.freeze()  # what the parent has lives on: to look through it for garbage would copy it
    gc.set_threshold(*SELDOM)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.dup2(stderr, 2)
    sys.stdin = open(os.devnull)  # noqa: SIM115 - lives as long as the child
    os.umask(0o077)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    allowed = resource.getrlimit(resource.RLIMIT_AS)[1]
    memory = memory if allowed == resource.RLIM_INFINITY else min(memory, allowed)
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def answer(function: Callable[..., Any], args: tuple[Any, ...], memory: int) -> tuple[bool, Any]:
    """True and what the function returned, or False and an error of ours for what it raised."""
    try:
        return True, function(*args)
    except LoopbookError as error:
        return False, error
    except MemoryError:
        return False, MemoryLimitError(f"more than {memory >> 20} MiB of memory were needed")
    except Exception as error:
        words = _one_line(f"{type(error).__name__}: {error}")
        kind = CompilerError if "ompilation failed" in words else KernelError
        return False, kind(words)


def die_with_parent() -> None:
    """Have the kernel kill us when our parent ends, however it ends (Linux, ``prctl(2)``)."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _send(descriptor: int, payload: bytes) -> None:
    view = memoryview(payload)
    while view:
        view = view[os.write(descriptor, view) :]


def _collect(descriptor: int, deadline: float) -> tuple[bytes, bool]:
    """All that the child sends before it closes the pipe, and whether it did so in time."""
    parts = []
    while True:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([descriptor], [], [], left)[0]:
            return b"".join(parts), False
        part = os.read(descriptor, 1 << 20)
        if not part:
            return b"".join(parts), True
        parts.append(part)


def _kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def too_long(status: int, what: str) -> DeadlineError | None:
    """The error for a child that has used up its processor time, by its exit status."""
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGPROF:
        return DeadlineError(f"{what} took more processor time than it is given")
    return None


def death(status: int, stderr: Any, what: str) -> RunError | CompilerError:
    """The error for a child that died without an answer, by its exit status and last words."""
    stderr.seek(0, os.SEEK_END)
    stderr.seek(max(0, stderr.tell() - 20_000))
    words = stderr.read().decode(errors="replace")
    if "bad_alloc" in words or "Cannot allocate memory" in words:
        return MemoryLimitError(f"{what} ran out of its memory")
    if "error: " in words or "ompilation failed" in words or "linker command" in words:
        return compile_error(words)
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        name = signal.Signals(number).name
        return KernelError(f"{what} crashed ({name}){_tail(words)}")
    return KernelError(f"{what} ended with exit code {os.waitstatus_to_exitcode(status)}")


_REFUSED = re.compile(r":\d+:\d+: (fatal )?error: (?!.*file not found)")
"""The compiler names a place in the code; what it says of itself, or of headers that the machine
lacks, is no fault of the code's."""


def compile_error(words: str) -> CompilerError:
    """The error for a compile that failed, by what the compiler said."""
    lines = [line for line in words.splitlines() if "error: " in line] or [words.strip()]
    kind = GeneratedCodeError if _REFUSED.search(lines[0]) else CompilerError
    return kind(f"the generated C++ does not compile: {_one_line(lines[0])}")


def _tail(words: str) -> str:
    said = [line for line in words.splitlines() if "what():" in line or "xception" in line]
    return f": {_one_line(said[-1])}" if said else ""


def _one_line(text: str) -> str:
    return " ".join(text.split())[:300]
