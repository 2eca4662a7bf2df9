"""Hostile requests: damaged, deep, large, slow and cut ones. The server refuses, and goes on."""

from __future__ import annotations

import contextlib
import copy
import json
import random
import socket
import time
import uuid
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from client_kit import product
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from server_kit import Served, message, product_store, sent, serving, token

MUTATED = 150
"""The issue's 2,000 are `benchmarks/hostile.py`'s; these many fit into the test run."""


@pytest.fixture(scope="module")
def store() -> Iterator[str]:
    with product_store() as path:
        yield path


@pytest.fixture(scope="module")
def server(store: str) -> Iterator[Served]:
    with serving(store, "--workers", 1, "--deadline", 20, "--body", 2_000_000) as one:
        yield one
        assert "Traceback" not in one.log


@pytest.fixture(scope="module")
def docc(server: Served, store: str) -> Iterator[httpx.Client]:
    with server.client(token(store, "admin")) as client:
        yield client


@pytest.fixture(autouse=True)
def _it_goes_on(docc: httpx.Client) -> Iterator[None]:
    """After each test the server still answers as it should."""
    yield
    body = sent(product, session_id=uuid.uuid4().hex)  # no answer given before fits
    answer = docc.post("/docc/transfertune_sdfg", content=body)
    assert "sdfg_result" in answer.json()


def mutated(document: Any, numbers: random.Random) -> Any:
    """A copy with something somewhere inside replaced, removed, doubled or moved."""
    done = copy.deepcopy(document)
    place, key = done, None
    for _ in range(numbers.randint(1, 14)):
        if not isinstance(place, (dict, list)) or not place:
            break
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = numbers.choice(keys)
        if not isinstance(place[key], (dict, list)) or not place[key]:
            break
        if numbers.random() < 0.15:
            break
        place = place[key]
    if key is None or (isinstance(place, dict) and key not in place):
        return done
    if isinstance(place, list) and not (isinstance(key, int) and key < len(place)):
        return done
    way = numbers.randrange(4)
    if way == 0:
        strange = [None, -1, 2**70, 1e308, "", "e", "\ud800", "i" * 5000, [], {}, True, "((", "1/0"]
        place[key] = numbers.choice(strange)
    elif way == 1:
        del place[key]
    elif way == 2 and isinstance(place, list):
        place.append(copy.deepcopy(place[key]))
    else:
        place[key] = copy.deepcopy(numbers.choice([document["sdfg"]["root"], [place[key]], 0]))
    return done


def test_mutated_programs_are_answered_or_refused(docc):
    numbers = random.Random(5)
    document = message(product)
    for _ in range(MUTATED):
        body = json.dumps(mutated(document, numbers))
        path = numbers.choice(("transfertune_sdfg", "transfertune"))
        answer = docc.post(f"/docc/{path}", content=body)
        assert answer.status_code in (200, 422), body[:500]
        assert {"error", "sdfg_result"} & answer.json().keys()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b"{",
        b'{"sdfg": null}',
        b'{"sdfg": {}}',
        b'{"sdfg": {"root": {}}}',
        b'{"sdfg": NaN}',
        b"\xff\xfe",
        b'{"sdfg": "\\ud800"}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'"' + b"\\" * 99_999,
        b"1" * 100_000,
    ],
)
def test_bodies_that_are_no_request_are_refused(docc, body):
    for path in ("/docc/transfertune_sdfg", "/docc/transfertune", "/v1/nearest", "/v1/records"):
        answer = docc.post(path, content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code in (400, 422), path
        assert set(answer.json()) == {"error"}


def test_too_many_loops_and_too_deep_ones_are_refused(docc):
    document = message(product)
    loop = document["sdfg"]["root"]["children"][0]
    deep = copy.deepcopy(document)
    inner = deep["sdfg"]["root"]["children"][0]
    for _ in range(40):
        inner = {**loop, "root": {"children": [inner], "type": "sequence"}}
    deep["sdfg"]["root"]["children"] = [inner]
    many = copy.deepcopy(document)
    many["sdfg"]["root"]["children"] = [loop] * 200
    for bad, words in ((deep, "inside one another"), (many, "loops")):
        body = json.dumps(bad)
        if len(body) < 2_000_000:
            answer = docc.post("/docc/transfertune_sdfg", content=body)
            assert answer.status_code == 422
            assert words in answer.json()["error"]


def test_bodies_that_are_too_large_are_refused_unread(docc, server):
    # Whether the words arrive before the connection is closed is the network's choice.
    with contextlib.suppress(httpx.TransportError):
        answer = docc.post("/docc/transfertune_sdfg", content=b" " * 2_000_001)
        assert answer.status_code == 413

    def endless() -> Iterator[bytes]:
        while True:
            yield b" " * 65536

    with server.client() as client, contextlib.suppress(httpx.TransportError):
        assert client.post("/docc/transfertune_sdfg", content=endless()).status_code == 413


def test_slow_and_cut_bodies_hold_nobody_up(docc, server):
    host, port = server.url.removeprefix("http://").split(":")
    head = b"POST /docc/transfertune_sdfg HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"
    begun = time.monotonic()
    lazy = [socket.create_connection((host, int(port)), 30) for _ in range(3)]
    lazy[0].sendall(head + b"{")
    lazy[1].sendall(head[:30])
    lazy[2].sendall(head + b"{")
    lazy[2].shutdown(socket.SHUT_WR)
    assert docc.get("/v1/info").status_code == 200
    assert time.monotonic() - begun < 8
    assert b" 408 " in lazy[0].recv(1000)
    assert lazy[1].recv(1000) == b""
    lazy[2].recv(1000)
    assert time.monotonic() - begun < 25
    for one in lazy:
        one.close()


@settings(
    max_examples=120,
    phases=[Phase.generate],
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.filter_too_much,
        HealthCheck.data_too_large,
    ],
    database=None,
)
@given(data=st.data())
def test_the_openapi_document_holds(server, docc, operations, data):
    """Requests made after the document, and against it: none makes the server fail."""
    operation = data.draw(st.sampled_from(operations), label="operation")
    case = data.draw(operation.as_strategy())
    answer = case.call(base_url=server.url, headers=dict(docc.headers))
    told = {str(status) for status in operation.definition.raw["responses"]}
    assert str(answer.status_code) in told | {"400", "404", "405"}, operation.label
    assert answer.status_code < 500


@pytest.fixture(scope="module")
def operations(docc) -> list[Any]:
    """What the OpenAPI document offers."""
    schemathesis = pytest.importorskip("schemathesis")
    schema = schemathesis.openapi.from_dict(docc.get("/v1/openapi.json").json())
    found = [result.ok() for result in schema.get_all_operations()]
    assert len(found) >= 15
    return found
