"""What holds for every page: it can be read by everybody, fits the window, and has its twin."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from browser_kit import expect

from tests.explorer.browser.conftest import record_id

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.heavy

READY = {
    "/": ".records tbody th a",
    "/locate": ".map-box canvas",
    "/record/": ".slider",
    "/live": ".connection.on",
    "/evaluation": "h2",
}
"""What stands on a page once it is drawn."""

NARROW = 700


def serious(page: Page) -> list[tuple[str, str, str]]:
    """What axe finds of weight."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [
        (one["id"], one["nodes"][0]["html"][:200], one["nodes"][0].get("failureSummary"))
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("path", READY)
def test_it_can_be_read_fits_and_has_its_twin(window, path):
    place = path + (record_id(window, "stencil:0") if path == "/record/" else "")
    page = window.open(place)
    for scheme, width in (("light", 1400), ("dark", NARROW)):
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=scheme)
        expect(page.locator(READY[path]).first).to_be_visible()
        expect(page.locator("html")).to_have_attribute("data-theme", scheme)
        assert serious(page) == []
        assert page.evaluate("document.querySelector('main').scrollWidth") <= width
    if path == "/locate":  # its twin answers questions, and its commands come with the answers
        return
    link = page.get_by_role("link", name=".json")
    answer = page.request.get(page.evaluate("one => one.href", link.element_handle()))
    assert answer.ok
    assert answer.headers["content-type"] == "application/json"
    button = page.get_by_role("button", name=re.compile("^Copy command")).first
    button.click()
    expect(button).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()").startswith("loopbook ")
