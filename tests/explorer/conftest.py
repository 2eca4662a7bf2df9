"""One book, and a program that shows it, for all tests of the explorer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from client_kit import blocked, fill, nests_of, product, record, stencil
from explorer_kit import line, serving

from loopbook.recipes import Book
from loopbook.recipes.tasks import TUNE, Ask, Wanted

ODD = "od</script><b>d\u202e ‘name’"
"""A name that a page has to show, and must not obey."""

ILLEGAL = "parallel L2"
"""The innermost loop of a product adds up: it may have no threads."""


@pytest.fixture(scope="session")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A book of four records, and of two nests that were asked for in vain."""
    path = fill(
        tmp_path_factory.mktemp("explorer") / "book.db",
        [
            record(product, blocked(), 24.0),
            record(product, "", 1.0, target="openmp"),
            record(product, f"tile L0 4\n{ILLEGAL}", 2.0, name=ODD),
            record(stencil, "vectorize L2*", 3.0),
        ],
    )
    with Book.open(path) as opened:
        nest = nests_of(stencil)[0]
        document = record(stencil, "").nest_json  # the same nest, as if it had another name
        opened.queue.ask(Ask(TUNE, "missed", "sequential", "key", "", 3, Wanted(document)))
        opened.note_miss("missed", "sequential", "key", "stencil:9", 3)
        opened.note_miss(nest.fingerprint, "sequential", "key", "stencil:0", 1)
        opened.note_miss("unknown", "sequential", "key", "unknown:0", 1)
    log = path.with_name("book-trials") / "product.jsonl"
    log.parent.mkdir()
    lines: list[dict[str, object]] = [{"kernel": "product", "preset": "S", "target": "sequential"}]
    for number, (status, speedup) in enumerate(
        [("ok", 1.5), ("crash", 0.0), ("ok", 1.2), ("ok", 4.0)]
    ):
        lines.append({"number": number, "nest": 0, "status": status, "speedup": speedup})
    log.write_text("\n".join(map(json.dumps, lines)) + '\n{"number": 4, "sta')
    return path


@pytest.fixture(scope="package")  # not longer: tests elsewhere want the starter book
def address(book: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the program that ``loopbook ui`` starts serves that book, with an evaluation."""
    from loopbook.explorer import child
    from loopbook.explorer.app import create_app

    evaluated = tmp_path_factory.mktemp("evaluated")
    lines = [line("gemm", 16.0, 4.0), line("mvt", 2.0, 1.0), line("atax", 3.0, 5.0)]
    (evaluated / "evaluate.jsonl").write_text("\n".join(lines))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("LOOPBOOK_STARTER", "")
        patch.setattr(child, "SECONDS", 600.0)
        with serving(create_app(book, [evaluated], patient=True)) as where:
            yield where


@pytest.fixture(scope="package")
def page(address: str) -> Iterator[httpx.Client]:
    """A client of that program."""
    with httpx.Client(base_url=address, timeout=600.0) as client:
        yield client
