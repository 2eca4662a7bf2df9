"""Every page but the map, as one uses it."""

from __future__ import annotations

import re

import pytest
from browser_kit import Visit, address, expect
from client_kit import product_renamed, text_of
from explorer_kit import PREFIX

from loopbook.recipes import Book
from tests.explorer.browser.conftest import record_id
from tests.explorer.conftest import ODD

pytestmark = pytest.mark.heavy

PYTHON = """
def mine(A, B, C):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            for k in range(B.shape[0]):
                C[i, j] += A[i, k] * B[k, j]
"""
MAP_READY = ".records tbody th a"
STEP = ".slider > span"


def record_page(window, name: str = "product:0"):
    return window.open(f"/record/{record_id(window, name)}")


# --- record ---------------------------------------------------------------------------------------


def test_a_slider_goes_through_the_steps_and_shows_what_each_changed(window):
    page = record_page(window)
    slider = page.get_by_role("slider")
    last = int(slider.get_attribute("max"))
    expect(page.locator(STEP)).to_have_text(f"Step {last} of {last}")
    slider.focus()
    page.keyboard.press("Home")
    expect(page.locator(STEP)).to_have_text("Before any step")
    expect(page.locator(".diff .come")).to_have_count(0)
    page.keyboard.press("ArrowRight")
    expect(page.locator(STEP)).to_have_text(f"Step 1 of {last}")
    nest = page.get_by_role("region", name="The nest")
    assert "L0.tile" in nest.locator(".come").all_inner_texts()[1]
    assert address(page).endswith("?step=1")
    page.reload()
    expect(page.locator(STEP)).to_have_text(f"Step 1 of {last}")
    step = page.locator(".steps li button").nth(last)
    step.click()
    expect(step).to_have_attribute("aria-current", "step")
    changed = nest.locator("td.come:not(.at)").count()
    page.get_by_label("the step before").check()
    expect(nest.locator("td.come:not(.at)")).not_to_have_count(changed)
    assert nest.locator("td.come:not(.at)").count() < changed


def test_cpp_before_and_after_stand_side_by_side(window):
    page = record_page(window)
    code = page.get_by_role("region", name="The C++")
    expect(code).to_be_visible()
    told = page.request.get(f"{address(page)}/cpp.json").json()
    lines = [line.strip() for line in told["steps"][-1]["cpp"].splitlines()]
    added = [text.strip() for text in code.locator("td.come:not(.at)").all_inner_texts()]
    assert added
    assert set(filter(None, added)) <= set(lines)
    assert code.locator("td.gone:not(.at)").count() > 0
    assert code.locator(".hljs-keyword, .hljs-type").count() > 5


def test_sizes_roofline_provenance_and_related_records(window):
    page = record_page(window, "stencil:0")
    expect(page.locator("#sizes + *, #sizes ~ .chart").first).to_be_visible()
    expect(page.locator("table", has_text="Before").last).to_be_visible()
    sizes = page.get_by_role("region", name="Times at each size")
    expect(sizes).to_contain_text("3.00×")
    roof = page.get_by_role("img", name=re.compile("^Roofline"))
    if roof.count():  # its record does not say how often its loops run: then it says what to do
        expect(roof.locator(".mark")).to_have_count(2)
    else:
        expect(page.locator("#roofline ~ [data-empty]")).to_be_visible()
    expect(page.locator(".facts-list").first).to_contain_text("stencil")
    page.get_by_role("region", name="Records whose nests are near").locator("a").first.click()
    expect(page.locator("h1")).not_to_have_text("stencil:0")


def test_a_refused_step_says_why_and_a_hostile_name_is_only_text(window):
    page = record_page(window, f"{ODD}:0")
    expect(page.locator("h1")).to_have_text(ODD.replace("\u202e", "\\u202e") + ":0")
    expect(page.locator(".steps .refused")).to_contain_text("parallel")


def test_what_is_not_there_is_said_with_what_to_do(window):
    page = window.open("/record/" + "0" * 32)
    expect(page.get_by_role("alert")).to_contain_text("no record")
    assert [one for one in window.problems if "404" not in one] == []
    window.problems.clear()  # the browser says every 404 on the console
    page.route("**/evaluation.json", lambda route: route.abort())
    window.open("/evaluation")
    expect(page.get_by_role("alert")).to_contain_text("does not answer")
    page.unroute("**/evaluation.json")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("h2").first).to_be_visible()
    window.problems.clear()


# --- locate ---------------------------------------------------------------------------------------


def test_pasted_python_lands_on_the_map_with_neighbours_and_reasons(window):
    page = window.open("/locate")
    page.get_by_label("Python or SDFG").fill(PYTHON)
    page.keyboard.press("Control+Enter")
    table = page.get_by_role("region", name=re.compile("^Neighbours, and why"))
    expect(table).to_be_visible()
    expect(table.locator("tbody tr").first).to_contain_text("product:0")
    expect(table.locator(".tier").first).to_have_text(re.compile("taken|declined"))
    expect(page.locator(".map-box .mark.located")).to_have_count(1)
    assert page.locator(".map-box .mark.neighbour").count() > 0
    expect(
        page.get_by_role("button", name=re.compile("^Copy command: loopbook explain"))
    ).to_be_visible()
    window.open("/locate" + page.evaluate("location.hash"))
    page.reload()  # one that differs behind the # only is the same page
    expect(page.get_by_label("Python or SDFG")).to_have_value(PYTHON)
    expect(table).to_be_visible()


