"""What commands print by default: no more than a screen, no wider than one, each on its stream."""

from __future__ import annotations

import os
import subprocess
import sys

import client_kit as kit
import pytest
import typer
from cli_kit import ATTENTION, PRODUCT, PROGRESS, Shell, make_shell, surroundings
from queue_kit import ask

from loopbook.cli import style
from loopbook.cli.app import app
from loopbook.client.places import STARTER
from loopbook.recipes.book import Book


@pytest.fixture
def shell(tmp_path, monkeypatch, capfd) -> Shell:
    return make_shell(tmp_path, monkeypatch, capfd)


@pytest.fixture
def full(shell) -> Shell:
    """With a user's book of many records, and as much to be done on it."""
    known = kit.record(kit.product, kit.blocked())
    others = [
        kit.record(kit.chain, kit.SIMPLE, float(n), name=f"a_kernel_with_a_rather_long_name_{n}")
        for n in range(2, 30)
    ]
    kit.fill(shell.folder / "own.db", [known, *others])
    with Book.open(shell.folder / "own.db") as book:
        book.queue.ask_all([ask(number) for number in range(70)])
    for number in range(55):
        assert shell("token", "create", f"somebody with a name {number}").code == 0
    return shell


def fits(shell: Shell, *words: object) -> str:
    """What the command prints, which is at most a screen, and says nothing else."""
    out = shell(*words).good().out
    lines = out.splitlines()
    assert 0 < len(lines) <= style.LINES, words
    assert max(map(len, lines)) <= style.WIDTH, words
    return out


def test_no_command_prints_more_than_a_screen_by_default(full, monkeypatch):
    """A file is called what its user calls it, however long that is: here by a short name."""
    shell = full
    monkeypatch.chdir(shell.folder)
    workload = shell.file("mine.py", PRODUCT)
    for words in (
        ("book", "info"),
        ("book", "info", "starter"),
        ("book", "list"),
        ("book", "list", "starter"),
        ("book", "search", "tile", "--book", "starter"),
        ("book", "show", "--book", STARTER, first_of(shell)),
        ("book", "verify"),
        ("queue", "list"),
        ("farm", "status"),
        ("farm", "stop"),
        ("token", "list"),
        ("quarantine", "list"),
        ("steps",),
        ("schema",),
        ("hardware", "--no-measured"),
        ("nearest", workload),
        ("nearest", workload, "--book", STARTER, "-k", "50"),
        ("explain", workload, "--book", STARTER),
        ("explain", shell.file("attention.py", ATTENTION), "--book", STARTER),
        ("optimize", workload, "--out", "out.json"),
    ):
        fits(shell, *words)
    task = shell("queue", "list", "--json").document["tasks"][0]["id"]
    fits(shell, "queue", "show", task)


def first_of(shell: Shell) -> str:
    told = shell("book", "list", "starter", "--limit", "1", "--json").good().document
    return told["records"][0]["id"]


def test_every_help_fits(shell):
    todo = [((), typer.main.get_command(app))]
    while todo:
        words, command = todo.pop()
        todo += [((*words, name), one) for name, one in getattr(command, "commands", {}).items()]
        lines = shell(*words, "--help").good().out.splitlines()
        assert max(map(len, lines)) <= style.WIDTH, words


def test_progress_is_on_stderr_and_the_answer_on_stdout(tmp_path):
    """Of a command that takes long enough to say what it does."""
    words = [sys.executable, "-m", "loopbook", "explain", "2mm", "--json"]
    environment = {**os.environ, **surroundings(tmp_path)}
    done = subprocess.run(words, capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.startswith("{")
    assert done.stdout.count("\n") == 1
    assert done.stderr
    assert all(PROGRESS.match(line) for line in done.stderr.splitlines())


@pytest.mark.parametrize("words", [["steps"], ["schema", "--json"], ["--help"]])
def test_whoever_stops_reading_is_not_complained_to(tmp_path, words):
    command = [sys.executable, "-m", "loopbook", *words]
    environment = {**os.environ, **surroundings(tmp_path)}
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()  # before anything is printed, as 'head -0' does
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 0
