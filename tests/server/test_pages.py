"""The explorer at the address of a server: behind its tokens, and read only."""

from __future__ import annotations

import pytest
from browser_kit import Visit, browsing, chromium, expect
from server_kit import token

from loopbook.explorer import assets

pytest_plugins = ["server_fixtures"]

DATA = ("about.json", "map.json", f"record/{'0' * 32}.json", "live.json", "live/events")


def test_a_reader_sees_map_records_and_where_code_lands(reader):
    drawn = reader.get("/map.json").json()
    name = drawn["columns"]["id"][0]
    record = reader.get(f"/record/{name}.json").json()
    assert record["id"] == name
    assert record["steps"][0]["nest"]
    codes = reader.get(f"/record/{name}/cpp.json").json()
    assert 'extern "C"' in codes["steps"][0]["cpp"]
    text = "def f(A):\n    for i in range(len(A)):\n        A[i] = A[i] + 1.0\n"
    told = reader.post("/locate.json", json={"python": text}).json()
    assert told["nests"][0]["neighbours"][0]["record"] in drawn["columns"]["id"]
    assert reader.get("/about.json").json()["read_only"] is True


@pytest.mark.parametrize("path", [*DATA, "evaluation.json"])
def test_nothing_is_given_away_without_a_token(server, store, path):
    with server.client() as nobody:
        answer = nobody.get(f"/{path}")
        assert answer.status_code == 401
        assert "token" in answer.json()["error"]
        assert nobody.post("/locate.json", json={"python": "x"}).status_code == 401
    with server.client(token(store, "contribute")) as other:
        assert other.get(f"/{path}").status_code == 403


def test_the_page_itself_is_open_and_no_other_site_can_use_it(server):
    with server.client() as nobody:
        answer = nobody.get("/", headers={"Origin": "https://elsewhere.example"})
        assert answer.status_code in (200, 503), "503 where the application is not built"
        assert "default-src 'self'" in answer.headers["content-security-policy"]
        assert "access-control-allow-origin" not in answer.headers


def test_nothing_can_be_written_through_pages(reader):
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        assert reader.request(method, "/map.json").status_code == 405


def test_events_come_as_they_are(reader):
    with reader.stream("GET", "/live/events") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        lines = answer.iter_lines()
        assert next(line for line in lines if line).startswith("event: ")
        assert next(lines).startswith("data: ")


@pytest.fixture
def browser():
    if chromium() is None or not assets.are_built():
        pytest.skip("there is no Chromium, or the pages are not built: 'make setup' does both")
    with browsing() as opened:
        yield opened


def sign_in(page, good: str) -> None:
    """Give a wrong token first, and then a good one."""
    for given, said in (("wrong", "token"), (good, "not good")):
        expect(page.get_by_role("alert")).to_contain_text(said)
        page.get_by_label("Token").fill(given)
        page.get_by_role("button", name="Use it").click()


def test_in_a_browser_one_signs_in_with_a_token(server, store, browser):
    window = Visit(browser, server.url)
    page = window.open("/")
    sign_in(page, token(store))
    expect(page.locator(".records tbody th a").first).to_be_visible()
    expect(page.locator(".book")).to_contain_text("read-only")
    refused = [*window.problems]
    page.get_by_role("link", name="Live", exact=True).click()
    expect(page.locator(".connection.on")).to_be_visible()
    page.reload()
    expect(page.locator(".connection.on")).to_be_visible()
    assert window.problems == refused, "nothing is refused from then on"
    assert refused
    assert all("401" in one for one in refused)
    window.close()


def test_a_token_counts_that_is_given_while_another_one_is_refused(server, store, browser):
    page = Visit(browser, server.url).open("/")
    late = []

    def hold(route):
        wrong = route.request.headers.get("authorization") == "Bearer wrong"
        late.append(route) if wrong else route.continue_()

    page.route("**/about.json", hold)
    sign_in(page, token(store))
    expect(page.locator(".records tbody th a").first).to_be_visible()
    assert late
    for route in late:
        route.continue_()
    expect(page.locator(".book")).to_contain_text("read-only")