def drop(page, text: str) -> None:
    """Drops a file with this text on the form."""
    dropped = page.evaluate_handle(
        """text => { const all = new DataTransfer();
        all.items.add(new File([text], "x.sdfg")); return all }""",
        text,
    )
    page.locator("form").dispatch_event("drop", {"dataTransfer": dropped})


def test_an_sdfg_can_be_dropped_and_lands_on_the_map(window):
    page = window.open("/locate")
    drop(page, text_of(product_renamed))
    rows = page.get_by_role("region", name=re.compile("^Neighbours, and why")).locator("tbody tr")
    expect(rows.filter(has_text="product:0").first).to_contain_text("taken")
    expect(page.locator(".map-box .mark.located")).to_have_count(1)
    expect(page.locator(".problems")).to_have_count(0)


def test_what_cannot_be_read_is_said(window):
    page = window.open("/locate")
    drop(page, '{"broken": ')
    expect(page.get_by_role("alert")).to_contain_text("no JSON")
    page.get_by_label("Python or SDFG").fill("def f(:")
    page.get_by_role("button", name="Locate", exact=True).click()
    expect(page.locator(".problems, [role=alert]").first).to_contain_text("Line 1: ")
    window.problems[:] = [one for one in window.problems if "400" not in one and "422" not in one]


# --- live -----------------------------------------------------------------------------------------


def test_what_is_missed_appears_by_itself(window, book):
    page = window.open("/live")
    expect(page.locator(".connection")).to_contain_text("Connected")
    row = page.get_by_role("region", name="What was asked for in vain").locator(
        "tr", has_text="unknown:0"
    )
    expect(row).to_contain_text("1")
    with Book.open(book) as opened:
        opened.note_miss("unknown", "sequential", "key", "unknown:0", 55)
    expect(row).to_contain_text("56")
    search = page.get_by_role("region", name="Searches").first
    expect(search).to_contain_text("product S")
    expect(search).to_contain_text("4.00×")
    expect(
        page.get_by_role("img", name=re.compile("over 4 trials: 4.00×; 1 failed"))
    ).to_be_visible()


# --- evaluation -----------------------------------------------------------------------------------


def test_tables_are_sorted_and_searched_and_figures_have_their_numbers(window):
    page = window.open("/evaluation")
    kernels = page.get_by_role("region", name=re.compile("^Kernels, ")).locator(".table")
    heading = kernels.locator("thead button").nth(3)
    heading.click()
    expect(kernels.locator("thead th").nth(3)).to_have_attribute("aria-sort", "descending")
    values = [
        float(text.rstrip("×"))
        for text in kernels.locator("tbody tr td:nth-child(4)").all_inner_texts()
    ]
    assert values == sorted(values, reverse=True)
    assert len(values) == 3
    assert ".sort=-" in address(page)
    page.keyboard.press("Enter")
    expect(kernels.locator("thead th").nth(3)).to_have_attribute("aria-sort", "ascending")
    page.get_by_label("Rows with").fill("mvt")
    expect(kernels.locator("tbody tr")).to_have_count(1)
    page.locator("summary", has_text="As a table").first.click()
    expect(page.get_by_role("region", name="The numbers of this chart").first).to_be_visible()


# --- the frame of all pages -----------------------------------------------------------------------


def test_the_switch_chooses_light_or_dark_and_stays(window):
    page = window.open("/evaluation")
    switch = page.get_by_role("button", name="Dark")
    switch.click()
    expect(switch).to_have_attribute("aria-pressed", "true")
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_links_and_keys_lead_on_under_a_prefix(window):
    page = window.open(f"{PREFIX}/evaluation")
    page.get_by_role("link", name="Map", exact=True).click()
    page.get_by_role("link", name="stencil:0").click()
    expect(page.locator(".slider")).to_be_visible()
    assert f"{PREFIX}/record/" in address(page)
    page.reload()
    expect(page.locator(".slider")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the page")).to_be_focused()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "page"


def test_a_report_needs_no_server(browser, book, tmp_path, monkeypatch):
    from loopbook.explorer.report import report

    monkeypatch.setenv("LOOPBOOK_STARTER", "")
    out = tmp_path / "report.html"
    out.write_text(report(book, records=1)[0])
    window = Visit(browser, f"file://{out}")
    page = window.open("")
    expect(page.locator(MAP_READY)).to_have_count(4)
    expect(page.get_by_role("link", name="Live", exact=True)).to_have_count(0)
    page.get_by_label("Search").fill("product")
    assert "#/map?q=product" in address(page)
    page.locator(MAP_READY).first.click()
    expect(page.locator("h1")).to_have_text("product:0")
    expect(page.get_by_role("region", name="The C++")).to_be_visible()
    page.go_back()
    expect(page.get_by_label("Search")).to_have_value("product")
    window.page.get_by_role("link", name="Evaluation", exact=True).click()
    expect(page.get_by_role("main")).to_contain_text("loopbook evaluate")
    window.close()
    assert window.problems == []
