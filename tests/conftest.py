"""Settings and fixtures that all tests share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import postgres_kit
import pytest
from hypothesis import HealthCheck, settings

from loopbook.errors import DeadlineError, KernelError
from loopbook.sdfg.sandbox import run_limited

# Compiles and forks share the machine with whatever else runs: no test fails for being slow.
settings.register_profile("loopbook", deadline=None, suppress_health_check=[HealthCheck.too_slow])
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


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run tests marked ``apart`` in a child process, up to three times.

    docc 0.8.1 now and then dies of factorisations and the like, and would take all other tests with
    it: whether maps may be fused it asks SymEngine's linear solver, which crashes for some orders
    of the unknowns, and the order depends on where they lie in memory. Each try has them elsewhere.
    What fails every time fails.
    """
    if pyfuncitem.get_closest_marker("apart") is None:
        return None
    names = pyfuncitem._fixtureinfo.argnames
    wanted = {name: pyfuncitem.funcargs[name] for name in names}
    for left in (2, 1, 0):
        try:
            run_limited(_call, pyfuncitem.obj, wanted, left, seconds=120.0, memory=16 << 30)
            break
        except (KernelError, DeadlineError):
            if not left:
                raise
    return True


def _call(test: Callable[..., None], arguments: dict[str, Any], number: int) -> None:
    random = Random(number)
    holes = [bytes(random.randrange(1, 2000)) for _ in range(20_000)]
    del holes[::2]
    test(**arguments)
