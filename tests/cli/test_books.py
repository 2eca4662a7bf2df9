"""book info, verify, export, import and merge."""

from __future__ import annotations

import json

import client_kit as kit
import pytest
from cli_kit import Shell, make_shell

from loopbook.recipes.book import Book


@pytest.fixture
def shell(tmp_path, monkeypatch, capfd) -> Shell:
    shell = make_shell(tmp_path, monkeypatch, capfd)
    records = [kit.record(kit.product, kit.blocked()), kit.record(kit.stencil, "", 1.0)]
    kit.fill(tmp_path / "own.db", records)
    return shell


def test_info_is_about_the_users_book_unless_another_is_named(shell):
    told = shell("book", "info", "--json").good().document
    assert told["records"] == 2
    assert told["kernels"] == {"product": 1, "stencil": 1}
    text = shell("book", "info").good().out
    assert ["other", "1"] in [line.split() for line in text.splitlines()]
    assert "readonly  False\n" in text
    other = kit.fill(shell.folder / "other.db", [kit.record(kit.chain, "")])
    assert shell("book", "info", other, "--json").good().document["records"] == 1


def test_verify_finds_a_book_well_and_a_spoilt_record_not(shell):
    assert shell("book", "verify", "--json").good().document == {"records": 2, "faults": []}
    assert shell("book", "verify").good().out == "✓ 2 records, all well\n"

    import sqlite3

    with sqlite3.connect(shell.folder / "own.db") as connection:
        tables = [r[0] for r in connection.execute("SELECT name FROM sqlite_master")]
        assert "records" in tables
        connection.execute("UPDATE records SET recipe = '{}' WHERE kernel = 'product'")
    connection.close()
    answer = shell("book", "verify", "--json")
    assert answer.code == 1
    assert len(answer.document["faults"]) >= 1


def test_a_packed_book_holds_the_same(shell):
    out = shell.folder / "packed.db"
    assert shell("book", "pack", out).good().out == "2 records packed\n"
    assert shell("book", "verify", out, "--json").good().document["records"] == 2


def test_a_book_written_today_has_nothing_to_migrate(shell):
    own = shell.folder / "own.db"
    assert shell("book", "migrate", own, "--json").good().document == {"rewritten": 0}
    assert shell("book", "migrate", own).good().out == "0 records rewritten\n"


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz"])
def test_what_is_exported_is_imported(shell, name):
    out = shell.folder / name
    assert shell("book", "export", out).good().out == "2 records exported\n"
    new = shell.folder / "new.db"
    words = ["book", "import", out, "--book", new, "--json"]
    assert shell(*words).good().document == {"imported": 2}
    assert shell(*words).good().document == {"imported": 0}
    with Book.open(new, readonly=True) as book, Book.open(shell.folder / "own.db") as own:
        assert {r.id for r in book.records()} == {r.id for r in own.records()}
        assert book.info()["encoders"] == own.info()["encoders"]


def test_merge_adds_what_is_new(shell):
    with Book.open(shell.folder / "own.db") as own:
        known = next(own.records(kernel="product"))
    fresh = kit.record(kit.chain, "")
    other = kit.fill(shell.folder / "other.db", [known, fresh])
    third = kit.fill(shell.folder / "third.db", [fresh])
    assert shell("book", "merge", other, third, "--json").good().document == {"added": 1}
    assert shell("book", "info", "--json").good().document["records"] == 3


def test_an_import_of_a_damaged_file_adds_nothing(shell):
    out = shell.folder / "out.jsonl"
    shell("book", "export", out).good()
    lines = out.read_text().splitlines()
    spoilt = json.loads(lines[-1])
    cut = shell.file("cut.jsonl", "\n".join(lines[:-1]) + "\n" + lines[-1][:-20])
    assert isinstance(spoilt, dict)
    new = shell.folder / "new.db"
    assert "cut.jsonl" in shell("book", "import", cut, "--book", new).refusal()
    with Book.open(new) as book:
        assert len(book) == 0


