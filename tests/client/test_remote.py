"""The remote half of the client, against a real server and against one that misbehaves."""

from __future__ import annotations

import asyncio
import http.server
import json
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import TypeVar, cast

import pytest
from cli_kit import make_shell
from client_kit import SIMPLE, blocked, encoder, fill, nests_of, product, record, stencil, text_of
from server_kit import Served, token

import loopbook
from loopbook.client.layered import LayeredBook
from loopbook.client.opening import open_book
from loopbook.client.plan import make_plan
from loopbook.client.remote import layer
from loopbook.client.remote.cache import AnswerCache
from loopbook.client.remote.flows import Item, Policy
from loopbook.client.remote.layer import RemoteBook
from loopbook.client.remote.transfer import pull, push
from loopbook.errors import AccessError, InputError, OfflineError, RemoteError
from loopbook.recipes import Book

QUICK = Policy(timeout=20.0, attempts=3, first_wait=0.01, longest_wait=0.02)
T = TypeVar("T")
NOWHERE = "http://127.0.0.1:9"


pytest_plugins = ["server_fixtures"]


@pytest.fixture(scope="module")
def client(server: Served, store: str) -> Iterator[loopbook.Client]:
    with loopbook.Client(server.url, token(store)) as one:
        yield one


def query():
    return encoder().encode(nests_of(product)[0])


def test_nearest_exact_and_export_are_those_of_the_book(client, store):
    with Book.open(store, readonly=True) as book:
        near = book.nearest(query(), 3, target="sequential")
        found = client.nearest(query(), 3)
        assert [one.record for one in found] == [one.record for one in near]
        assert [one.embedding for one in found] == [one.embedding for one in near]
        (known,) = client.exact(near[0].record.fingerprint)
        assert known == near[0].record
        assert client.exact("unknown") == []
        assert [one for one, _ in client.export()] == list(book.records())


def test_the_asynchronous_client_says_the_same(client, server, store):
    async def ask():
        async with loopbook.AsyncClient(server.url, token(store, "lookup", "contribute")) as one:
            near = await one.nearest(query(), 2)
            exact = await one.exact(near[0].record.fingerprint)
            export = [item async for item in one.export()]
            status = await one.contribute(record(stencil, "", 2.0))
            return near, exact, export, status, await one.info()

    near, exact, export, status, info = asyncio.run(ask())
    assert [one.record for one in near] == [one.record for one in client.nearest(query(), 2)]
    assert exact == [near[0].record]
    assert export == list(client.export())
    assert status == "quarantine"
    assert info["records"] == 2


def test_a_server_is_as_good_as_a_book_at_hand(server, tmp_path, store):
    client = loopbook.Client(server.url, token(store))
    with (
        LayeredBook([cast("Book", RemoteBook(client, AnswerCache(tmp_path)))]) as far,
        open_book(store, starter=False) as near,
    ):
        here = make_plan(text_of(product), "sequential", near)
        there = make_plan(text_of(product), "sequential", far)
        assert there.recipes == here.recipes
        assert there.nests[0].tier == "exact"


def test_offline_it_says_so_once_and_goes_on(tmp_path, client, capfd, monkeypatch):
    cache = AnswerCache(tmp_path)
    book = RemoteBook(client, cache)
    fingerprint = nests_of(product)[0].fingerprint
    (known,) = book.exact(fingerprint, "sequential")
    away = RemoteBook(loopbook.Client(NOWHERE, policy=QUICK), cache)
    assert away.exact(fingerprint, "sequential") == []
    assert away.nearest(query()) == []
    words = capfd.readouterr().err
    assert words.count("\n") == 1
    assert "cannot be reached" in words
    # What the server once said is used, however old.
    monkeypatch.setattr(layer, "FRESH_S", 0.0)
    gone = loopbook.Client(NOWHERE, policy=QUICK)
    gone.url = client.url
    book = RemoteBook(gone, cache)
    assert book.exact(fingerprint, "sequential") == [known]
    assert capfd.readouterr().err.count("\n") == 1
    assert book.exact(fingerprint, "sequential") == [known]
    assert capfd.readouterr().err == ""


