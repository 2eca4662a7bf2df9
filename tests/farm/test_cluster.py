"""A real Ray cluster of one node on this machine, with everything that `loopbook farm` starts."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from client_kit import product, record, stencil, text_of
from farm_kit import to_embed, to_tune
from wait_kit import wait_until

from loopbook.cli.app import run
from loopbook.embed.inference import Encoder
from loopbook.errors import FarmError, KernelError
from loopbook.farm.cluster import RayCluster
from loopbook.farm.machine import BUILDING, Machine
from loopbook.farm.status import status_of
from loopbook.recipes.book import Book
from loopbook.recipes.tasks import DEAD, DONE, STATES, TUNE, Ask, Wanted
from loopbook.sdfg.transformed import Recipes
from loopbook.toolchain.built import Built
from loopbook.toolchain.jail.doors import Door
from loopbook.toolchain.march import portable
from loopbook.tuner.builders import Away


class Head:
    """`loopbook farm start --head` in a process, over a book."""

    def __init__(self, folder: Path) -> None:
        self.store = str(folder / "book.db")
        Book.open(self.store).close()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{probe.getsockname()[1]}"
        self.env = {**os.environ, "XDG_CACHE_HOME": str(folder), "OMP_NUM_THREADS": "1"}
        self.log = folder / "head.log"
        self.start()

    def start(self) -> None:
        words = [sys.executable, "-m", "loopbook", "farm", "start", "--store", self.store]
        words += ["--head", self.address, "--trials", "1", "--lease-time", "4", "--orphans", "0"]
        with self.log.open("ab") as file:
            self.process = subprocess.Popen(words, env=self.env, stdout=file, stderr=file)

    def ask(self, *asks: Ask) -> None:
        with Book.open(self.store) as book:
            book.queue.ask_all(asks)

    def states(self) -> list[str]:
        with Book.open(self.store, readonly=True) as book:
            return [task.state for task in book.queue.all(STATES)[0]]

    def children(self, words: str) -> list[int]:
        """Processes below this head whose command line holds these words."""
        told = subprocess.run(
            ["ps", "-eo", "pid,args", "-ww"], capture_output=True, text=True, check=True
        ).stdout
        found = [line.split(None, 1) for line in told.splitlines()[1:] if words in line]
        port = self.address.rpartition(":")[2]
        return [int(pid) for pid, args in found if self.address in args or port in args]


@pytest.fixture
def head(tmp_path, monkeypatch) -> Iterator[Head]:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    running = Head(tmp_path)
    try:
        yield running
    finally:
        running.process.send_signal(signal.SIGTERM)
        assert running.process.wait(120) == 0, running.log.read_text()


@pytest.mark.long
def test_tasks_go_to_nodes_and_end_in_the_book_whatever_is_killed(head):
    """One test, since starting Ray is most of its time."""
    machine, encoder = Machine.here(), Encoder.load()
    known = record(stencil, "")
    with Book.open(head.store) as book:
        book.add(known)
    foreign = Ask(TUNE, "cd" * 16, "sequential", "neon-1t-00000000", "", 1, Wanted("{}"))
    head.ask(to_tune(product, machine), to_embed(known.fingerprint, encoder.version), foreign)
    # What no node can take is given up; this farm waits no day for one.
    assert wait_until(lambda: sorted(head.states()) == [DEAD, DONE, DONE])
    told = status_of(head.store, head.address)
    (node,) = told["nodes"]
    assert node["hardware"]["sequential"] == machine.profiles["sequential"].key
    assert told["done_last_hour"] == 2

    # The dispatcher and Ray itself are killed: both come back, and work goes on.
    before = {words: head.children(words) for words in ("farm dispatch", "gcs_server")}
    assert all(before.values()), head.log.read_text()
    for pid in chain.from_iterable(before.values()):
        os.kill(pid, signal.SIGKILL)
    assert wait_until(lambda: all(set(head.children(one)) - set(before[one]) for one in before))
    head.ask(to_embed("ab" * 16, encoder.version))
    assert wait_until(lambda: set(head.states()) == {DEAD, DONE})

    # A supervisor that is killed leaves nothing in the way of the next.
    assert len(head.children("")) > 2
    head.process.kill()
    head.process.wait()
    assert wait_until(lambda: not head.children(""))
    head.start()
    head.ask(to_embed("ef" * 16, encoder.version))
    assert wait_until(lambda: set(head.states()) == {DEAD, DONE})


@pytest.mark.long
def test_a_node_that_only_builds_builds_for_the_one_that_times(head, tmp_path):
    from loopbook.farm.building import builders_elsewhere  # imports Ray

    """Two nodes: a task is done with both, a candidate is built on the second, and when that is
    killed there is nobody to ask."""
    words = [sys.executable, "-m", "loopbook", "farm", "start", "--join", head.address]
    own = {**head.env, "XDG_CACHE_HOME": str(tmp_path / "second")}
    with (tmp_path / "second.log").open("wb") as log:
        second = subprocess.Popen(
            [*words, "--build-for-others", "1"], env=own, stdout=log, stderr=log
        )
    try:
        assert wait_until(lambda: _building(head.address) == 1)
        assert len(status_of(head.store, head.address)["nodes"]) == 1, "it takes no tasks"
        head.ask(to_tune(product, Machine.here()))
        assert wait_until(lambda: head.states() == [DONE])
        with RayCluster(head.address):
            assert _niceness() == 0, "other programs come first"
            with builders_elsewhere(300.0) as (door,), builders_elsewhere(10.0) as (later,):
                built = _built(Away(Door(os.dup(door)), portable(), 300.0), tmp_path / "first")
                assert built.library.read_bytes()[:4] == b"\x7fELF"
                second.kill()
                second.wait()
                builder = Away(Door(os.dup(later)), portable(), 300.0)
                with pytest.raises(KernelError, match="gone"):
                    _built(builder, tmp_path / "second")
            assert builder.gone
            assert builder.killed, "the candidate is to blame for nothing"
    finally:
        second.kill()
        second.wait()


def _building(address: str) -> int:
    import ray

    try:
        with RayCluster(address):
            return int(ray.cluster_resources().get(BUILDING, 0))
    except FarmError:  # the head is not there yet
        return 0


def _niceness() -> int:
    import ray

    return ray.get(ray.remote(num_cpus=0)(lambda: os.nice(0)).remote())


def _built(builder: Away, folder: Path) -> Built:
    steps: Recipes = {0: (("tile", ("L1", 4)),)}
    builder.send(text_of(product), "sequential", steps, folder, True, folder, seconds=0.0)
    return builder.receive()


def test_where_there_is_no_cluster_one_line_says_so(tmp_path, capsys):
    store = str(tmp_path / "book.db")
    Book.open(store).close()
    with pytest.raises(FarmError, match="there is no Ray cluster"):
        RayCluster("127.0.0.1:1")
    assert run(["farm", "status", "--store", store, "--address", "127.0.0.1:1"]) == 2
    said = capsys.readouterr().err
    assert len(said.strip().splitlines()) == 1


@pytest.mark.parametrize(
    "words",
    [
        ["--head", "nowhere"],
        ["--join", "host:port"],
        ["--head", "a:1", "--join", "a:1"],
        ["--join", "a:1", "--store", "x.db"],
        ["--trials", "0"],
        ["--build-for-others", "1"],
    ],
)
def test_a_wrong_command_line_is_one_line(words: list[Any], capsys):
    assert run(["farm", "start", *words]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1