def test_the_starter_book_is_not_written(shell):
    out = shell.folder / "out.jsonl"
    shell("book", "export", out).good()
    message = shell("book", "import", out, "--book", "starter").refusal()
    assert message == "the starter book is read-only; name a book of your own"
    assert "there is no book at" in shell("book", "info", shell.folder / "none.db").refusal()


def test_import_and_merge_make_the_users_book_where_there_is_none(shell):
    out = shell.folder / "out.jsonl"
    shell("book", "export", out).good()
    (shell.folder / "own.db").rename(shell.folder / "other.db")
    assert shell("book", "import", out, "--json").good().document == {"imported": 2}
    (shell.folder / "own.db").unlink()
    assert shell("book", "merge", shell.folder / "other.db").good().out == "2 records added\n"
    assert (shell.folder / "own.db").stat().st_mode & 0o777 == 0o600


def test_no_folder_is_made_for_a_file_that_is_named(shell):
    gone = shell.folder / "gone"
    message = f"the folder {gone} is missing: make it first"
    assert shell("book", "export", gone / "x").refusal() == message
    assert shell("book", "pack", gone / "x").refusal() == message
    out = shell.folder / "out.jsonl"
    shell("book", "export", out).good()
    assert shell("book", "import", out, "--book", gone / "x.db").refusal() == message
    assert not gone.exists()


def test_records_are_listed_searched_shown_and_removed(shell):
    told = shell("book", "list", "--json").good().document
    fast, slow = told["records"]
    assert (told["found"], fast["nest"], slow["nest"]) == (2, "product:0", "stencil:0")
    told = shell("book", "list", "--min-speedup", "1.5", "--json").good().document
    assert [one["id"] for one in told["records"]] == [fast["id"]]
    told = shell("book", "search", "STENCIL", "--json").good().document
    assert [one["id"] for one in told["records"]] == [slow["id"]]
    assert (
        shell("book", "list", "--limit", "1")
        .good()
        .out.endswith("1 of 2 records shown (--limit)\n")
    )
    assert shell("book", "list", "--family", "matvec").good().out == "0 records\n"
    with Book.open(shell.folder / "own.db") as book:
        book.add(kit.record(kit.chain, kit.SIMPLE, 3000.0, name="matvec.made"))
    for words, first in (([], "product"), (["--sort", "speedup"], "matvec.made")):
        told = shell("book", "list", "--json", *words).good().document
        assert told["records"][0]["kernel"] == first
    shell("book", "rm", told["records"][0]["id"], "--yes").good()
    assert "known, speedup, kernel" in shell("book", "list", "--sort", "age").refusal()

    text = shell("book", "show", fast["id"][:8]).good().out
    assert fast["id"] in text
    assert "tile L0 4" in text
    told = shell("book", "show", fast["id"], "--json").good().document
    assert "nest_json" not in told
    assert "there is no record 'zz'" in shell("book", "show", "zz").refusal()

    assert "--yes" in shell("book", "rm", fast["id"][:8], "--json").refusal()
    assert shell("book", "rm", fast["id"][:8], "--yes").good().out == "1 record removed\n"
    assert shell("book", "info", "--json").good().document["records"] == 1
    assert "read-only" in shell("book", "rm", "a", "--yes", "--book", "starter").refusal()


def test_an_id_is_looked_for_in_every_book_though_one_has_its_letters_elsewhere(shell, monkeypatch):
    wanted = kit.record(kit.chain, "")
    kit.fill(shell.folder / "shipped.book", [wanted])
    monkeypatch.setenv("LOOPBOOK_STARTER", str(shell.folder / "shipped.book"))
    with Book.open(shell.folder / "own.db") as own:
        own.add(kit.record(kit.product, "", name=wanted.id[:8]))
    told = shell("book", "show", wanted.id[:8], "--json").good().document
    assert told["id"] == wanted.id
