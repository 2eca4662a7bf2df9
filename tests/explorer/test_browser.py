"""The explorer in a real browser: each page, and what is done on it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser_kit import Visit, browsing, chromium, serving, visiting
from playwright.sync_api import Browser, expect

from loopbook.recipes import Book
from tests.explorer.conftest import ODD
from tests.explorer.test_evaluation import line

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(chromium() is None, reason="no Chromium: 'make setup' installs it"),
]

PRODUCT = """\
def product(A, B, C):
    for i in range(64):
        for j in range(64):
            for k in range(64):
                C[i, j] += A[i, k] * B[k, j]
"""

PAGES = ("map", "record", "locate", "live", "evaluation")


@pytest.fixture(scope="module")
def address(book: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the explorer is, with a small book on top of the starter book."""
    folder = tmp_path_factory.mktemp("evaluated")
    (folder / "evaluate.jsonl").write_text(line("gemm", 16.0, 4.0) + "\n" + line("mvt", 2.0, 1.0))
    kept = {"XDG_CACHE_HOME": str(tmp_path_factory.mktemp("cache"))}
    with serving(book, "--evaluation", str(folder), environment=kept) as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsing() as found:
        yield found


@pytest.fixture
def visit(browser: Browser, address: str) -> Iterator[Visit]:
    """A new visitor, who must not have met an error when the test is over."""
    with visiting(browser, address) as found:
        yield found
        assert found.complaints == []
        assert found.hosts == {address.removeprefix("http://")}


@pytest.fixture(scope="module")
def blocked_product(book: Path) -> str:
    """The id of a record with many steps."""
    with Book.open(book) as opened:
        return max(opened.records(), key=lambda one: len(one.recipe.steps)).id


@pytest.mark.parametrize("name", PAGES)
def test_a_page_loads_and_shuts_nobody_out(name: str, visit: Visit, blocked_product: str) -> None:
    page = visit.go(f"record/{blocked_product}" if name == "record" else name)
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.get_by_text(re.compile("^Reading"))).to_have_count(0)
    assert visit.grave_findings() == []
    page.emulate_media(color_scheme="dark")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert visit.grave_findings() == []


def test_search_and_filters_narrow_the_map_and_can_be_shared(visit: Visit) -> None:
    page = visit.go("map")
    shown = page.locator(".shown strong")
    every = shown.inner_text()
    page.get_by_role("group", name="Family").get_by_role("checkbox").first.check()
    expect(shown).not_to_have_text(every)
    family = shown.inner_text()
    assert visit.choices().startswith("family=")
    name = page.get_by_role("table").get_by_role("link").first.inner_text()
    page.get_by_role("searchbox").fill(name)
    expect(shown).not_to_have_text(family)
    assert "q=" in visit.choices()
    narrowed = shown.inner_text()
    page.reload()
    expect(page.locator(".shown strong")).to_have_text(narrowed)
    page.get_by_role("button", name="Clear filters").click()
    expect(shown).to_have_text(every)
    assert visit.choices() == ""


def test_a_record_is_opened_by_keyboard_by_pointer_and_from_the_table(visit: Visit) -> None:
    page = visit.go("map?q=product")
    heading = page.get_by_role("heading", level=1)
    page.get_by_role("application").press("n")
    expect(page.locator(".map-said")).to_contain_text("Enter opens it")
    name = page.locator(".map-said").inner_text().split(",")[0]
    mark = page.locator(".map-box svg circle").last.bounding_box()
    assert mark is not None
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/record/"))
    expect(heading).to_contain_text(name)
    page.go_back()
    expect(page.locator(".map-box")).to_be_visible()
    page.mouse.click(mark["x"] + mark["width"] / 2, mark["y"] + mark["height"] / 2)
    expect(page).to_have_url(re.compile("/record/"))
    page.go_back()
    page.get_by_role("table").get_by_role("link", name=ODD).click()
    expect(heading).to_contain_text("od</script>")


def test_records_are_selected_with_a_lasso(visit: Visit) -> None:
    page = visit.go("map")
    box = page.get_by_role("application").bounding_box()
    assert box is not None
    left, top, right, bottom = (
        box["x"] + 5, box["y"] + 5, box["x"] + box["width"] / 2, box["y"] + box["height"] - 5
    )  # fmt: skip
    page.keyboard.down("Shift")
    page.mouse.move(left, top)
    page.mouse.down()
    for x, y in ((right, top), (right, bottom), (left, bottom), (left, top + 5)):
        page.mouse.move(x, y, steps=4)
    page.mouse.up()
    page.keyboard.up("Shift")
    expect(page.get_by_role("heading", name="Selected")).to_be_visible()
    assert "lasso=" in visit.choices()
    part = int(page.locator(".records .badge").inner_text().replace(",", ""))
    every = int(page.locator(".shown strong").inner_text().replace(",", ""))
    assert 0 < part < every
    page.get_by_role("button", name="Clear selection").click()
    expect(page.get_by_role("heading", name="Records")).to_be_visible()


def test_the_theme_is_switched_and_kept(visit: Visit) -> None:
    page = visit.go("map")
    html = page.locator("html")
    expect(html).to_have_attribute("data-theme", "light")
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.get_by_role("button", name=re.compile("theme|dark", re.I)).click()
    expect(html).to_have_attribute("data-theme", "dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before
    page.reload()
    expect(html).to_have_attribute("data-theme", "dark")


def test_the_steps_of_a_record_are_gone_through_by_keyboard(
    visit: Visit, blocked_product: str
) -> None:
    page = visit.go(f"record/{blocked_product}")
    slider = page.get_by_role("slider")
    before = slider.get_attribute("aria-valuetext")
    slider.press("Home")
    expect(slider).to_have_value("0")
    slider.press("ArrowRight")
    expect(slider).to_have_value("1")
    assert slider.get_attribute("aria-valuetext") != before
    expect(page.locator("main")).to_contain_text("tile L0 4")
    assert "step=1" in visit.choices()


def test_commands_can_be_copied(visit: Visit, blocked_product: str) -> None:
    page = visit.go(f"record/{blocked_product}")
    page.get_by_role("button", name=re.compile("^Copy command")).first.click()
    expect(page.get_by_text("Copied", exact=True)).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()").startswith("loopbook ")


def test_pasted_code_is_located_and_each_neighbour_says_why(visit: Visit) -> None:
    page = visit.go("locate")
    page.get_by_role("textbox").first.fill(PRODUCT)
    page.get_by_role("button", name=re.compile("^(Find|Locate|Look)")).first.click()
    expect(page.get_by_text("for i in 0 … 64").first).to_be_visible()
    expect(page.get_by_text(re.compile("^declined: ")).first).to_be_visible()
    expect(page.get_by_role("link", name="gemm:1").first).to_be_visible()
    assert visit.grave_findings() == []


def test_code_that_cannot_be_read_is_told_so(visit: Visit) -> None:
    page = visit.go("locate")
    page.get_by_role("textbox").first.fill("def f(:\n")
    page.get_by_role("button", name=re.compile("^(Find|Locate|Look)")).first.click()
    expect(page.get_by_text(re.compile("line 1")).first).to_be_visible()
    visit.complaints.clear()  # a browser tells its console of each answer that is an error


def test_what_happens_is_shown_while_one_looks(visit: Visit, book: Path) -> None:
    page = visit.go("live")
    expect(page.get_by_text("brand-new:7")).to_have_count(0)
    with Book.open(book) as opened:
        opened.note_miss("brandnew", "sequential", "key", "brand-new:7", 1)
    expect(page.get_by_text("brand-new:7").first).to_be_visible()
