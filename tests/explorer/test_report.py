"""The explorer as one file."""

from __future__ import annotations

import json
import re

import pytest
from cli_kit import Shell, make_shell

from loopbook.explorer import assets
from tests.explorer.conftest import ODD


@pytest.fixture
def shell(tmp_path, monkeypatch, capfd) -> Shell:
    return make_shell(tmp_path, monkeypatch, capfd)


@pytest.fixture
def built(tmp_path, monkeypatch):
    """Stands for a build of the application, which is not there in every checkout."""
    static = tmp_path / "static"
    static.mkdir()
    (static / "report.html").write_text("<html><!--loopbook-data--><p>")
    monkeypatch.setattr(assets.report_page, "__defaults__", (static,))
    return tmp_path


def test_a_report_holds_the_map_and_whole_records(shell, built, book):
    out = built / "out.html"
    words = ("report", out, "--book", book, "--records", 2, "--evaluation", built, "--json")
    told = shell(*words).good().document
    text = out.read_text()
    (inside,) = re.findall(
        r'<script type="application/json" id="loopbook-data">(.*?)</script>', text
    )
    data = json.loads(inside)
    assert told["records"] == len(data["records"]) == 2
    assert data["map"]["count"] == 4
    assert ODD + ":0" in data["map"]["columns"]["name"]
    assert "<" not in inside, "no name can end the script"
    assert data["about"]["pages"] == ["map", "record", "evaluation"]
    best = max(data["records"].values(), key=lambda one: one["speedup"])
    assert best["name"] == "product:0"
    assert all(one["cpp"] for one in best["steps"])


@pytest.mark.parametrize(
    ("name", "words"), [("out.txt", "ends in .html"), ("no/out.html", "in no folder that there is")]
)
def test_a_report_that_cannot_be_written_is_refused_at_once(shell, built, book, name, words):
    assert words in shell("report", built / name, "--book", book).refusal()


def test_what_is_not_built_is_said_at_once(shell, book, monkeypatch, tmp_path):
    monkeypatch.setattr(assets.report_page, "__defaults__", (tmp_path,))
    monkeypatch.setattr(assets.page, "__defaults__", (tmp_path,))
    assert "make explorer" in shell("report", tmp_path / "out.html", "--book", book).refusal()
    assert "make explorer" in shell("ui", "--no-open", "--book", book).refusal()