def test_layers_are_own_downloaded_starter_and_server(tmp_path, monkeypatch, server, store):
    own, downloaded = tmp_path / "own.db", tmp_path / "downloaded.db"
    starter = fill(tmp_path / "starter.db", [])
    for path in (own, downloaded):
        fill(path, [])
    monkeypatch.setenv("LOOPBOOK_BOOK", str(own))
    monkeypatch.setenv("LOOPBOOK_STARTER", str(starter))
    monkeypatch.setenv("LOOPBOOK_SERVER", server.url)
    monkeypatch.setenv("LOOPBOOK_TOKEN", token(store))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with loopbook.open() as layered:
        assert [book.name for book in layered.layers] == [
            *map(str, (own, downloaded, starter)),
            server.url,
        ]
        assert layered.nearest(text_of(product), 1)[0][0].record.nest == "product:0"
    with loopbook.open(own) as layered:
        assert [book.name for book in layered.layers] == [str(own), str(starter)]


def test_a_wrong_token_and_a_missing_server_are_clear(server):
    with pytest.raises(AccessError, match="the token is not good"):
        loopbook.Client(server.url, "wrong", policy=QUICK).info()
    with pytest.raises(OfflineError, match="cannot be reached"):
        loopbook.Client(NOWHERE, "token", policy=QUICK).info()
    for bad in ("", "ftp://somewhere", "no address", "http://"):
        with pytest.raises(InputError):
            loopbook.Client(bad)
    with pytest.raises(InputError, match="token"):
        loopbook.Client(NOWHERE, "a\nb")


Answer = tuple[int, bytes, float]


class Quiet(http.server.ThreadingHTTPServer):
    """Says nothing of clients that lose patience and hang up: other tests read what is printed."""

    def handle_error(self, *_: object) -> None:
        pass


