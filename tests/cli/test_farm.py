"""What a cluster that something else starts is to be told: labels, and the dispatcher's options."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
import typer
from cli_kit import Shell, make_shell

from loopbook.cli import farm
from loopbook.cli.app import run
from loopbook.farm.machine import Machine
from loopbook.farm.settings import FarmSettings


@pytest.fixture
def shell(tmp_path, monkeypatch, capfd) -> Shell:
    return make_shell(tmp_path, monkeypatch, capfd)


def test_labels_are_those_that_a_node_of_ours_has(shell):
    labels = Machine.here().labels
    line = shell("farm", "labels").good().out
    assert dict(word.split("=") for word in line.strip().split(",")) == labels
    told = shell("farm", "labels", "--json").good().document
    assert told == labels


def test_a_node_without_a_jail_says_so_and_why(tmp_path):
    command = [sys.executable, "-m", "loopbook", "farm", "labels"]
    bare = {**os.environ, "PATH": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    done = subprocess.run(command, env=bare, capture_output=True, text=True, check=True)
    assert "loopbook/jail=no," in done.stdout
    assert "bubblewrap" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_the_dispatcher_is_given_the_settings_of_its_farm():
    settings = FarmSettings(trials=5, seed=3, search_s=12.5, lease_s=7.0, orphan_s=5400.0)
    commands = typer.main.get_command(farm.app).commands  # pyright: ignore
    words = ["--address", "host:1", *farm._as_options(settings)]
    given = commands["dispatch"].make_context("dispatch", words).params
    assert given.pop("address") == "host:1"
    assert given.pop("store") is None
    assert farm._settings(**given) == settings


def test_a_dispatcher_without_a_cluster_is_one_line(tmp_path, capsys):
    words = ["--store", str(tmp_path / "book.db"), "--address", "127.0.0.1:1", "--trials", "3"]
    assert run(["farm", "dispatch", *words]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1
