"""Ray, as far as the farm needs it: nodes with our labels, and tasks on them.

Ray says which nodes there are and where a task goes; it keeps nothing of ours. A task that is lost
with its node, or with Ray itself, is in the database, whose lease runs out.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from loopbook.errors import FarmError
from loopbook.farm.machine import BUILDING, TIMING, Machine, abilities_of
from loopbook.recipes.tasks import Abilities
from loopbook.targets import THREADS_VARIABLE
from loopbook.toolchain.sandbox import die_with_parent

LOST_S = 15
"""Seconds after which a node that does not reach the head ends, to be started anew."""

REACH_S = 5.0
"""To wait for the head to answer at all."""

AUTH_MODE = "RAY_AUTH_MODE"

_SURROUNDINGS = {
    "RAY_gcs_rpc_server_reconnect_timeout_s": str(LOST_S),
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS": "0",
    # Ray would run tasks at 15, where whatever else the machine does comes first, and is timed too.
    "RAY_worker_niceness": "0",
}


class Node(NamedTuple):
    """A node that is alive and ours.

    Attributes:
        name: for people.
        labels: see `loopbook.farm.machine.Machine.labels`.
        abilities: what it can lease.
    """

    name: str
    labels: Mapping[str, str]
    abilities: Abilities


class Cluster(Protocol):
    """What the dispatcher asks of a cluster."""

    def nodes(self) -> list[Node]: ...

    def submit(
        self, selector: Mapping[str, str], timing: bool, store: str, lease: str, settings: Any
    ) -> Any:
        """Begin a task on a node with such labels; a handle that `finished` knows."""
        ...

    def finished(self, handles: Sequence[Any], seconds: float) -> list[tuple[Any, str]]:
        """Those that have ended, with what became of them in words; waits at most so long for the
        first."""
        ...


class RayCluster:
    """A Ray cluster that this process has joined. Use as a context manager.

    Args:
        address: ``host:port`` of the head.

    Raises:
        FarmError: Ray is not installed, or there is no cluster.
    """

    def __init__(self, address: str) -> None:
        os.environ.update({**_SURROUNDINGS, **_auth()})
        self._ray = ray = _ray()
        _reach(address)
        try:
            ray.init(
                address=address,
                namespace="loopbook",
                log_to_driver=False,
                logging_level="ERROR",
                configure_logging=False,
            )
        except (ConnectionError, RuntimeError, ValueError, OSError) as error:
            raise FarmError(f"there is no Ray cluster at {address}: {_first_line(error)}") from None
        self._do = ray.remote(max_retries=0, num_cpus=0)(_do)

    def __enter__(self) -> RayCluster:
        return self

    def __exit__(self, *_: object) -> None:
        self._ray.shutdown()

    def nodes(self) -> list[Node]:
        """The nodes that are alive and ours.

        Raises:
            FarmError: the head does not answer.
        """
        try:
            told = self._ray.nodes()
        except Exception as error:  # Ray has a tree of its own for this
            raise FarmError(f"Ray does not answer: {_first_line(error)}") from None
        found = []
        for one in told:
            labels = dict(one.get("Labels") or {})
            abilities = abilities_of(labels) if one.get("Alive") else None
            if abilities is not None:
                name = f"{one.get('NodeManagerHostname', '')}:{str(one.get('NodeID', ''))[:8]}"
                found.append(Node(name, labels, abilities))
        return found

    def submit(
        self, selector: Mapping[str, str], timing: bool, store: str, lease: str, settings: Any
    ) -> Any:
        options: dict[str, Any] = {"label_selector": dict(selector)}
        if timing:
            options["resources"] = {TIMING: 1}
        return self._do.options(**options).remote(store, lease, settings)

    def finished(self, handles: Sequence[Any], seconds: float) -> list[tuple[Any, str]]:
        ready, _ = self._ray.wait(list(handles), num_returns=len(handles), timeout=seconds)
        return [(one, self._said(one)) for one in ready]

    def _said(self, handle: Any) -> str:
        try:
            return str(self._ray.get(handle))
        except Exception as error:  # a worker or a node that died; Ray's own classes
            return f"lost: {_first_line(error)}"


def _do(store: str, lease: str, settings: Any) -> str:
    from loopbook.farm.building import builders_elsewhere
    from loopbook.farm.single import do_apart, unpacked
    from loopbook.recipes.tasks import TUNE

    if unpacked(lease).task.kind != TUNE:
        return do_apart(store, lease, settings)
    with builders_elsewhere() as doors:
        return do_apart(store, lease, settings, doors)


def node_command(machine: Machine, address: str, *, head: bool, builds: int = 0) -> list[str]:
    """The command that runs a node of a cluster until it ends.

    Args:
        address: ``host:port`` of the head; of a head, where it listens.
        builds: do nothing but build for others, with so many processes.
    """
    host, _, port = address.rpartition(":")
    # A node in front of its own processes: `python -m ray…` finds those of this environment.
    common = [sys.executable, "-m", "ray.scripts.scripts", "start", "--block"]
    place = (
        ["--head", f"--port={port}", f"--node-ip-address={host}"]
        if head
        else [f"--address={address}"]
    )
    labels = machine.builds if builds else machine.labels
    resources = {BUILDING: builds} if builds else {TIMING: 1}
    own = [f"--labels={labels_text(labels)}", f"--resources={json.dumps(resources)}"]
    return [*common, *place, *own, "--disable-usage-stats"]


def labels_text(labels: Mapping[str, str]) -> str:
    """Labels as ``ray start --labels`` wants them."""
    return ",".join(f"{name}={value}" for name, value in sorted(labels.items()))


def surroundings(machine: Machine) -> dict[str, str]:
    """The environment of a node's processes. The number of threads stands in it: where it does not,
    Ray gives a task that asks for no cores one thread, and the machine would be another one there
    than its labels say."""
    threads = max(profile.threads for profile in machine.profiles.values())
    return {THREADS_VARIABLE: str(threads), **os.environ, **_SURROUNDINGS, **_auth()}


def _auth() -> dict[str, str]:
    """Whether Ray is to want a token, where nobody has said so: where there is one. Ray's heads
    decide like that, its programs do not, and would be refused."""
    if AUTH_MODE in os.environ:
        return {}
    told = os.environ.get("RAY_AUTH_TOKEN") or os.environ.get("RAY_AUTH_TOKEN_PATH")
    return {AUTH_MODE: "token"} if told or (Path.home() / ".ray" / "auth_token").exists() else {}


def start_node(
    machine: Machine, address: str, *, head: bool, log: Path, builds: int = 0
) -> subprocess.Popen[bytes]:
    """Start a node of a cluster in the background.

    Raises:
        FarmError: Ray is not installed.
    """
    _ray()
    with log.open("ab") as file:
        return subprocess.Popen(
            node_command(machine, address, head=head, builds=builds),
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            env=surroundings(machine),
            start_new_session=True,
            preexec_fn=die_with_parent,  # its own processes die with it
        )


def _reach(address: str) -> None:
    """See that something listens there: where nothing does, Ray would end this process.

    Raises:
        FarmError: nothing does.
    """
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), REACH_S).close()
    except (OSError, ValueError) as error:
        raise FarmError(f"there is no Ray cluster at {address}: {_first_line(error)}") from None


def _ray() -> Any:
    try:
        import ray
    except ModuleNotFoundError:
        raise FarmError("a farm needs Ray: pip install 'loopbook[farm]'") from None
    return ray


def _first_line(error: BaseException) -> str:
    words = str(error).strip() or type(error).__name__
    return words.splitlines()[0][:300]
