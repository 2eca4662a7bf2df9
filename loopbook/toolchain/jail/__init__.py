"""Runs a function of ours on what a stranger has sent, where it can do no harm.

What a stranger's nest is compiled to may be anything. So it is built and run by a Python process
behind walls that the kernel keeps (bubblewrap): no network, no home, a system that it cannot write
to, a small temporary folder of its own, none of our environment, and limits on time, memory,
processes and files. A JSON value goes in and one comes back; nothing that comes back is trusted to
be more than that.

`loopbook.toolchain.sandbox` protects us from accidents, this from malice.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

from loopbook.errors import (
    CompilerError,
    DeadlineError,
    IllegalStepError,
    InputError,
    JailError,
    KernelError,
    LoopbookError,
    MemoryLimitError,
    RunError,
    kinds,
)
from loopbook.toolchain.jail import walls, watch
from loopbook.toolchain.jail.inmate import READY

GIB = 1 << 30

PAUSE = 0.2
"""Seconds between two looks at what the jail's processes take."""

MAY_RAISE = kinds(InputError, IllegalStepError, CompilerError, RunError)
"""What a job may say that it has met, by name. Of the database, say, or of the jail itself it knows
nothing."""

LAST_WORDS = 4096
"""Bytes of what it says on stderr that are kept."""


def _half() -> int:
    """Half of the machine's memory, bytes."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2


@dataclass(frozen=True)
class Limits:
    """What a jail may take.

    Attributes:
        seconds: wall-clock time.
        memory: of all its processes together, bytes; each one's address space is limited to the
            same or 12 GiB, if that is more, since much of that is never touched.
        processes: processes and threads at once.
        files: its temporary folder, bytes.
        answer: what it sends back, bytes.
    """

    seconds: float = 600.0
    memory: int = field(default_factory=_half)
    processes: int = 64 + 16 * (os.cpu_count() or 1)
    files: int = GIB // 2
    answer: int = 1 << 20


def call(
    job: str,
    given: Any,
    *,
    limits: Limits | None = None,
    what: str = "the jailed process",
    modules: Sequence[Path] = (),
    doors: Sequence[int] = (),
) -> Any:
    """``function(given)`` in a jail; with doors ``function(given, doors)``.

    Args:
        job: ``module:function``, of ours.
        given: a JSON value.
        what: how error messages name the process.
        modules: folders, besides those of our own packages, that `job` may be imported from.
        doors: descriptors of sockets that lead out of the jail and stay open in it, for all that
            runs there. Who holds the other end (`loopbook.toolchain.jail.doors`) gets whatever
            bytes a stranger may like.

    Returns:
        What the function returned, a JSON value that must be looked at like any stranger's.

    Raises:
        JailError: there can be no jail on this machine.
        LoopbookError: the function raised one of `MAY_RAISE`, or so says what comes back.
        KernelError: it raised something else, the process died, or it sent something else than
            JSON.
        DeadlineError: it did not end in time.
        MemoryLimitError: it took more memory than it may.
    """
    limits = limits or Limits()
    check()
    with tempfile.TemporaryFile() as orders, tempfile.TemporaryFile() as words:
        rules = {
            "job": job,
            "given": given,
            "address_space": max(limits.memory, 12 * GIB),
            "processes": limits.processes,
            "seconds": math.ceil(limits.seconds),
            "files": limits.files,
            "doors": list(doors),
        }
        orders.write(json.dumps(rules).encode())
        orders.seek(0)
        with walls.closed(limits.files, modules) as prison:
            process = prison.start(walls.inmate(), orders, doors)
        try:
            answer = _collect(process, limits, words, what)
        finally:
            _end(process)
        return _read(answer, process.returncode, words, what)


@lru_cache(maxsize=1)
def check() -> None:
    """Start a jail once, to see whether this machine has any.

    Raises:
        JailError: it has not; the message says what to install or allow.
    """
    with tempfile.TemporaryFile() as nothing, walls.closed(1 << 20, ()) as prison:
        process = prison.start(["/usr/bin/env", "true"], nothing)
        try:
            _, said = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            said = b"it did not start within 60 s"
        finally:
            _end(process)
    if process.returncode:
        reason = clean(said.decode(errors="replace"))
        raise JailError(
            f"{walls.PURPOSE}, which this system does not allow ({reason}): allow user namespaces"
            " (sysctl kernel.apparmor_restrict_unprivileged_userns=0; --privileged for a container)"
        )


def _collect(
    process: subprocess.Popen[bytes], limits: Limits, words: IO[bytes], what: str
) -> bytes:
    """All that the process sends, while its time and memory are watched.

    Raises:
        KernelError, DeadlineError, MemoryLimitError: see `call`.
    """
    assert process.stdout is not None
    assert process.stderr is not None
    begun = time.monotonic()
    deadline, next_look = begun + limits.seconds, begun
    open_pipes = {process.stdout.fileno(), process.stderr.fileno()}
    answer = bytearray()
    while open_pipes or process.poll() is None:  # it may close its pipes and go on
        now = time.monotonic()
        if now >= deadline:
            raise DeadlineError(f"{what} did not end within {limits.seconds:g} s")
        if now >= next_look:
            _look(process.pid, limits, what)
            next_look = now + PAUSE
        for pipe in select.select(open_pipes, [], [], min(deadline - now, PAUSE))[0]:
            part = os.read(pipe, 1 << 16)
            if not part:
                open_pipes.discard(pipe)
            elif pipe == process.stdout.fileno():
                answer += part
                if len(answer) > limits.answer:
                    raise KernelError(f"{what} sent more than {limits.answer} bytes")
            elif words.tell() < LAST_WORDS:
                words.write(part[:LAST_WORDS])
    return bytes(answer)


def _look(pid: int, limits: Limits, what: str) -> None:
    """Raise `MemoryLimitError` where a jail takes too much."""
    if watch.exceeds(pid, limits.memory):
        raise MemoryLimitError(f"{what} took more than {limits.memory >> 20} MiB of memory")
    if watch.scarce():
        raise MemoryLimitError(f"{what} left too little of this machine's memory")


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill what is left. With its first process the kernel ends all others of the jail."""
    if process.returncode is None:  # its number cannot be somebody else's yet
        for pid in [*watch.children(process.pid), process.pid]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()


def _read(answer: bytes, status: int, words: IO[bytes], what: str) -> Any:
    """The value in what a jailed process sent.

    Raises:
        LoopbookError: see `call`.
    """
    words.seek(0)
    last = words.read().decode(errors="replace").strip().rpartition("\n")[2]
    said = clean(last)
    ready, _, payload = answer.partition(b"\n")
    if ready != READY.encode():
        raise JailError(f"Python does not start in the jail: {said or f'exit code {status}'}")
    if not payload:
        raise KernelError(f"{what} ended without an answer: {said or f'exit code {status}'}")
    try:
        told = json.loads(payload, parse_constant=_refuse)
    except (ValueError, RecursionError):
        told = None
    if isinstance(told, dict) and told.keys() == {"result"}:
        return told["result"]
    if isinstance(told, dict) and told.keys() == {"error", "kind"}:
        raise met(told["kind"], told["error"])
    raise KernelError(f"{what} sent something that is no answer")


def met(kind: object, words: object) -> LoopbookError:
    """The error that a job says it has met; of what it may not say, a `KernelError`."""
    error = MAY_RAISE.get(kind, KernelError) if isinstance(kind, str) else KernelError
    return error(clean(str(words)))


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def clean(text: str) -> str:
    """One line of printable text, not too long."""
    line = " ".join(text.split())
    return "".join(c if c.isprintable() else "�" for c in line)[:300]
