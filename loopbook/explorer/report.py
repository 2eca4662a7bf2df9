"""The explorer as one file, which needs no server."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from loopbook.client.opening import open_book
from loopbook.explorer import answers, assets
from loopbook.explorer.child import Child
from loopbook.explorer.documents import Code, RecordPage
from loopbook.explorer.pages import Pages

PAGES = ("map", "record", "evaluation")

Progress = Callable[[str, int, int], None]


def report(
    book: str | Path | None = None,
    *,
    records: int = 200,
    evaluations: Sequence[Path] = (),
    progress: Progress = lambda stage, done, total: None,
) -> tuple[str, int]:
    """HTML with the map, the evaluation and the records that gained most, and how many of these.

    Args:
        records: how many records come with all that is known of them.
        progress: called with what is being done, how much of it is done, and how much there is.

    Raises:
        InputError: the application is not built.
        BookError: the book cannot be opened.
    """
    assets.report_page("{}")  # better said now than after all the work
    with open_book(book) as layered, contextlib.closing(Child(book)) as child:
        pages = Pages(
            layered.books,
            layered.encoder.version,
            name=layered.name,
            ask=child.ask,
            evaluations=evaluations,
            read_only=True,
            patient=True,
        )
        progress("the map", 0, 1)
        drawn = pages.map()
        briefs = sorted(pages.catalogue.shown().briefs, key=lambda one: -one.speedup)
        chosen = [one.id for one in briefs[:records]]
        found: dict[str, msgspec.Raw] = {}
        for number, name in enumerate(chosen):
            progress("records", number, len(chosen))
            told = _record(child, name)
            if told is not None:
                found[name] = msgspec.Raw(told)
        document = {
            "about": pages.about(PAGES),
            "map": msgspec.Raw(drawn),
            "records": found,
            "evaluation": pages.evaluation(),
        }
        text = assets.report_page(msgspec.json.encode(document).decode())
    return text, len(found)


def _record(child: Child, name: str) -> bytes | None:
    """A record's page with the C++ of all its states; None where it cannot be read."""
    given = msgspec.json.encode({"id": name})
    page, code = child.ask(answers.RECORD, given), child.ask(answers.CODE, given)
    if page.status != 200:
        return None
    if code.status != 200:
        return page.body
    whole = msgspec.json.decode(page.body, type=RecordPage)
    whole.steps = msgspec.json.decode(code.body, type=Code).steps
    return whole.json()