class Moody:
    """A server that gives answers in turn, the last for ever: status, body, and seconds to wait; or
    of how many bytes at the end to cheat."""

    def __init__(self, *answers: Answer) -> None:
        self.asked: list[tuple[str, float]] = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                number = min(len(outer.asked), len(answers) - 1)
                outer.asked.append((self.path, time.monotonic()))
                status, body, wait = answers[number]
                time.sleep(max(wait, 0))
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body if wait >= 0 else body[: int(wait)])

            def log_message(self, *_: object) -> None:
                pass

        self._server = Quiet(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def moody() -> Iterator[Callable[..., Moody]]:
    made: list[Moody] = []

    def make(*answers: Answer) -> Moody:
        made.append(Moody(*answers))
        return made[-1]

    yield make
    for one in made:
        one.close()


async def awaited(server: Moody, ask: Callable[[loopbook.AsyncClient], Awaitable[T]]) -> T:
    """What the asynchronous client gets."""
    async with loopbook.AsyncClient(server.url, policy=QUICK) as client:
        return await ask(client)


def test_it_asks_again_when_that_may_help(moody):
    server = moody((503, b"{}", 0), (500, b"", 0), (200, b'{"records": 7}', 0))
    assert loopbook.Client(server.url, policy=QUICK).info() == {"records": 7}
    assert len(server.asked) == 3
    again = moody((503, b"{}", 0), (500, b"", 0), (200, b'{"records": 7}', 0))
    assert asyncio.run(awaited(again, lambda one: one.info())) == {"records": 7}
    assert len(again.asked) == 3
    stubborn = moody((503, b'{"error": "busy"}', 0))
    with pytest.raises(OfflineError, match=r"cannot answer now \(503\): busy"):
        loopbook.Client(stubborn.url, policy=QUICK).info()
    assert len(stubborn.asked) == QUICK.attempts
    with pytest.raises(OfflineError, match="busy"):
        asyncio.run(awaited(stubborn, lambda one: one.info()))
    assert len(stubborn.asked) == 2 * QUICK.attempts


def test_it_does_not_ask_again_when_that_cannot_help(moody):
    server = moody((404, b'{"error": "there is no such record"}', 0))
    with pytest.raises(RemoteError, match="there is no such record"):
        loopbook.Client(server.url, policy=QUICK).info()
    assert len(server.asked) == 1


def test_a_server_that_does_not_answer_is_given_up(moody):
    server = moody((200, b"{}", 60.0))
    begun = time.monotonic()
    with pytest.raises(OfflineError, match="does not answer in time"):
        loopbook.Client(server.url, policy=Policy(0.2, 2, 0.01)).info()
    assert time.monotonic() - begun < 30.0


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{", b'{"records": [{}]}', b'{"records": 3}', b"[" * 100_000, b"\xff"]
)
def test_answers_that_make_no_sense_are_remote_errors(moody, body):
    client = loopbook.Client(moody((200, body, 0)).url, policy=QUICK)
    with pytest.raises(RemoteError):
        client.exact("nest")
    with pytest.raises(RemoteError):
        list(client.export())


def test_an_export_that_breaks_off_is_taken_up_again(client, moody, store):
    items = list(client.export())
    header, *lines = (
        json.dumps(line).encode() + b"\n"
        for line in (
            {"loopbook": "book", "version": 1},
            *({"record": one.to_json(), "embeddings": []} for one, _ in items),
        )
    )
    cut = header + lines[0] + lines[1]
    rest = header + b"".join(lines[1:])

    async def listed(client: loopbook.AsyncClient) -> list[Item]:
        return [item async for item in client.export()]

    for awaits in (False, True):
        server = moody((200, cut, -10), (503, b"", 0), (200, rest, 0))
        if awaits:
            found = asyncio.run(awaited(server, listed))
        else:
            found = list(loopbook.Client(server.url, policy=QUICK).export())
        assert [one for one, _ in found] == [one for one, _ in items]
        assert server.asked[1][0] == f"/v1/export?after={items[0][0].id}"


def test_pull_goes_on_where_it_was_and_push_gives_what_is_new(tmp_path, server, store):
    notes = tmp_path / "notes.json"
    with Book.open(tmp_path / "mine.db") as book, loopbook.Client(server.url, token(store)) as one:
        done = pull(one, book, notes)
        assert (done.received, done.new) == (len(book), len(book))
        assert len(book) >= 2
        assert pull(one, book, notes).unchanged
        # A pull that was cut off behind the first record asks for the rest only.
        stamp = one.info()["stamp"]
        first = next(book.records()).id
        notes.write_text(json.dumps({one.url: {"stamp": stamp, "after": first}}))
        assert pull(one, book, notes).received == len(book) - 1
        book.add(record(product, SIMPLE, 5.0))
        book.add(record(product, "unroll L0\n", 5.0))
    giver = loopbook.Client(server.url, token(store, "contribute"))
    with Book.open(tmp_path / "mine.db") as book:
        given = push(giver, book, tmp_path / "given.json")
        assert given.given == 2  # one of them is there already
        assert [words for _, words in given.refused if "does not replay" in words]
        with pytest.raises(AccessError):
            push(loopbook.Client(server.url, token(store)), book, tmp_path / "other.json")


def test_pull_and_push_by_command(tmp_path, monkeypatch, capfd, server, store):
    shell = make_shell(tmp_path, monkeypatch, capfd)
    monkeypatch.setenv("LOOPBOOK_TOKEN", token(store, "lookup", "contribute"))
    told = shell("book", "pull", "--server", server.url, "--json").good().document
    assert told["new"] >= 2
    assert (Path(tmp_path) / "downloaded.db").exists()
    answer = shell("book", "pull", "--server", server.url).good()
    assert answer.out == "nothing has changed\n"
    fill(tmp_path / "own.db", [record(product, blocked())])
    told = shell("book", "push", "--server", server.url, "--json").good().document
    assert told == {"given": 1, "refused": {}}
    assert "no server is named" in shell("book", "pull").refusal()
    assert "cannot be reached" in shell("book", "pull", "--server", NOWHERE).refusal()
