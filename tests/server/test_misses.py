"""What becomes of a nest that was asked for in vain: told at once when it is tuned."""

from __future__ import annotations

import threading
import time

import httpx
import pytest
from client_kit import fill, product, record, stencil
from farm_kit import to_tune
from server_kit import sent, serving, token
from wait_kit import wait_until

from loopbook import Client
from loopbook.embed.inference import Encoder
from loopbook.farm.carry import read
from loopbook.farm.machine import Machine
from loopbook.recipes.book import Book
from loopbook.recipes.tasks import DEAD, DONE, WAITING


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("misses") / "book.db"
    fill(path, [record(stencil, "", 1.0)])
    return str(path)


@pytest.fixture(scope="module")
def machine() -> Machine:
    return Machine.here()


def test_two_servers_tell_of_a_new_record_within_moments(store, machine, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    with serving(store) as first, serving(store) as second:
        secret = token(store, "lookup")
        asked = to_tune(product, machine)
        with first.client(secret) as client:
            assert client.get(f"/v1/misses/{asked.fingerprint}").json()["state"] == "unknown"
            client.post("/docc/transfertune_sdfg", content=sent(product))
            assert wait_until(lambda: state(client, asked.fingerprint) == WAITING)
        with Book.open(store) as book:
            lease = book.queue.lease("test", machine.abilities, 60.0)
            assert lease is not None
            nest = read(lease.document)
            assert nest.fingerprint == asked.fingerprint
            told: dict[str, float] = {}

            def ask(server) -> None:
                with Client(server.url, secret) as client:
                    answer = client.missed(asked.fingerprint, seconds=60.0)
                    told[server.url] = time.monotonic()
                    assert answer["state"] == DONE
                    assert answer["records"] == [made.id]
                    assert [one.id for one in client.exact(asked.fingerprint)] == [made.id]

            made = record(product, "interchange L1 L2\n")
            waiting = [threading.Thread(target=ask, args=(one,)) for one in (first, second)]
            for one in waiting:
                one.start()
            time.sleep(0.5)
            assert not told
            embedding = Encoder.load().encode(nest)
            assert book.conclude(lease, [(made, [embedding])]).changed
            for one in waiting:
                one.join()
        assert set(told) == {first.url, second.url}
        # docc's client finds it at its next compile.
        with second.client(secret) as client:
            answer = client.post("/docc/transfertune_sdfg", content=sent(product, new="again"))
            assert "sdfg_result" in answer.text


def test_a_task_that_was_given_up_ends_the_wait(store, machine):
    asked = to_tune(stencil, machine)
    with serving(store) as server, Book.open(store) as book:
        task = book.queue.ask(asked).task
        lease = book.queue.lease("test", machine.abilities, 60.0)
        assert lease is not None
        assert lease.task.id == task
        book.queue.fail(lease, "no", for_good=True)
        with Client(server.url, token(store, "lookup")) as client:
            assert client.missed(asked.fingerprint, seconds=30.0)["state"] == DEAD


def test_what_makes_no_sense_is_refused(store):
    one = f"/v1/misses/{'a' * 32}"
    with serving(store) as server, server.client(token(store, "lookup")) as client:
        for path in ("/v1/misses/xyz", f"{one}?wait=99", f"{one}?target=cuda"):
            assert client.get(path).status_code == 422, path
        assert client.get(one, headers={"Authorization": ""}).status_code == 401


def state(client: httpx.Client, fingerprint: str) -> str:
    return client.get(f"/v1/misses/{fingerprint}").json()["state"]
