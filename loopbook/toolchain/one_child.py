"""One child for jobs that follow each other.

To fork costs as much as the process is large, and a child first copies what it touches: 14 ms for a
job in a process of 110 MB, 45 us for each MB more. Compiling one function takes three jobs: docc's
simplification tells what its front end lost, then the program is prepared, then compiled. Within a
block of `one_child` they share a child. It ends with the block: while it lives, whatever its parent
writes into has to be kept twice.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from loopbook.errors import KernelError
from loopbook.toolchain import sandbox
from loopbook.toolchain.worker import Worker

Result = TypeVar("Result")


class _Block(threading.local):
    """The block that a thread is in.

    Attributes:
        owner: id of the process that entered it, 0 outside: a child of that has no part in it.
    """

    owner = 0
    worker: Worker[Any] | None = None


_block = _Block()


@contextlib.contextmanager
def one_child() -> Iterator[None]:
    """Within the block, jobs given to `run_shared` by this thread run in one child."""
    if _block.owner == os.getpid():
        yield
        return
    _block.owner, _block.worker = os.getpid(), None
    try:
        yield
    finally:
        worker, _block.owner, _block.worker = _block.worker, 0, None
        if worker is not None:
            worker.close()


def run_shared(
    function: Callable[..., Result],
    *args: Any,
    seconds: float = sandbox.DEFAULT_SECONDS,
    memory: int = sandbox.DEFAULT_BYTES,
    what: str = "the child process",
    tries: int = 1,
    processor: float = 0.0,
) -> Result:
    """`loopbook.toolchain.sandbox.run_limited`, but within a block of `one_child` in its child, and
    only once more in others if that crashes.

    For what is ours or docc's: code that was compiled for somebody may leave a child damaged.

    Raises:
        LoopbookError: as `run_limited`.
    """
    limits: dict[str, Any] = {"seconds": seconds, "memory": memory, "what": what}
    if _block.owner != os.getpid():
        return sandbox.run_limited(function, *args, tries=tries, processor=processor, **limits)
    if _block.worker is None:
        _block.worker = Worker(_job, guarded=False)
    worker = _block.worker
    try:
        worker.send(function, args, memory, processor, dict(os.environ), seconds=seconds, what=what)
        return worker.receive()
    except KernelError:
        if tries == 1:
            raise
    return sandbox.run_limited(function, *args, tries=tries - 1, processor=processor, **limits)


def _job(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    memory: int,
    processor: float,
    environment: Mapping[str, str],
) -> Any:
    """Runs in the child."""
    if os.environ != environment:
        os.environ.clear()
        os.environ.update(environment)
    most = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (min(memory, most), most))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, processor)
    try:
        return function(*args)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
