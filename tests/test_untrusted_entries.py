"""The attacks that once ran a command, through each entry: nothing runs, and one line says why.

The server's entries are in `server/test_api.py` and `server/test_docc.py`.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cli_kit import make_shell
from client_kit import encoder, layered, nests_of, product, record, text_of
from untrusted_kit import ATTACKS, attacked

from loopbook.client.incoming import check_record
from loopbook.client.reembed import nest_of
from loopbook.client.remote import calls
from loopbook.client.remote.transfer import pull
from loopbook.errors import BookError, InputError, RemoteError, SdfgError
from loopbook.recipes import Book, HardwareProfile, Measurement, Record
from loopbook.tuner.reconfirmation import verdict_of


@pytest.fixture
def shell(tmp_path, monkeypatch, capfd):
    return make_shell(tmp_path, monkeypatch, capfd)


@pytest.fixture
def mark(tmp_path) -> Path:
    return tmp_path / "mark"


def hostile(attack: str, mark: Path) -> Record:
    """A record that says to gain much, whose nest runs a command."""
    honest = record(product, "parallel L0\n")
    told = (Measurement(1e-2, 1e-3, 0.01, 5, {}, {"L0": 160}),)
    text = attacked(honest.nest_json, attack, f"touch {mark}")
    return replace(honest, nest_json=text, measurements=told)


def book_of(path: Path, one: Record) -> Path:
    with Book.open(path) as book:
        book.add(one, encoder().encode(nests_of(product)[0]))
    return path


@pytest.mark.parametrize("attack", ATTACKS)
def test_measuring_a_record_runs_nothing_of_it(attack, mark):
    verdict = verdict_of(hostile(attack, mark), HardwareProfile(isa="avx2", vector_bits=256))
    assert verdict.status == "unmeasured"
    assert verdict.message.startswith("this SDFG is not accepted: in ")
    assert not mark.exists()


@pytest.mark.parametrize("attack", ATTACKS)
def test_records_are_looked_at_before_they_are_imported_or_merged(attack, shell, mark, tmp_path):
    book = book_of(tmp_path / "theirs.db", hostile(attack, mark))
    lines = tmp_path / "lines.json"
    assert shell("book", "export", lines, "--book", book).good()
    own = tmp_path / "own.db"
    said = shell("book", "import", lines, "--book", own).refusal()
    assert "line 2: record" in said
    assert "this SDFG is not accepted: in " in said
    assert "is not accepted" in shell("book", "merge", book, "--book", own).refusal()
    with Book.open(own) as opened:
        assert len(opened) == 0


def test_an_honest_record_is_imported(shell, tmp_path):
    book = book_of(tmp_path / "theirs.db", record(product, "parallel L0\n"))
    shell("book", "export", tmp_path / "lines.json", "--book", book).good()
    own = tmp_path / "own.db"
    shell("book", "import", tmp_path / "lines.json", "--book", own).good()
    shell("book", "merge", book, "--book", own).good()
    with Book.open(own) as opened:
        assert len(opened) == 1


class Served:
    """What `pull` needs of a client, for records that are here."""

    url = "http://127.0.0.1:1"

    def __init__(self, *records: Record) -> None:
        self._records = records

    def info(self) -> dict[str, Any]:
        return {"stamp": "a", "own": len(self._records)}

    def export(self, after: str) -> Any:
        return ((one, []) for one in self._records)


def test_what_a_server_gives_is_looked_at(mark, tmp_path):
    honest = record(product, "parallel L0\n")
    client: Any = Served(*(hostile(attack, mark) for attack in ATTACKS), honest)
    with Book.open(tmp_path / "own.db") as book:
        done = pull(client, book, tmp_path / "notes.json")
        assert (done.received, done.new, done.refused) == (5, 1, 4)
        assert [one.id for one in book.records()] == [honest.id]


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_servers_answer_with_such_a_record_is_none(attack, mark):
    one = hostile(attack, mark)
    asked = encoder().encode(nests_of(product)[0])
    near = {"content": one.to_json(), "embedding": asked.to_json(), "distance": 0.0}
    told = {"neighbours": [near | {"hardware_distance": 0.0}], "records": [one.to_json()]}
    with pytest.raises(RemoteError, match="is not accepted"):
        calls.neighbours_of(told, asked, one.target, "http://server")
    with pytest.raises(RemoteError, match="is not accepted"):
        calls.records_of(told, one.fingerprint, one.target, "http://server")


def test_a_program_given_as_text_is_looked_at(tmp_path):
    with layered(tmp_path, record(product, "parallel L0\n")) as opened:
        assert opened.nearest(text_of(product))
        with pytest.raises(SdfgError, match="is not accepted"):
            opened.nearest(attacked(text_of(product), "name", "true"))


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_nest_in_a_book_is_looked_at_when_it_is_read(attack, mark):
    one = hostile(attack, mark)
    with pytest.raises(BookError, match="is damaged: this SDFG is not accepted"):
        nest_of(one.nest_json, "somebody's book")
    with pytest.raises(InputError, match="is not accepted"):
        check_record(one)


@pytest.mark.parametrize("command", ["nearest", "explain", "optimize", "tune"])
def test_an_sdfg_file_is_looked_at(shell, command, mark, tmp_path):
    for attack in ATTACKS:
        file = tmp_path / f"{attack}.json"
        file.write_text(attacked(text_of(product), attack, f"touch {mark}"))
        assert shell(command, file).refusal().startswith("this SDFG is not accepted: in ")
    assert not mark.exists()


def test_an_expression_that_would_grow_is_refused_at_once(shell, tmp_path):
    for evil in ("(_s0+_s1+_s2+1)**60", "10**1000000000"):
        document = json.loads(text_of(product))
        loop = next(one for one in document["root"]["children"] if one["type"] == "for")
        loop["init"] = evil
        file = tmp_path / "grows.json"
        file.write_text(json.dumps(document))
        assert "a power" in shell("nearest", file).refusal()


def test_a_file_is_told_of_in_its_own_names(shell, tmp_path):
    file = tmp_path / "given.json"
    file.write_text(text_of(product))
    out = tmp_path / "out.json"
    told = shell("nearest", file, "--json").good().document
    assert told["nests"][0]["loops"] == ["i", "j", "k"]
    shell("optimize", file, "--out", out, "--size", "_s0=300").good()
    before, after = json.loads(text_of(product)), json.loads(out.read_text())
    assert after["name"] == before["name"]
    assert after["arguments"] == before["arguments"]
    assert set(before["arguments"]) <= set(after["containers"])
