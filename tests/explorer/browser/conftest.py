"""One browser and one window for all tests here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from browser_kit import Visit, browsing, chromium

from loopbook.explorer import assets

if TYPE_CHECKING:
    from playwright.sync_api import Browser


# Not for the session: while it is there no other test can use asyncio.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    if chromium() is None:
        pytest.skip("there is no Chromium: 'make setup' installs one")
    if not assets.are_built():
        pytest.skip("the explorer's pages are not built: 'make setup' builds them")
    with browsing() as one:
        yield one


@pytest.fixture(scope="package")
def _window(browser: Browser, address: str) -> Iterator[Visit]:
    window = Visit(browser, address, permissions=["clipboard-read", "clipboard-write"])
    yield window
    window.close()


@pytest.fixture
def window(_window: Visit) -> Iterator[Visit]:
    """A window in which, in the end, nothing may have gone wrong."""
    yield _window
    problems = [*_window.problems]
    _window.forget()
    assert not problems, "\n".join(problems)


def record_id(window: Visit, name: str, target: str = "sequential") -> str:
    """The id of the record of this name, as the window's server tells it."""
    told = window.page.request.get(f"{window.address}/map.json").json()
    columns = told["columns"]
    for row, one in enumerate(columns["name"]):
        if one == name and told["targets"][columns["target"][row]] == target:
            return columns["id"][row]
    raise AssertionError(f"no record {name} {target}")
