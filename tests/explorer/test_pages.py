"""Each page's document, asked for as the web application asks."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from loopbook.explorer import assets
from loopbook.recipes import Book
from tests.docs.command_lines import fault
from tests.explorer.conftest import ODD


def ids(page) -> dict[str, str]:
    """Names of records, with their targets, to their ids."""
    told = page.get("/map.json").json()
    columns = told["columns"]
    targets = (told["targets"][one] for one in columns["target"])
    names = (f"{name} {target}" for name, target in zip(columns["name"], targets, strict=True))
    return dict(zip(names, columns["id"], strict=True))


def test_about_counts_what_is_there(page, book):
    told = page.get("/about.json").json()
    assert told["records"] == 4
    assert told["misses"] == 3
    assert told["read_only"] is True
    assert str(book) in told["book"]
    assert "map" in told["pages"]


def test_the_map_has_every_record_once_and_no_two_on_one_place(page):
    told = page.get("/map.json").json()
    columns = told["columns"]
    assert told["count"] == len(columns["id"]) == len(set(columns["id"])) == 4
    places = [*zip(columns["x"], columns["y"], strict=True)]
    assert len(set(places)) == 4
    assert all(-1 <= one <= 1 for place in places for one in place)
    assert {told["targets"][one] for one in columns["target"]} == {"sequential", "openmp"}
    kinds = (told["families"][one] for one in columns["family"])
    families = dict(zip(columns["name"], kinds, strict=True))
    assert (families["product:0"], families["stencil:0"]) == ("other", "stencil")


def test_misses_lie_where_nests_like_them_do(page):
    told = page.get("/map.json").json()
    missed = told["misses"]
    known = dict(zip((one.split()[0] for one in missed["id"]), missed["state"], strict=True))
    assert known["missed"] == "open"
    assert [*known.values()].count("done") == 1  # the stencil has a record by now
    assert "unknown" not in known  # nobody has its document: it has no place
    row = [one.split()[0] for one in missed["id"]].index("missed")
    stencil = told["columns"]["name"].index("stencil:0")
    assert missed["asked"][row] == 3
    assert told["columns"]["x"][stencil] == pytest.approx(missed["x"][row], abs=0.05)


def test_a_record_is_shown_step_by_step(page):
    told = page.get(f"/record/{ids(page)['product:0 sequential']}.json").json()
    assert told["steps"][0]["step"] is None
    assert "A2" in told["steps"][0]["nest"]
    assert [one["step"] for one in told["steps"][1:]] == told["recipe"]
    nests = [one["nest"] for one in told["steps"]]
    assert nests[0] != nests[1]
    assert "L0.tile" in nests[1]
    assert told["problems"] == []
    assert told["related"], "the stencil, and the product under another name"
    assert told["id"] not in {one["id"] for one in told["related"]}


def test_a_step_that_is_not_legal_says_so_and_changes_nothing(page):
    name = ids(page)[f"{ODD}:0 sequential"]
    told = page.get(f"/record/{name}.json").json()
    *_, before, last = told["steps"]
    assert "parallel" in last["refused"]
    assert last["nest"] == before["nest"]


def test_the_code_of_each_state_is_cpp(page):
    told = page.get(f"/record/{ids(page)['product:0 sequential']}/cpp.json").json()
    codes = [one["cpp"] for one in told["steps"]]
    assert told["problem"] is None
    assert all('extern "C"' in one for one in codes)
    assert codes[0] != codes[-1]


@pytest.mark.parametrize("name", ["nope", "0" * 32, "%00", "a" * 5000, "..%2f..%2fetc", "é" * 8])
def test_a_record_that_there_is_not_is_not_found(page, name):
    answer = page.get(f"/record/{name}.json")
    assert answer.status_code == 404
    assert answer.json()["detail"]


def test_names_are_data(page):
    """They go out as they are: it is the page that must not take them for more."""
    answer = page.get("/map.json")
    assert f"{ODD}:0" in answer.json()["columns"]["name"]
    assert answer.headers["content-type"] == "application/json"
    assert "default-src 'self'" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_broken_record_is_left_out_and_the_rest_is_shown(book, tmp_path, monkeypatch):
    import shutil
    import sqlite3

    from loopbook.client.layered import LayeredBook
    from loopbook.explorer.jobs import Jobs
    from loopbook.explorer.pages import Pages

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    path = Path(shutil.copy(book, tmp_path / "book.db"))
    with Book.open(path) as opened:
        broken, other = [one.id for one in opened.briefs()][:2]
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE records SET speedup = 'fast' WHERE id = ?", [broken])
        connection.execute(
            "UPDATE nests SET body = x'00' WHERE id IN (SELECT nest_id FROM records WHERE id = ?)",
            [other],
        )
    connection.close()
    with Book.open(path) as opened:
        pages = Pages([opened], "")
        columns = json.loads(pages.map())["columns"]
        assert len(columns["id"]) == 3
        assert broken not in columns["id"]
        answer = Jobs(LayeredBook([opened])).do("record", json.dumps({"id": other}).encode())
        assert answer.status == 422
        assert "damaged" in json.loads(answer.body)["detail"]
        pages.close()


def test_the_queue_and_searches_are_shown(page):
    told = page.get("/live.json").json()
    assert told["queue"] == {"open": 1, "leased": 0, "done": 0, "failed": 0}
    assert told["tasks"][0]["kind"] == "tune"
    assert told["misses"]["open"] + told["misses"]["done"] == 3
    (search,) = told["searches"]
    assert search["name"] == "product S"
    assert (search["trials"], search["failures"]) == (4, 1)
    assert search["best"] == [[0, 1.5], [3, 4.0]]
    assert any(one["kind"] == "record" for one in told["events"])


def test_only_what_changed_is_sent_again(page, book):
    import msgspec

    from loopbook.explorer.documents import Live
    from loopbook.explorer.pages import changed

    before = msgspec.convert(page.get("/live.json").json(), Live)
    assert "queue" in changed(None, before)
    assert changed(before, before) == {}
    after = msgspec.json.decode(before.json(), type=Live)
    after.queue.open += 1
    assert set(changed(before, after)) == {"queue", "generated"}


def test_nobody_elsewhere_can_ask(page):
    assert page.get("/map.json", headers={"host": "elsewhere.example"}).status_code == 400
    plain = page.post("/locate.json", content=b"{}", headers={"content-type": "text/plain"})
    assert plain.status_code == 415


def test_assets_are_served_and_nothing_else(tmp_path):
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / "app.js").write_text("1")
    (tmp_path / "index.html").write_text('<base href="/"><p>')
    assert assets.asset("app.js", tmp_path) == (b"1", "text/javascript; charset=utf-8")
    for name in ("../index.html", "app.py", ".app.js", "app.js/", ""):
        assert assets.asset(name, tmp_path) is None
    assert assets.page("/here/", tmp_path) == b'<base href="/here/"><p>'


def test_where_the_application_is_not_built_the_page_says_what_to_do(page, monkeypatch, tmp_path):
    monkeypatch.setattr(assets.page, "__defaults__", (tmp_path,))
    answer = page.get("/map")
    assert answer.status_code == 503
    assert "make explorer" in answer.text


def test_commands_that_pages_name_exist():
    sources = (Path(assets.__file__).parent / "web" / "src").rglob("*.tsx")
    texts = [path.read_text() for path in sources]
    told = [one for text in texts for one in re.findall(r"<code>(loopbook [^<]+)", text)]
    assert len(told) > 5
    assert [problem for line in told if (problem := fault(line))] == []
