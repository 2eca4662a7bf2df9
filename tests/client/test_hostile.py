"""The remote client against servers that mean it harm: whatever they send, and however slowly, a
call ends in time, within its memory, and with a LoopbookError."""

from __future__ import annotations

import asyncio
import gzip
import json
import math
import os
import resource
import socket
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

import pytest
from cli_kit import make_shell
from client_kit import blocked, encoder, nests_of, product, record
from hypothesis import given, settings
from hypothesis import strategies as st
from recipes_samples import damaged, json_values

import loopbook
from loopbook.client.remote import cache
from loopbook.client.remote.answer import MAX_ANSWER
from loopbook.client.remote.cache import AnswerCache
from loopbook.client.remote.calls import headers_for
from loopbook.client.remote.flows import Policy
from loopbook.client.remote.layer import RemoteBook
from loopbook.client.remote.transfer import pull
from loopbook.errors import AccessError, InputError, LoopbookError, OfflineError, RemoteError
from loopbook.recipes import Book

ONCE = Policy(timeout=60.0, attempts=1, first_wait=0.0, deadline=120.0)
SHORT = Policy(timeout=30.0, attempts=3, first_wait=0.01, deadline=0.6, whole=1.2)

Talk = Callable[[socket.socket], None]


class Raw:
    """A server that does with each connection whatever `talk` says, and keeps what it was sent."""

    def __init__(self, talk: Talk) -> None:
        self.talk = talk
        self.asked: list[bytes] = []
        self.over = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            self.asked.append(connection.recv(1 << 16))
            self.talk(connection)

    def dripping(self, start: bytes, drop: bytes = b" ") -> Talk:
        """Sends a byte now and then, for as long as anybody listens."""

        def talk(connection: socket.socket) -> None:
            connection.sendall(start)
            while not self.over.wait(0.05):
                connection.sendall(drop)

        return talk

    def close(self) -> None:
        self.over.set()
        self._listener.close()


@pytest.fixture
def raw() -> Iterator[Callable[[Talk], Raw]]:
    made: list[Raw] = []

    def make(talk: Talk) -> Raw:
        made.append(Raw(talk))
        return made[-1]

    yield make
    for one in made:
        one.close()


def whole(body: bytes, status: int = 200, *headers: str) -> bytes:
    head = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join([*head, "", ""]).encode("latin-1") + body


def saying(body: bytes, status: int = 200, *headers: str) -> Talk:
    return lambda connection: connection.sendall(whole(body, status, *headers))


@lru_cache(maxsize=1)
def query():
    return encoder().encode(nests_of(product)[0])


def calls(client: loopbook.Client) -> list[Callable[[], object]]:
    """Every call that a client has."""
    return [
        client.info,
        lambda: client.nearest(query(), 3),
        lambda: client.exact("nest"),
        lambda: client.contribute(record(product, blocked())),
        lambda: list(client.export()),
    ]


async def awaited(url: str, policy: Policy) -> list[BaseException]:
    """What every call of the asynchronous client raises."""
    async with loopbook.AsyncClient(url, policy=policy) as client:

        async def listed() -> None:
            async for _ in client.export():
                pass

        asked = (
            client.info(),
            client.nearest(query(), 3),
            client.exact("nest"),
            client.contribute(record(product, blocked())),
            listed(),
        )
        told = await asyncio.gather(*asked, return_exceptions=True)
        return [one for one in told if isinstance(one, BaseException)]


SLOW = [
    pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n", b" ", id="body"),
    pytest.param(b"HTTP/1.1 200 OK\r\nX-Header: ", b"x", id="headers"),
    pytest.param(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"0", id="chunk size"),
    pytest.param(b"", b"", id="nothing"),
    pytest.param(b"HTTP/1.1 503 X\r\nContent-Length: 10000\r\n\r\n", b" ", id="refusal"),
]


@pytest.mark.parametrize(("start", "drop"), SLOW)
def test_a_server_that_sends_a_byte_now_and_then_is_left_in_time(raw, start, drop):
    server = raw(lambda _: None)
    server.talk = server.dripping(start, drop)
    with loopbook.Client(server.url, policy=SHORT) as client:
        begun = time.monotonic()
        asked = calls(client)
        for call in (asked[0], asked[-1]):
            with pytest.raises(OfflineError, match="does not answer in time"):
                call()
    errors = asyncio.run(awaited(server.url, SHORT))
    assert [type(one) for one in errors] == [OfflineError] * 5
    # Three deadlines of 0.6 s; a hang would be for ever.
    assert time.monotonic() - begun < 30.0


def test_a_server_that_does_not_read_is_left_in_time(raw):
    server = raw(lambda _: None)
    server.talk = lambda _: server.over.wait(600) and None
    big = record(product, blocked())
    object.__setattr__(big, "nest_json", "x" * (8 << 20))
    with (
        loopbook.Client(server.url, policy=SHORT) as client,
        pytest.raises(OfflineError, match="does not answer in time"),
    ):
        client.contribute(big)


