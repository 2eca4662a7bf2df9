"""The process in a jail: takes its orders, gives up what is left of its rights, does one job.

Until it begins with the job, it runs nothing but code of ours.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from loopbook.toolchain.sandbox import answer

READY = "loopbook is in jail"
"""Said before the job begins: what goes wrong earlier is the jail's fault."""

USER = 65534
"""Nobody's number, inside; and outside too where root has made the jail: root's processes cannot be
counted, so they become somebody else's."""

OPEN_FILES = 1024


def main() -> None:
    with open(0, "rb", closefd=False) as file:
        orders = json.load(file)
    _close_all_but(orders["doors"])
    answers = os.dup(1)  # children of the job have no stdout
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.close(null)
    # Where the machine runs out of memory, the kernel takes ours first.
    Path("/proc/self/oom_score_adj").write_text("1000")
    _become_nobody()
    _limit(orders)
    module, _, name = orders["job"].partition(":")
    function = getattr(importlib.import_module(module), name)
    os.write(answers, f"{READY}\n".encode())
    given = (orders["given"], orders["doors"]) if orders["doors"] else (orders["given"],)
    worked, came = answer(function, given, orders["address_space"])
    told = {"result": came} if worked else {"error": str(came), "kind": type(came).__name__}
    with open(answers, "wb") as file:
        file.write(json.dumps(told).encode())


def _close_all_but(doors: Sequence[int]) -> None:
    first = 3
    for door in sorted(doors):
        os.closerange(first, door)
        os.set_inheritable(door, False)
        first = door + 1
    os.closerange(first, resource.getrlimit(resource.RLIMIT_NOFILE)[0])


def _become_nobody() -> None:
    if os.getuid() != USER:
        os.setgroups([])
        os.setresgid(USER, USER, USER)
        os.setresuid(USER, USER, USER)
    if {*os.getresuid(), *os.getresgid()} != {USER}:
        sys.exit("the jail has not become nobody")


def _limit(orders: dict[str, Any]) -> None:
    limits = {
        resource.RLIMIT_AS: orders["address_space"],
        resource.RLIMIT_NPROC: orders["processes"],
        resource.RLIMIT_CPU: orders["seconds"] * (os.cpu_count() or 1),
        resource.RLIMIT_FSIZE: orders["files"],
        resource.RLIMIT_NOFILE: OPEN_FILES,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MSGQUEUE: 0,
    }
    for kind, limit in limits.items():
        resource.setrlimit(kind, (limit, limit))
