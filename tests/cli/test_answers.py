"""What ``--json`` prints: one document a command, of a type that the command declares.

Whatever test runs a command with ``--json`` checks its document against the schema (`cli_kit`);
here are the commands that no other test runs so, and what the schemas say.
"""

from __future__ import annotations

import json
from typing import Any

import client_kit as kit
import pytest
import typer
from cli_kit import PRODUCT, Shell, make_shell, validator
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from queue_kit import ask

from loopbook.cli import answers, evaluating, training
from loopbook.cli.answers import Answer, schema_of
from loopbook.cli.app import app
from loopbook.cli.schemas import commands
from loopbook.recipes.book import Book

WITHOUT = {"serve", "demo-server", "farm start", "farm dispatch"}
"""Commands that run until they are stopped, and print no answer."""


@pytest.fixture
def shell(tmp_path, monkeypatch, capfd) -> Shell:
    return make_shell(tmp_path, monkeypatch, capfd)


def all_commands() -> dict[str, Any]:
    found: dict[str, Any] = {}
    todo: list[tuple[str, Any]] = [("", typer.main.get_command(app))]
    while todo:
        name, one = todo.pop()
        parts = getattr(one, "commands", {})
        if not parts:
            found[name] = one
        todo += [(f"{name} {part}".strip(), each) for part, each in parts.items()]
    return found


def test_every_command_that_answers_has_json_and_a_schema():
    assert all_commands().keys() - commands().keys() == WITHOUT
    for name, command in commands().items():
        schema = schema_of(command, name)
        Draft202012Validator.check_schema(schema)
        for part in schema.get("$defs", {}).values():
            assert part["description"], name


def test_a_schema_says_what_the_class_says(shell):
    told = json.loads(shell("schema", "bench").good().out)
    nest = told["$defs"]["Nest"]["properties"]
    assert nest["recipe"]["description"].startswith("its steps, a line each")
    explained = json.loads(shell("schema", "explain").good().out)["$defs"]["Explained"]
    assert explained["properties"]["tier"]["description"].startswith("exact, near")
    assert explained["properties"]["choices"]["description"].startswith("recipes that 'bench'")
    assert shell("schema", "bench", "--json").good().document == told


def test_schemas_are_listed(shell):
    out = shell("schema").good().out
    assert len(out.splitlines()) <= 60
    assert max(map(len, out.splitlines())) <= 80
    assert shell("schema", "--json").good().document.keys() == commands().keys()
    assert "lists those" in shell("schema", "serve").refusal()


def test_what_a_schema_does_not_allow_is_neither_printed_nor_valid(capfd):
    class Size(Answer):
        """Of something."""

        bytes: int

    with pytest.raises(answers.msgspec.ValidationError):
        answers.write(Size, {"bytes": 1, "bits": 8})
    assert capfd.readouterr().out == ""
    with pytest.raises(ValidationError):
        validator("book verify").validate({"records": "2", "faults": []})


def test_a_list_is_one_document_also_of_what_a_stopped_command_has_found(capfd):
    def printed(count: int, *, stopped: bool, alone: bool = False) -> str:
        try:
            with answers.listed(int, True, alone=alone) as found:
                found += range(count)
                if stopped:
                    raise KeyboardInterrupt
        except KeyboardInterrupt:
            pass
        return capfd.readouterr().out

    assert printed(2, stopped=True) == printed(2, stopped=False) == "[0, 1]\n"
    assert (printed(0, stopped=True), printed(0, stopped=False)) == ("", "[]\n")
    assert (printed(1, stopped=False, alone=True), printed(0, stopped=True, alone=True)) == (
        "0\n",
        "",
    )


def test_commands_that_take_no_time(shell):
    """`Shell` checks their documents."""
    first, second = kit.record(kit.product, kit.blocked()), kit.record(kit.stencil, "")
    kit.fill(shell.folder / "own.db", [first, second])
    with Book.open(shell.folder / "own.db") as book:
        tasks = [one.task for one in book.queue.ask_all([ask(0), ask(1)])]
    workload = shell.file("mine.py", PRODUCT)
    out = shell.folder / "out.jsonl"
    for words in (
        ("book", "info"),
        ("book", "list"),
        ("book", "search", "product"),
        ("book", "show", first.id, "--nest"),
        ("book", "verify"),
        ("book", "export", out),
        ("book", "import", out),
        ("book", "merge", shell.folder / "own.db", "--book", shell.folder / "new.db"),
        ("book", "migrate"),
        ("book", "pack", shell.folder / "packed.db"),
        ("book", "rm", second.id, "--yes"),
        ("queue", "list"),
        ("queue", "show", tasks[0], "--nest"),
        ("queue", "raise", tasks[0]),
        ("queue", "drop", tasks[1]),
        ("farm", "status"),
        ("farm", "stop"),
        ("field", "show", first.id),
        ("field", "forget", first.id),
        ("token", "create", "me"),
        ("token", "list"),
        ("token", "revoke", "me"),
        ("quarantine", "list"),
        ("hardware", "--no-measured"),
        ("steps",),
        ("nearest", workload),
        ("optimize", workload),
        ("explain", workload),
        ("explain", workload, "--lowered"),
    ):
        assert shell(*words, "--json").good().document is not None, words


@pytest.mark.apart
def test_training_and_evaluation(tmp_path):
    """They take too long to be run: with figures of runs that never were. In a process of its own,
    since torch is imported."""
    from loopbook.embed.evaluation import Quality
    from loopbook.embed.train import TrainingReport
    from loopbook.learn.boosting import Calibration
    from loopbook.learn.cost_model import CostModelReport
    from loopbook.learn.train import Report

    quality = Quality(0.9, 0.8, 0.7, 0.6, 100)
    encoder = TrainingReport(tmp_path / "e.npz", "v1", [0.5], 10, 5, quality)
    calibration = Calibration(4, 0.5, 0.25, float("nan"), 0.9, {"sequential": 0.1})
    model = CostModelReport(tmp_path / "c.npz", "v2", 7, 3, calibration)
    told = training.told_of(Report(encoder, model))
    validator("train").validate(json.loads(answers.document(training.Trained, told)))
    rules = ["kernel", "family", "polybench", "hardware"]
    told = {"preset": "S", "targets": ["sequential"]}
    told |= evaluating._judged([], rules, ["ours"], [1, 5])
    validator("evaluate").validate(json.loads(answers.document(evaluating.Evaluated, told)))