def test_an_export_that_never_ends_is_left_in_time(raw):
    """Each record is quick, so that only the limit on all of them together ends it."""
    entry = {"record": record(product, blocked()).to_json(), "embeddings": []}
    lines = [{"loopbook": "book", "version": 1}, entry]
    text = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    start = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + text

    server = raw(lambda _: None)
    server.talk = server.dripping(start, json.dumps(entry).encode() + b"\n")
    with (
        loopbook.Client(server.url, policy=SHORT) as client,
        pytest.raises(OfflineError, match="does not answer in time"),
    ):
        for _ in client.export():
            pass


def bomb(size: int = 1 << 28) -> bytes:
    pack = zlib.compressobj(1, wbits=31)
    zeros = bytes(1 << 24)
    return b"".join(pack.compress(zeros) for _ in range(size >> 24)) + pack.flush()


def test_what_unpacks_to_gigabytes_is_given_up_within_memory(raw):
    body = bomb()
    server = raw(saying(body, 200, "Content-Encoding: gzip"))
    refused = raw(saying(body, 418, "Content-Encoding: gzip"))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for one in (server, refused):
        with loopbook.Client(one.url, policy=ONCE) as client:
            with pytest.raises(RemoteError, match="sends more than"):
                client.info()
            with pytest.raises(RemoteError):
                list(client.export())
    with pytest.raises(RemoteError):
        asyncio.run(asking_info(server.url))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown << 10 < 5 * MAX_ANSWER


async def asking_info(url: str) -> None:
    async with loopbook.AsyncClient(url, policy=ONCE) as client:
        await client.info()


@pytest.mark.parametrize("packing", ["deflate", "br", "zstd", "gzip, gzip", "x-gzip"])
def test_other_packings_are_not_undone(raw, packing):
    deflated = zlib.compress(gzip.compress(b"{}"))
    server = raw(saying(deflated, 200, f"Content-Encoding: {packing}"))
    with loopbook.Client(server.url, policy=ONCE) as client:
        with pytest.raises(RemoteError, match="not asked for"):
            client.info()
        with pytest.raises(RemoteError, match="not asked for"):
            list(client.export())


def test_packed_answers_are_read(raw):
    server = raw(saying(gzip.compress(b'{"records": 3}'), 200, "Content-Encoding: gzip"))
    with loopbook.Client(server.url, policy=ONCE) as client:
        assert client.info() == {"records": 3}
    server.talk = saying(gzip.compress(b'{"records": 3}')[:-4], 200, "Content-Encoding: gzip")
    with (
        loopbook.Client(server.url, policy=ONCE) as client,
        pytest.raises(RemoteError, match="cut short"),
    ):
        client.info()


def test_a_short_text_of_many_values_is_not_read(raw):
    server = raw(saying(b'{"records": [' + b"[]," * 3_000_000 + b"1]}"))
    with (
        loopbook.Client(server.url, policy=ONCE) as client,
        pytest.raises(RemoteError, match="no JSON object"),
    ):
        client.exact("nest")


def test_a_server_cannot_write_to_the_terminal(raw, tmp_path, monkeypatch, capfd):
    words = "\x1b]0;owned\x07\x1b[2J\r\u202egnp.exe\x9b31m\x7f"
    server = raw(saying(json.dumps({"error": words}).encode(), 403))
    with loopbook.Client(server.url, policy=ONCE) as client, pytest.raises(AccessError) as caught:
        client.info()
    for bad in "\x1b\x07\r\u202e\x9b\x7f":
        assert bad not in str(caught.value)
    assert "owned" in str(caught.value)
    shell = make_shell(tmp_path, monkeypatch, capfd)
    answer = shell("book", "pull", "--server", server.url)
    assert answer.code == 2
    assert not set("\x1b\x07\r\u202e\x9b\x7f") & set(answer.out + answer.err)


@pytest.mark.parametrize("own", ['"x"', "null", "[]", "1e400", "-1", "1.5", "true", "9" * 400])
def test_a_pull_from_a_server_that_miscounts_is_one_line(raw, tmp_path, monkeypatch, capfd, own):
    server = raw(saying(b'{"stamp": "a", "own": ' + own.encode() + b"}"))
    shell = make_shell(tmp_path, monkeypatch, capfd)
    answer = shell("book", "pull", "--server", server.url)
    assert answer.code == 2
    assert answer.err.count("\n") == 1
    assert "Traceback" not in answer.err


