"""queue list, show, raise and drop."""

from __future__ import annotations

import sqlite3

import pytest
from cli_kit import Shell, make_shell
from queue_kit import ABLE, KEY, ask

from loopbook.recipes.book import Book
from loopbook.recipes.tasks import CONFIRM


@pytest.fixture
def shell(tmp_path, monkeypatch, capfd) -> Shell:
    return make_shell(tmp_path, monkeypatch, capfd)


@pytest.fixture
def tasks(shell) -> list[str]:
    """Of a nest that is wanted much, one that is wanted little, and a record to confirm."""
    with Book.open(shell.folder / "own.db") as book:
        asks = [ask(0, count=9, cost_s=1.0, sizes={"N": 7}), ask(1), ask(2, CONFIRM)]
        return [one.task for one in book.queue.ask_all(asks)]


def test_list_is_ordered_by_what_is_wanted(shell, tasks):
    told = shell("queue", "list", "--json").good().document
    assert told["counts"] == {"waiting": 3, "leased": 0, "done": 0, "dead": 0}
    assert told["damaged"] == 0
    assert told["tasks"][0]["id"] == tasks[0]
    assert (told["tasks"][0]["asked"], told["tasks"][0]["worth_s"]) == (9, pytest.approx(4.5, 0.01))
    lines = shell("queue", "list").good().out.splitlines()
    assert lines[0].startswith(f"{tasks[0]} waiting asked 9 times, worth 4.5 s")
    assert lines[1] == f"    tune sequential {KEY}"
    assert lines[-1] == "3 waiting, 0 leased, 0 done, 0 dead"
    told = shell("queue", "list", "--kind", "confirm", "--json").good().document
    assert [one["id"] for one in told["tasks"]] == [tasks[2]]
    told = shell("queue", "list", "--limit", "1", "--json").good().document
    assert len(told["tasks"]) == 1
    told = shell("queue", "list", "--state", "dead", "--json").good().document
    assert told["tasks"] == []


def test_show_tells_all_of_a_task(shell, tasks):
    told = shell("queue", "show", tasks[0], "--json").good().document
    assert told["fingerprint"] == "nest0"
    assert told["sizes"] == [{"N": 7}]
    assert told["created"].endswith("+00:00")
    assert "nest" not in told
    told = shell("queue", "show", tasks[0], "--nest", "--json").good().document
    assert told["nest"] == '{"nest": 0}'
    assert "fingerprint   nest0\n" in shell("queue", "show", tasks[0]).good().out


def test_raise_and_drop(shell, tasks):
    assert shell("queue", "raise", tasks[1], "--json").good().document == {"raised": [tasks[1]]}
    assert shell("queue", "raise", tasks[2]).good().out == "1 task raised\n"
    told = shell("queue", "list", "--json").good().document
    assert [one["id"] for one in told["tasks"]] == [tasks[2], tasks[1], tasks[0]]
    assert shell("queue", "drop", *tasks[:2]).good().out == "2 tasks dropped\n"
    assert shell("queue", "drop", tasks[2], "--json").good().document == {"dropped": [tasks[2]]}
    assert shell("queue", "list").good().out.startswith("Nothing is queued.")


def test_the_dead_are_listed_with_their_error_and_raised(shell, tasks):
    with Book.open(shell.folder / "own.db") as book:
        lease = book.queue.lease("a", ABLE, 60)
        assert lease is not None
        book.queue.fail(lease, "crashed\x1b[2J", for_good=True)
    line = shell("queue", "list", "--state", "dead").good().out.splitlines()[2]
    assert line.endswith(r"crashed\x1b[2J")
    shell("queue", "raise", lease.task.id).good()
    told = shell("queue", "show", lease.task.id, "--json").good().document
    assert (told["state"], told["attempts"]) == ("waiting", 0)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["show", "none"], "there is no task none"),
        (["show", "a\nb\x1b"], r"there is no task a b\x1b"),
        (["raise", "none"], "there is no task none"),
        (["drop", "none"], "there is no task none"),
        (["list", "--state", "odd"], "there is no state 'odd'; take waiting, leased, done, dead"),
        (["list", "--kind", "odd"], "there is no kind 'odd'; take tune, confirm, remeasure"),
        (["list", "--limit", "0"], ""),
        (["show"], ""),
        (["list", "--store", "/none/book.db"], "there is no book at /none/book.db"),
        (["drop", "any", "--store", "/none/book.db"], "there is no book at /none/book.db"),
        (["list", "--store", "odd://host/name"], "book URL can't be used"),
    ],
)
def test_mistakes_are_one_line(shell, tasks, words, message):
    assert shell("queue", *words).refusal().startswith(message)


def test_whoever_has_no_book_yet_has_nothing_queued_and_none_is_made(shell):
    assert shell("queue", "list").good().out.startswith("Nothing is queued.")
    assert shell("queue", "list", "--json").good().document["tasks"] == []
    assert "loopbook farm start" in shell("farm", "status").good().out
    assert shell("farm", "status", "--json").good().document["counts"]["waiting"] == 0
    assert "no tokens" in shell("token", "list").good().out
    assert shell("quarantine", "list").good().out == "no record waits\n"
    assert shell("queue", "show", "any").refusal().startswith("there is no book at ")
    assert not (shell.folder / "own.db").exists()


def test_damage_is_told(shell, tasks):
    with sqlite3.connect(shell.folder / "own.db") as connection:
        connection.execute("UPDATE tasks SET sizes = '{' WHERE id = ?", [tasks[0]])
    connection.close()
    answer = shell("queue", "list", "--json")
    assert answer.code == 1
    assert answer.document["damaged"] == 1
    assert len(answer.document["tasks"]) == 2
    assert shell("queue", "list").out.endswith("✗ 1 tasks are damaged\n")
    assert "is damaged" in shell("queue", "show", tasks[0]).refusal()
