"""The map, as one uses it with a mouse and with keys."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from browser_kit import address, expect

from tests.explorer.conftest import ODD

pytestmark = pytest.mark.heavy

NAMES = ".records tbody th a"
MARK = ".map-box circle.hover"


@pytest.fixture
def page(window):
    page = window.open("/")
    expect(page.locator(NAMES)).to_have_count(4)
    return page


def query(page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(address(page)).query)


def painted(page) -> str:
    """What the canvas shows, once it stands still."""
    page.wait_for_timeout(250)
    return page.evaluate("document.querySelector('.map-box canvas').toDataURL()")


def walk(page) -> tuple[float, float]:
    """Goes to the next record by key; where it is in the window."""
    page.locator(".map-box").focus()
    page.keyboard.press("n")
    mark = page.locator(MARK)
    expect(mark).to_have_count(1)
    box = page.locator(".map-box").bounding_box()
    return box["x"] + float(mark.get_attribute("cx")), box["y"] + float(mark.get_attribute("cy"))


def test_points_are_drawn_and_listed_with_names_that_are_only_text(page):
    # four colours, and what is mixed of them at their rims, as soon as a frame is drawn
    page.wait_for_function(
        """() => { const c = document.querySelector('.map-box canvas');
        const all = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
        return new Set(new Uint32Array(all.buffer)).size > 20 }"""
    )
    told = page.locator(".records").inner_text()
    assert ODD.replace("\u202e", "\\u202e") in told
    assert page.locator(".records b").count() == 0
    assert page.title() == "Map · loopbook"


def looks(page) -> list[str]:
    """Shapes and colours that stand beside the filters."""
    return page.locator(".facet svg:not(.share) path").evaluate_all(
        "all => all.map(one => [one.getAttribute('d'), one.getAttribute('fill')].join())"
    )


def test_colours_follow_the_choice_and_the_address_has_it(page):
    seen = {painted(page)}
    for by, count in (("family", 2), ("machine", 1), ("age", 0)):
        page.get_by_label("Colour by").select_option(by)
        assert query(page)["colour"] == [by]
        now = painted(page)
        assert now not in seen
        seen.add(now)
        assert len(looks(page)) == len(set(looks(page))) == count


def test_no_two_families_look_alike(window, page):
    """Made up: more families than any book has yet."""
    many = 56
    told = page.request.get(f"{address(page)}map.json").json()
    told["families"] = [f"family {number}" for number in range(many)]
    columns = {name: [values[0]] * many for name, values in told["columns"].items()}
    told["columns"] = columns | {
        "id": [f"{number}" for number in range(many)],
        "family": [*range(many)],
    }
    page.route("**/map.json", lambda route: route.fulfill(json=told))
    window.open("/?colour=family")
    page.get_by_role("button", name=f"Show all {many}").click()
    light = looks(page)
    assert len(light) == len(set(light)) == many
    page.emulate_media(color_scheme="dark")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    dark = looks(page)
    assert len(dark) == len(set(dark)) == many
    assert dark != light


def test_search_and_filters_count_each_other_and_are_in_the_address(page):
    page.get_by_label("Search").fill("stencil")
    expect(page.locator(".shown strong")).to_have_text("1")
    expect(page.locator(NAMES)).to_have_text(["stencil:0"])
    page.reload()
    expect(page.locator(NAMES)).to_have_text(["stencil:0"])
    page.get_by_role("button", name="Clear filters").click()
    page.get_by_role("checkbox", name=re.compile("^openmp")).check()
    expect(page.locator(NAMES)).to_have_count(1)
    families = page.locator(".facet", has_text="Family").locator(".tick .number")
    assert sorted(families.all_inner_texts()) == ["0", "1"], "counted under the other filters"
    targets = page.locator(".facet", has_text="Target").locator(".tick .number")
    assert sorted(targets.all_inner_texts()) == ["1", "3"], "but not under their own"
    page.get_by_role("checkbox", name=re.compile("^openmp")).uncheck()
    page.get_by_role("spinbutton", name="from").fill("2.5")
    page.keyboard.press("Tab")
    expect(page.locator(NAMES)).to_have_text(["product:0", "stencil:0"])
    assert query(page) == {"speedup": ["2.5.."]}
    page.get_by_label("Search").fill("no such thing")
    expect(page.locator(".records [data-empty]")).to_contain_text("clear a filter")


def test_what_is_drawn_around_is_selected_with_its_statistics(page):
    page.get_by_role("button", name="Lasso").click()
    box = page.locator(".map-box").bounding_box()
    left, top = box["x"] + 4, box["y"] + 4
    right, bottom = left + box["width"] - 8, top + box["height"] - 8
    page.mouse.move(left, top)
    page.mouse.down()
    for x, y in [(right, top), (right, bottom), (left, bottom)]:
        page.mouse.move(x, y, steps=4)
    page.mouse.up()
    expect(page.locator(".records h2")).to_contain_text("Selected 4")
    summary = page.locator(".summary")
    expect(summary).to_contain_text(f"{(24 * 1 * 2 * 3) ** 0.25:.2f}×")  # the geometric mean
    expect(summary).to_contain_text("1.00× – 24.0×")
    page.reload()
    expect(page.locator(".records h2")).to_contain_text("Selected 4")
    expect(page.locator(".map-box polygon")).to_have_count(1)
    page.get_by_role("button", name="Clear selection").click()
    assert "lasso" not in query(page)


def test_a_record_is_told_when_pointed_at_and_opened_by_a_click(page):
    x, y = walk(page)
    page.mouse.move(x, y)
    page.keyboard.press("Escape")
    expect(page.locator(".tip strong")).not_to_be_empty()
    name = page.locator(".tip strong").inner_text()
    page.mouse.click(x, y)
    expect(page.locator("h1")).to_have_text(name)
    page.go_back()
    expect(page.locator(NAMES)).to_have_count(4)


def test_all_can_be_done_by_keys(page):
    box = page.locator(".map-box")
    box.focus()
    page.keyboard.press("+")
    page.keyboard.press("ArrowRight")
    x, y, k = map(float, query(page)["view"][0].split(","))
    assert (k, y) == (1.4, 0)
    assert x > 0
    page.keyboard.press("0")
    assert "view" not in query(page)
    walk(page)
    told = page.locator(".map-said").inner_text()
    page.keyboard.press("Enter")
    expect(page.locator("h1")).not_to_be_empty()
    assert told.startswith(page.locator("h1").inner_text())
    assert page.evaluate("document.activeElement.tagName") == "MAIN"


def test_wheel_and_drag_move_the_map_and_its_address_shows_the_same(window, page):
    box = page.locator(".map-box").bounding_box()
    x, y = box["x"] + box["width"] / 3, box["y"] + box["height"] / 3
    whole = painted(page)
    page.mouse.move(x, y)
    page.mouse.wheel(0, -400)
    page.mouse.down()
    page.mouse.move(x + 60, y + 30, steps=3)
    page.mouse.up()
    page.mouse.move(1, 1)
    page.wait_for_url(re.compile("view="))
    moved = painted(page)
    assert moved != whole
    window.open("/?" + urlsplit(address(page)).query)
    expect(page.locator(NAMES)).to_have_count(4)
    assert painted(page) == moved


def test_misses_are_hollow_and_can_be_left_out(page):
    with_misses = painted(page)
    page.get_by_role("checkbox", name="misses (hollow)").uncheck()
    assert query(page)["misses"] == ["no"]
    assert painted(page) != with_misses


def test_a_book_without_records_says_what_to_do(window, page):
    empty = page.request.get(f"{window.address}/map.json").json()
    empty["columns"] = {name: [] for name in empty["columns"]}
    empty["misses"] = {name: [] for name in empty["misses"]}
    page.route("**/map.json", lambda route: route.fulfill(json=empty))  # as an empty book
    expect(window.open("/").locator("[data-empty]")).to_contain_text("loopbook tune")
