"""One task in a process of its own.

A node of a cluster gets its tasks in a process that has threads, in which forking is not safe; and
what a task takes of memory, or crashes of, must not be the node's.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import msgspec

from loopbook.errors import InputError
from loopbook.farm.machine import Machine
from loopbook.farm.settings import FarmSettings
from loopbook.recipes.tasks import Ending, Lease, Task
from loopbook.toolchain.sandbox import die_with_parent


def packed(lease: Lease) -> str:
    """A lease as text, for another process."""
    return json.dumps([lease.id, lease.task.to_json(), lease.deadline, lease.document])


def unpacked(text: str) -> Lease:
    """What `packed` has written.

    Raises:
        InputError: it is something else.
    """
    try:
        name, task, deadline, document = json.loads(text)
    except (ValueError, TypeError):
        raise InputError("this is no lease") from None
    return Lease(str(name), Task.from_json(task), float(deadline), str(document))


def do_apart(store: str, lease: str, settings: Mapping[str, Any], doors: Sequence[int] = ()) -> str:
    """Do a task in a process that is started for it; returns what became of it, in words. Where the
    process dies, the lease runs out.

    Args:
        doors: descriptors for the task's jail, which lead to builders on other machines.
    """
    given = json.dumps([store, lease, dict(settings), list(doors)])
    command = [sys.executable, "-m", __name__]
    done = subprocess.run(
        command, input=given, capture_output=True, text=True, check=False, pass_fds=doors
    )
    if done.returncode:
        last = done.stderr.strip().rpartition("\n")[2]
        return f"the process ended with {done.returncode}: {last[:300]}"
    return done.stdout.strip()


def main() -> None:
    """Read a store, a lease, settings and doors from the input; do the task; write its end."""
    from loopbook.farm.carry import Carrier

    die_with_parent()
    store, text, told, doors = json.load(sys.stdin)
    settings = msgspec.convert(told, FarmSettings)
    lease = unpacked(text)
    with Carrier(store, Machine.here(), settings, doors) as carrier:
        ending: Ending = carrier.carry_out(lease)
    sys.stdout.write(json.dumps(ending._asdict()))


def as_plain(settings: FarmSettings) -> dict[str, Any]:
    """Settings for another process."""
    return asdict(settings)


if __name__ == "__main__":
    main()
