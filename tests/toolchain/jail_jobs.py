"""What a stranger's code may try, for `test_jail` to have tried in a jail."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from loopbook import errors
from loopbook.toolchain.jail.doors import Door

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000


def tried(attempt: Callable[..., Any], *args: Any) -> str:
    """What came of it: "done", or the error's name."""
    try:
        attempt(*args)
    except Exception as error:
        return type(error).__name__
    return "done"


def echo(given: Any) -> Any:
    return given


def fail(message: str) -> None:
    raise ValueError(message)


def fail_with(kind: str) -> None:
    raise getattr(errors, kind)("why")


def surroundings(_: Any) -> dict[str, Any]:
    status = Path("/proc/self/status").read_text()
    words = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    return {
        "environment": dict(os.environ),
        "users": [*os.getresuid(), *os.getresgid()],
        "groups": os.getgroups(),
        "rights": [words[name] for name in ("CapEff", "CapPrm", "CapAmb")],
        "no_new_rights": words["NoNewPrivs"],
        "processes": [name for name in os.listdir("/proc") if name.isdigit()],
        "networks": [name for _, name in socket.if_nameindex()],
        "open": [fd for fd in range(OPEN) if tried(os.fstat, fd) == "done"],
        "limits": [
            resource.getrlimit(kind) for kind in (resource.RLIMIT_NPROC, resource.RLIMIT_AS)
        ],
    }


OPEN = 64


def reach(given: list[Any]) -> list[str]:
    """Connect to a port on this machine, to an abstract socket, and to the world."""
    port, name = given
    unix = socket.socket(socket.AF_UNIX)
    return [
        tried(socket.create_connection, ("127.0.0.1", port), 3),
        tried(unix.connect, f"\0{name}"),
        tried(socket.create_connection, ("192.0.2.1", 80), 3),
    ]


def read(paths: list[str]) -> list[str]:
    return [tried(os.listdir if path.endswith("/") else _text, path) for path in paths]


def _text(path: str) -> str:
    return Path(path).read_text()


def environments(secret: str) -> list[str]:
    """Processes whose environment holds a secret."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if secret.encode() in path.read_bytes():
                found.append(str(path))
    return found


def write(paths: list[str]) -> list[str]:
    """Make a file in each folder; those where that went well."""
    good = []
    for path in paths:
        with contextlib.suppress(OSError):
            Path(path, "loopbook-was-here").write_text("")
            good.append(path)
    return good


def mount(_: Any) -> list[int]:
    """What the kernel answers to who wants to be root, or more room."""
    kernel = ctypes.CDLL(None)
    return [
        kernel.unshare(CLONE_NEWUSER),
        kernel.unshare(CLONE_NEWNET),
        kernel.mount(b"none", b"/tmp", b"tmpfs", 0, None),
        kernel.umount2(b"/tmp", 2),
        kernel.setuid(0),
        kernel.setgid(0),
    ]


def bomb(_: Any) -> None:
    """Every process starts others, for ever."""
    while True:
        with contextlib.suppress(OSError):
            os.fork()


def crowd(_: Any) -> int:
    """How many processes can be started."""
    started = []
    with contextlib.suppress(OSError):
        while len(started) < 10_000:
            pid = os.fork()
            if pid == 0:
                time.sleep(60)
                os._exit(0)
            started.append(pid)
    for pid in started:
        os.kill(pid, signal.SIGKILL)
    return len(started)


def hang(mark: str) -> None:
    """Go on in processes that have left our group and session, and ignore every signal."""
    for _ in range(3):
        if os.fork() == 0:
            os.setsid()
            subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", mark])
            break
    for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_IGN)
    for descriptor in range(OPEN):
        tried(os.close, descriptor)
    while True:
        pass


def leave(mark: str) -> str:
    """End, and leave others behind."""
    subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(600)", mark], start_new_session=True
    )
    return "done"


def fill(path: str) -> int:
    """Bytes that fit into files in a folder."""
    block, written = bytes(1 << 20), 0
    with contextlib.suppress(OSError):
        for number in range(100):
            with open(f"{path}/{number}", "wb", buffering=0) as file:
                for _ in range(8):
                    written += file.write(block)
    return written


def large_file(size: int) -> str:
    """The file is sparse: it takes no room."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    return tried(os.truncate, os.open("/tmp/large", os.O_CREAT | os.O_RDWR), size)


def allocate(size: int) -> str:
    return tried(mmap.mmap, -1, size)


def hoard(size: int) -> None:
    """Take memory in several processes, each of which takes little."""
    for _ in range(8):
        if os.fork() == 0:
            break
    block = bytearray(size)
    block[:: mmap.PAGESIZE] = b"x" * len(range(0, size, mmap.PAGESIZE))
    time.sleep(60)


def forge(text: str) -> None:
    """Answer in the inmate's place, and keep it from doing so."""
    for descriptor in range(3, OPEN):
        with contextlib.suppress(OSError):
            os.write(descriptor, text.encode())
    os._exit(0)


def flood(_: Any) -> None:
    """Say much, on all descriptors."""
    while True:
        for descriptor in range(2, OPEN):
            with contextlib.suppress(OSError):
                os.write(descriptor, bytes(1 << 16))


def build(given: list[str]) -> str:
    """Have docc compile an SDFG that is named with a shell command; what that left in a file."""
    from docc.sdfg import StructuredSDFG

    from loopbook.errors import LoopbookError
    from loopbook.sdfg import passes
    from loopbook.toolchain import compiler
    from loopbook.toolchain.sandbox import run_limited

    text, left = given
    compiler.activate()

    def built() -> None:
        passes.build(passes.simplify(StructuredSDFG.parse(text)), Path("/tmp/built"), "none")

    with contextlib.suppress(LoopbookError):  # the rest of the name is no file's
        run_limited(built)
    return Path(left).read_text()


def die(number: int) -> None:
    os.kill(os.getpid(), number)


def ask(given: list[str], doors: list[int]) -> list[str | None]:
    """What is answered to each request, one after the other, at the first door."""
    door, found = Door(doors[0]), []
    for one in given:
        door.ask(one.encode())
        answer = door.answer(time.monotonic() + 60)
        found.append(None if answer is None else answer.decode())
    return found


def push(given: str, doors: list[int]) -> bool:
    """Push bytes, in hex, through a door, not as messages; whether it is shut then."""
    try:
        os.write(doors[0], bytes.fromhex(given))
        return os.read(doors[0], 1) == b""
    except (BrokenPipeError, ConnectionResetError):
        return True


def push_and_end(given: str, doors: list[int]) -> None:
    """Push bytes, in hex, through a door, and end."""
    os.write(doors[0], bytes.fromhex(given))