def test_each_token_goes_to_its_own_server_only(raw, monkeypatch):
    ours, other = raw(saying(b"{}")), raw(saying(b"{}"))
    monkeypatch.setenv("LOOPBOOK_SERVER", ours.url)
    monkeypatch.setenv("DOCC_ACCESS_TOKEN", "docc-secret")
    monkeypatch.setenv("RPC_SERVER", "https://elsewhere.example/docc")
    with loopbook.Client(policy=ONCE) as client:
        client.info()
    assert b"secret" not in ours.asked[-1]
    monkeypatch.setenv("LOOPBOOK_TOKEN", "our-secret")
    for url, sees in ((ours.url, True), (other.url, False)):
        with loopbook.Client(url, policy=ONCE) as client:
            client.info()
        server = ours if sees else other
        assert (b"Token our-secret" in server.asked[-1]) is sees
        assert b"docc-secret" not in server.asked[-1]
    monkeypatch.setenv("RPC_SERVER", f"{other.url}/docc")
    assert headers_for(other.url, None)["Authorization"] == "Token docc-secret"
    assert headers_for(other.url, "given")["Authorization"] == "Token given"
    # Another port, scheme or host is another server.
    assert "Authorization" not in headers_for(other.url.replace("http:", "https:"), None)
    assert "Authorization" not in headers_for("http://127.0.0.1:1", None)
    assert "Authorization" not in headers_for("http://localhost", None)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirection_takes_the_token_nowhere(raw, status):
    other = raw(saying(b"{}"))
    server = raw(saying(b"", status, f"Location: {other.url}/v1/info"))
    with (
        loopbook.Client(server.url, "secret", policy=ONCE) as client,
        pytest.raises(RemoteError, match=str(status)),
    ):
        client.info()
    assert other.asked == []


def near(**changes: object) -> dict[str, object]:
    one = record(product, blocked())
    told = {
        "content": one.to_json(),
        "embedding": query().to_json(),
        "distance": 0.5,
        "hardware_distance": 0.0,
    }
    return {"neighbours": [told | changes]}


def test_records_of_what_was_not_asked_for_are_refused(raw):
    server = raw(saying(json.dumps(near()).encode()))
    with loopbook.Client(server.url, policy=ONCE) as client:
        (found,) = client.nearest(query(), 3)
        assert found.distance == 0.5
        with pytest.raises(RemoteError, match="another target"):
            client.nearest(query(), 3, target="openmp")
        one = record(product, blocked())
        server.talk = saying(json.dumps({"records": [one.to_json()]}).encode())
        assert client.exact(one.fingerprint) == [one]
        with pytest.raises(RemoteError, match="another nest"):
            client.exact("other")
        other = query().to_json() | {"encoder": "other"}
        for bad in (near(embedding=other), near(distance=math.nan), near(distance=10**400)):
            server.talk = saying(json.dumps(bad).encode())
            with pytest.raises(RemoteError, match="damaged"):
                client.nearest(query(), 3)


EXACT = {"records": [record(product, blocked()).to_json()]}
LINE = {"record": record(product, blocked()).to_json(), "embeddings": [query().to_json()]}
HEADER = b'{"loopbook": "book", "version": 1}\n'


def as_line(value: object) -> bytes:
    return HEADER + json.dumps(value).encode() + b"\n"


bodies = st.one_of(
    st.binary(max_size=40),
    json_values.map(lambda value: json.dumps(value).encode()),
    json_values.map(lambda value: json.dumps({"records": value, "neighbours": value}).encode()),
    json_values.map(lambda value: json.dumps({"status": value, "error": value}).encode()),
    json_values.map(as_line),
    damaged(EXACT).map(lambda value: json.dumps(value).encode()),
    damaged(near()).map(lambda value: json.dumps(value).encode()),
    damaged(LINE).map(as_line),
)
packings = st.sampled_from(
    [(lambda body: body, ""), (gzip.compress, "gzip"), (lambda body: body, "gzip")]
)
odd_headers = st.sampled_from(
    [
        "X: y",
        "Location: http://[",
        "Location: //\xff\xfe",
        "Retry-After: \xb2",
        "Retry-After: " + "9" * 400,
        "Content-Type: text/html; charset=utf-99",
        "Set-Cookie: \xff=\x01; expires=never; domain=.",
        "Content-Length: 3",
        "Transfer-Encoding: chunked",
        "Content-Encoding: \xe9",
        "Bad header",
    ]
)


@pytest.fixture(scope="module")
def fuzzed() -> Iterator[Raw]:
    server = Raw(lambda _: None)
    yield server
    server.close()


