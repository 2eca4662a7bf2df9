"""Fixtures of the tests that open the explorer in a browser."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from browser_kit import Visit, browsing, chromium, serving

from loopbook.explorer import assets
from tests.explorer.test_evaluation import line


@pytest.fixture(scope="session")
def shown(book: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the book, since what is missed is added while the browser looks."""
    folder = tmp_path_factory.mktemp("shown")
    shutil.copytree(book.parent, folder, dirs_exist_ok=True)
    return folder / book.name


@pytest.fixture(scope="session")
def address(shown: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the explorer of that book is served, with an evaluation."""
    if not assets.are_built():
        pytest.skip("the explorer is not built: run 'make explorer'")
    from loopbook.explorer.app import create_app

    evaluated = tmp_path_factory.mktemp("evaluated")
    lines = [line("gemm", 16.0, 4.0), line("mvt", 2.0, 1.0), line("atax", 3.0, 5.0)]
    (evaluated / "evaluate.jsonl").write_text("\n".join(lines))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("LOOPBOOK_STARTER", "")
        with serving(create_app(shown, [evaluated], patient=True)) as where:
            yield where


# One for each file, not for the session: while it is there no other test can use asyncio.
@pytest.fixture(scope="module")
def browser():
    if chromium() is None:
        pytest.skip("there is no Chromium: 'make setup' installs one")
    with browsing() as one:
        yield one


@pytest.fixture
def visit(browser, address: str) -> Iterator[Callable[..., Visit]]:
    """Opens windows; when they close, nothing may have gone wrong in them."""
    opened: list[Visit] = []

    def made(where: str = address, **window) -> Visit:
        opened.append(Visit(browser, where, **window))
        return opened[-1]

    yield made
    for one in opened:
        one.close()
    problems = [problem for one in opened for problem in one.problems]
    assert not problems, "\n".join(problems)


def record_id(window: Visit, name: str, target: str = "sequential") -> str:
    """The id of the record of this name, as the window's server tells it."""
    told = window.page.request.get(f"{window.address}/map.json").json()
    columns = told["columns"]
    for row, one in enumerate(columns["name"]):
        if one == name and told["targets"][columns["target"][row]] == target:
            return columns["id"][row]
    raise AssertionError(f"no record {name} {target}")
