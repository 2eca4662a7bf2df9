"""A database that goes away and comes back, at any moment, costs errors and not the server."""

from __future__ import annotations

import asyncio
import itertools
import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace

import httpx
import pytest
import sqlalchemy as sa
from client_kit import SIMPLE, encoder, nests_of, product, record
from server_kit import Served, sent, serving, token
from wait_kit import wait_until

from loopbook.errors import DeadlineError, UnavailableError
from loopbook.recipes import Book
from loopbook.recipes.connect import open_database

AWAY_S = 0.6
"""How long the database stays away at least: so that the server's own look at it fails."""

REFUSED = {"/docc/transfertune_sdfg", "/v1/info"}
"""What is asked and refused meanwhile, however slow the machine is."""


@pytest.fixture(scope="module")
def url(postgres) -> str:
    location = postgres.database()
    with Book.open(location) as book:
        book.add(record(product, SIMPLE), encoder().encode(nests_of(product)[0]))
    return location


@pytest.fixture(scope="module")
def server(url: str) -> Iterator[Served]:
    with serving(url, "--workers", 1, "--deadline", 600) as one:
        yield one
        assert "Traceback" not in one.log


class Callers:
    """Threads that ask without a pause, each for one thing; `answers` are what they got."""

    def __init__(self, server: Served, secret: str) -> None:
        self.answers: list[tuple[str, httpx.Response]] = []
        self._over = threading.Event()
        work = [
            lambda client, n: client.post("/docc/transfertune_sdfg", content=sent(product, new=n)),
            lambda client, n: client.post("/docc/transfertune", content=sent(product, new=n)),
            lambda client, _: client.post("/docc/transfertune_session", json={}),
            lambda client, _: client.get("/v1/misses"),
            lambda client, _: client.get("/v1/info"),
        ]
        self._threads = [
            threading.Thread(target=self._ask, args=(server, secret, one)) for one in work
        ]

    def _ask(self, server: Served, secret: str, call) -> None:
        with server.client(secret) as client:
            number = 0
            while not self._over.is_set():
                number += 1
                answer = call(client, number)
                self.answers.append((answer.request.url.path, answer))

    def refused(self, since: int = 0) -> dict[str, list[httpx.Response]]:
        """What was answered that the database is away, by what was asked."""
        found: dict[str, list[httpx.Response]] = {}
        for path, answer in self.answers[since:]:
            if answer.status_code == 503:
                found.setdefault(path, []).append(answer)
        return found

    def __enter__(self) -> Callers:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()


def works_again(server: Served, secret: str) -> bool:
    """Whether a program is tuned before long."""
    numbers = itertools.count(1_000_000)
    with server.client(secret) as client:
        path = "/docc/transfertune_sdfg"
        return wait_until(
            lambda: "results" in client.post(path, content=sent(product, new=next(numbers))).json()
        )


@pytest.mark.parametrize("rudely", [False, True])
def test_an_outage_is_an_error_in_every_answer_and_passes(server, url, postgres, rudely):
    secret = token(url, "admin")
    with Callers(server, secret) as callers:
        for pause in (0.05, 0.3, 0.7):
            assert works_again(server, secret)
            time.sleep(pause)  # stop at several moments of what the server does on its own
            before = len(callers.answers)
            postgres.stop(rudely=rudely)
            time.sleep(AWAY_S)
            assert wait_until(lambda: callers.refused(before).keys() >= REFUSED)  # noqa: B023
            postgres.start()
        assert works_again(server, secret)
    statuses = {answer.status_code for _, answer in callers.answers}
    # They ask without a pause, so where the machine is fast their token's limit is reached too.
    assert statuses <= {200, 429, 503}, [a.text for _, a in callers.answers if a.status_code == 500]
    for answer in itertools.chain(*callers.refused().values()):
        assert set(answer.json()) == {"error"}
        assert answer.headers["Retry-After"] == "1"


def test_a_connection_that_is_ended_in_use_is_an_unavailable_database(url):
    """Whether that shows at the next statement, at the end of the transaction, or when a connection
    is taken out of the pool."""
    database = open_database(url, readonly=False, busy_s=1.0)
    ruler = sa.create_engine(database.engine.url)
    mine = sa.text("SELECT pg_backend_pid()")

    def end(pid: int) -> None:
        with ruler.connect() as connection:
            connection.execute(sa.text("SELECT pg_terminate_backend(:pid)"), {"pid": pid})

    try:
        for use in (database.reading, database.writing):
            with pytest.raises(UnavailableError), use() as connection:  # noqa: PT012
                end(connection.execute(mine).scalar_one())
                connection.execute(mine)
            with use() as connection:
                pid = connection.execute(mine).scalar_one()
            end(pid)
            with use() as connection:  # what died in the pool is found out before it is used
                assert connection.execute(mine).scalar_one() != pid
        with pytest.raises(UnavailableError), database.writing() as connection:
            end(connection.execute(mine).scalar_one())  # nothing but the end of the transaction
    finally:
        ruler.dispose()
        database.close()


def test_what_nobody_expected_is_doccs_error_too():
    from fastapi import APIRouter, Depends, FastAPI

    from loopbook.server.failures import UNEXPECTED
    from loopbook.server.metrics import Metrics
    from loopbook.server.routes_docc import DoccRoute

    router = APIRouter(prefix="/docc", route_class=DoccRoute)
    app = FastAPI()
    app.state.service = SimpleNamespace(metrics=Metrics())

    def look_at_the_token() -> None:
        raise ZeroDivisionError

    @router.post("/dependency", dependencies=[Depends(look_at_the_token)])
    async def dependency() -> None:
        """Fails before it is called."""

    @router.post("/{kind}")
    async def raising(kind: str) -> None:
        raise {"gone": UnavailableError("away"), "late": DeadlineError("late")}[kind]

    app.include_router(router)

    async def ask(path: str) -> tuple[int, dict[str, str]]:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://server") as client:
            answer = await client.post(f"/docc/{path}")
            return answer.status_code, answer.json()

    assert asyncio.run(ask("dependency")) == (200, {"error": UNEXPECTED})
    assert asyncio.run(ask("unknown")) == (200, {"error": UNEXPECTED})
    assert asyncio.run(ask("gone")) == (503, {"error": "away"})
    assert asyncio.run(ask("late")) == (200, {"error": "late"})


def test_a_database_that_is_not_there_is_unavailable(postgres):
    url = postgres.database()
    database = open_database(url, readonly=False, busy_s=1.0)
    postgres.stop()
    try:
        with pytest.raises(UnavailableError), database.reading():
            pass
        with pytest.raises(UnavailableError):
            open_database(url, readonly=True, busy_s=1.0)
    finally:
        postgres.start()
        database.close()