@settings(max_examples=30, deadline=None)
@given(
    bodies, packings, odd_headers, st.sampled_from([200, 204, 302, 401, 404, 503, 99]), st.data()
)
def test_whatever_a_server_answers_is_an_answer_or_an_error(
    fuzzed, body, packing, header, status, data
):
    pack, name = packing
    text = whole(pack(body), status, header, *([f"Content-Encoding: {name}"] if name else []))
    if data.draw(st.booleans()):
        text = text[: data.draw(st.integers(0, len(text)))]
    if data.draw(st.integers(0, 9)) == 0:
        text = data.draw(st.binary(max_size=60))
    fuzzed.talk = lambda connection: connection.sendall(text)
    with loopbook.Client(fuzzed.url, policy=ONCE) as client:
        for call in calls(client):
            with suppress(LoopbookError):
                call()
    for error in asyncio.run(awaited(fuzzed.url, ONCE)):
        assert isinstance(error, LoopbookError), repr(error)


@settings(max_examples=15, deadline=None)
@given(json_values, json_values)
def test_whatever_a_server_says_of_itself_pull_ends_well(fuzzed, tmp_path_factory, one, other):
    folder = tmp_path_factory.mktemp("pull")
    fuzzed.talk = saying(json.dumps({"stamp": one, "own": other}).encode())
    with (
        Book.open(folder / "book.db") as book,
        loopbook.Client(fuzzed.url, policy=ONCE) as client,
        suppress(LoopbookError),
    ):
        pull(client, book, folder / "notes.json")


@pytest.mark.parametrize(
    "url",
    ["http://" + "a" * 70 + ".example", "http://127.0.0.1:1", "http://[::1]:1", "http://\u0130"],
)
def test_addresses_that_lead_nowhere_are_errors(url):
    with pytest.raises((InputError, OfflineError)), loopbook.Client(url, policy=ONCE) as client:
        client.info()


class TestCache:
    QUESTION = ("http://somewhere", "GET", "/v1/records")

    def test_files_and_folders_are_closed_to_others(self, tmp_path: Path) -> None:
        before = os.umask(0)
        try:
            AnswerCache(tmp_path / "some" / "remote").put(self.QUESTION, {"a": 1})
        finally:
            os.umask(before)
        made = [tmp_path / "some", tmp_path / "some" / "remote", *tmp_path.glob("some/remote/*")]
        assert [one.stat().st_mode & 0o777 for one in made] == [0o700, 0o700, 0o600]

    def test_a_folder_that_others_can_write_is_not_believed(self, tmp_path: Path) -> None:
        kept = AnswerCache(tmp_path / "remote")
        kept.put(self.QUESTION, {"a": 1})
        assert kept.get(self.QUESTION) is not None
        (tmp_path / "remote").chmod(0o777)
        assert kept.get(self.QUESTION) is None

    @settings(max_examples=25, deadline=None)
    @given(
        st.binary(max_size=30)
        | st.builds(
            lambda at, value: json.dumps({"at": at, "value": value}).encode(),
            json_values | st.sampled_from([math.nan, math.inf, -math.inf, 1e300, 10**400]),
            json_values | st.just({}),
        )
    )
    def test_whatever_lies_there_is_read_or_is_not_there(self, tmp_path_factory, text) -> None:
        folder = tmp_path_factory.mktemp("cache")
        kept = AnswerCache(folder / "remote")
        kept.put(self.QUESTION, {"a": 1})
        (file,) = (folder / "remote").glob("*.json")
        file.write_bytes(text)
        found = kept.get(self.QUESTION)
        assert found is None or (isinstance(found.value, dict) and found.age >= 0)

    def test_an_answer_from_the_future_is_not_fresh(self, tmp_path: Path) -> None:
        kept = AnswerCache(tmp_path)
        tmp_path.chmod(0o700)
        kept.put(self.QUESTION, {"a": 1})
        (file,) = tmp_path.glob("*.json")
        file.write_text(json.dumps({"at": time.time() + 1e6, "value": {}}))
        found = kept.get(self.QUESTION)
        assert found is not None
        assert found.age == math.inf

    def test_it_does_not_fill_the_disk(self, tmp_path, monkeypatch) -> None:
        monkeypatch.setattr(cache, "MAX_BYTES", 20_000)
        kept = AnswerCache(tmp_path / "remote")
        for number in range(30):
            kept.put((number,), {"text": "x" * 2000})
        files = list((tmp_path / "remote").iterdir())
        assert len(files) >= 5
        assert sum(file.stat().st_size for file in files) <= 20_000
        assert kept.get((29,)) is not None


def test_a_hostile_server_is_complained_about_once(raw, tmp_path, capfd):
    words = json.dumps({"error": "\x1b[31mred"}).encode()
    server = raw(saying(words, 500))
    client = loopbook.Client(server.url, policy=ONCE)
    book = RemoteBook(client, AnswerCache(tmp_path / "cache"))
    assert book.exact("nest", "sequential") == []
    assert book.nearest(query()) == []
    said = capfd.readouterr().err
    assert said.count("\n") == 1
    assert "\x1b" not in said
