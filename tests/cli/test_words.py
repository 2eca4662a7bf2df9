"""What the command line says of itself: help, version, completion, mistakes, and doctor."""

from __future__ import annotations

import json
from typing import Any

import client_kit as kit
import pytest
from cli_kit import Shell, make_shell

from loopbook.cli import answers
from loopbook.cli.app import GROUPS
from loopbook.tuner import corpus


@pytest.fixture
def shell(tmp_path, monkeypatch, capfd) -> Shell:
    return make_shell(tmp_path, monkeypatch, capfd)


def test_a_group_without_a_command_is_explained_once_and_without_a_complaint(shell):
    for name, *_ in GROUPS:
        answer = shell(name).good()
        assert f"Usage: loopbook {name} " in answer.out
        assert len(answer.out.splitlines()) <= 60
    assert shell().good().out.strip() == shell("-h").good().out.strip()


def test_the_version_is_told(shell):
    assert shell("--version").good().out.startswith("loopbook 0.")


def test_a_mistake_names_the_option_and_the_commands_own_help(shell):
    message = shell("nearest", "-k", "0", "gemm").refusal()
    assert "'-k'" in message
    assert message.endswith("(see 'loopbook nearest --help')")


def test_shells_complete_commands(shell, monkeypatch, capfd):
    monkeypatch.setenv("_LOOPBOOK_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "loopbook book s")
    monkeypatch.setenv("COMP_CWORD", "2")
    with pytest.raises(SystemExit):
        shell()
    assert capfd.readouterr().out.split() == ["search", "show"]


def test_no_json_holds_what_is_no_json(capfd):
    answers.write(Any, {"a": [float("nan"), (float("inf"), 1.5)]})
    assert json.loads(capfd.readouterr().out) == {"a": [None, [None, 1.5]]}


def test_a_corpus_that_did_not_come_along_is_told_of(shell, monkeypatch):
    monkeypatch.setattr(corpus, "CORPUS", shell.folder)
    assert "--corpus" in shell("corpus", "info").refusal()


def test_doctor_finds_this_machine_well_and_a_damaged_book_not(shell, monkeypatch):
    kit.fill(shell.folder / "own.db", [kit.record(kit.product, "")])
    told = shell("doctor", "--json").good().document
    states = {one["check"]: one["state"] for one in told["checks"]}
    assert told["ok"]
    assert {states[name] for name in ("compiler", "OpenMP", "BLAS", "own book")} == {"ok"}
    shell.file("own.db", "no book")
    monkeypatch.setenv("LOOPBOOK_CXX", "no-such-compiler")
    answer = shell("doctor")
    assert answer.code == 1
    assert "LOOPBOOK_CXX names" in answer.out
    assert "not a loopbook book" in " ".join(answer.out.split())
    assert max(map(len, answer.out.splitlines())) <= 80
