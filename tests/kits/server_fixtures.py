"""What most tests of the server start from: a book, a server over it, and who asks. A plugin of
pytest's, because fixtures cannot be imported."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from server_kit import Served, product_store, serving, token


@pytest.fixture(scope="module")
def store() -> Iterator[str]:
    """Where a book is that knows how to make a matrix product fast."""
    with product_store() as path:
        yield path


@pytest.fixture(scope="module")
def server(store: str) -> Iterator[Served]:
    """A server over that book, with one worker."""
    with serving(store, "--workers", 1, "--deadline", 600) as one:
        yield one


@pytest.fixture(scope="module")
def reader(server: Served, store: str) -> Iterator[httpx.Client]:
    """A client that may look up."""
    with server.client(token(store)) as client:
        yield client


@pytest.fixture(scope="module")
def ruler(server: Served, store: str) -> Iterator[httpx.Client]:
    """A client that may do everything."""
    with server.client(token(store, "admin")) as client:
        yield client
