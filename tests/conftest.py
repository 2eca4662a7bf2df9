"""Settings and fixtures that all tests share."""

from __future__ import annotations

import contextlib
import gc
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pages_kit
import postgres_kit
import pytest
import shared_kit
from hypothesis import HealthCheck, settings

from loopbook.errors import CompilerError
from loopbook.toolchain import traces
from loopbook.toolchain.compiler import find_compiler
from loopbook.toolchain.sandbox import TRIES, run_limited

# Threads that have nothing to do sleep, here and in children: tests share the cores with others.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("KMP_BLOCKTIME", "0")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Programs are trees that live long: to look for garbage after every 700 objects is a tenth of all.
gc.set_threshold(50_000, 20, 50)

with contextlib.suppress(CompilerError):  # before docc is there: see `loopbook.toolchain.traces`
    traces.make(find_compiler().path)
    traces.shorten()

# Compiles and forks share the machine with whatever else runs: no test fails for being slow.
settings.register_profile(
    "loopbook", deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("loopbook")


@pytest.fixture(scope="session")
def postgres() -> Iterator[postgres_kit.Server]:
    """A real PostgreSQL server, started when the first test asks for it."""
    if postgres_kit.programs() is None:
        pytest.skip("PostgreSQL is not installed")
    pytest.importorskip("psycopg")
    server = postgres_kit.Server()
    try:
        yield server
    finally:
        server.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a new book can be made: once a file, once an empty database on a server."""
    if request.param == "sqlite":
        return str(tmp_path / "book.db")
    return request.getfixturevalue("postgres").database()


@pytest.fixture(scope="session", autouse=True)
def _shared_by_all_processes(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Where test processes find what others have made (`shared_kit`)."""
    own = tmp_path_factory.getbasetemp()
    of_all = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    shared_kit.begin(of_all / "shared")


def pytest_sessionstart() -> None:
    """However slow the machine is, docc and the compiler get the time that they need."""
    from loopbook.sdfg import build, normalised  # import docc: after `traces.shorten`
    from loopbook.toolchain import batch

    normalised.NORMALISING_SECONDS = build.BUILD_SECONDS = 600.0
    normalised.SIMPLIFYING_SECONDS = 60.0
    batch.PATIENCE = 600.0, 0.0


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put tests marked ``long`` first, so that no worker ends with one while the others have none
    left, and tests marked ``heavy`` last: what they import stays, and would make each of the
    thousands of forks that the other tests take twice as dear."""

    def place(item: pytest.Item) -> int:
        return bool(item.get_closest_marker("heavy")) - bool(item.get_closest_marker("long"))

    items.sort(key=place)


def pytest_collection_finish() -> None:
    """What is there now stays: neither we nor our children have to look through it for garbage, and
    each fork is quicker where it takes fewer pages."""
    gc.collect()
    gc.freeze()
    pages_kit.collapse()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Tells which commands of the documentation were not run, and why (``tests/docs``)."""
    passed = terminalreporter.stats.get("passed", ())
    told = [told for report in passed for told in report.user_properties if told[0] == "not run"]
    if told:
        terminalreporter.section("commands of the documentation that were not run")
    for _, what in told:
        terminalreporter.line(what)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run tests marked ``apart`` in child processes: docc now and then crashes on them (see
    `loopbook.toolchain.sandbox.TRIES`), and would take all other tests with it."""
    if pyfuncitem.get_closest_marker("apart") is None:
        return None
    names = pyfuncitem._fixtureinfo.argnames
    wanted = {name: pyfuncitem.funcargs[name] for name in names}
    run_limited(_call, pyfuncitem.obj, wanted, seconds=900.0, memory=16 << 30, tries=TRIES)
    return True


def _call(test: Callable[..., None], arguments: dict[str, Any]) -> None:
    test(**arguments)


@pytest.fixture
def no_book(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What is planned here is planned without a book: rules alone decide."""
    monkeypatch.setenv("LOOPBOOK_BOOK", str(tmp_path / "none.db"))
    monkeypatch.setenv("LOOPBOOK_STARTER", "")
