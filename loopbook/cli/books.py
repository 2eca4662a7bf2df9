"""``loopbook book``: look into a book, check it, and move records between books."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from loopbook.cli import files, options, style
from loopbook.cli.progress import progress
from loopbook.errors import BookError
from loopbook.printable import show

if TYPE_CHECKING:
    from loopbook.recipes.book import Book

app = typer.Typer(help="Look into a book, check it, move records.", no_args_is_help=True)

Where = Annotated[
    Path | None, typer.Argument(help="the book; default the user's, 'starter' the one shipped")
]


def _location(book: Path | None) -> Path:
    from loopbook.client.places import STARTER, own_path

    if book is None:
        return own_path() if own_path().exists() else STARTER
    return STARTER if str(book) == "starter" else book


def open_book(book: Path | None, *, write: bool = False) -> Book:
    """A book to look into, or to write to.

    Raises:
        InputError: its folder is missing.
        BookError: there is none, or it is not to be written.
    """
    from loopbook.client.places import STARTER, own_path
    from loopbook.recipes.book import Book

    path = own_path() if write and book is None else _location(book)
    if not write and not path.exists():
        raise BookError(f"there is no book at {path}")
    if write and book is not None:
        files.check_folder(path)
    if write and path == STARTER:
        raise BookError("the starter book is read-only; name a book of your own")
    return Book.open(path, readonly=not write)


@app.command()
def info(book: Where = None, json: options.Json = False) -> None:
    """Show what is in a book."""
    from loopbook.client.places import STARTER

    with open_book(book) as opened:
        told = opened.info()
        # It was opened to be read; what matters is whether others could write.
        told["readonly"] = opened.name == str(STARTER) or not os.access(opened.name, os.W_OK)
    if json:
        options.print_json(told)
        return
    about = [(name, value) for name, value in told.items() if not isinstance(value, dict)]
    style.tell(style.pairs(*about))
    for name in ("targets", "families", "hardware", "encoders"):
        rows = style.table(name, "records" if name != "encoders" else "nests", right=["records"])
        for key, count in _counted(told, name).most_common(MOST[name]):
            style.add(rows, key, count)
        style.tell("", rows)


MOST = {"targets": 5, "families": 22, "hardware": 6, "encoders": 3}
"""Rows of each table of 'book info'."""


def _counted(told: dict[str, Any], name: str) -> Counter[str]:
    """How many there are of each, from `Book.info`."""
    if name != "families":
        return Counter(told[name])
    from loopbook.workloads.families import family_of

    families = Counter[str]()
    for kernel, count in told["kernels"].items():
        families[family_of(kernel)] += count
    return families


@app.command()
def verify(book: Where = None, json: options.Json = False) -> int:
    """Check the file, every record and every vector. Exit code 1 if something is wrong."""
    with open_book(book) as opened:
        faults = opened.verify()
        count = len(opened)
    if json:
        options.print_json({"records": count, "faults": faults})
    else:
        show("\n".join(faults) or f"{count} records, all well")
    return 1 if faults else 0


@app.command()
def export(
    out: Annotated[Path, typer.Argument(help="JSON lines; compressed if it ends in .gz")],
    book: Annotated[Path | None, typer.Option("--book", help="the book to export")] = None,
    json: options.Json = False,
) -> None:
    """Write a book's records to a file."""
    files.check_folder(out)
    with open_book(book) as opened:
        count = opened.export(out)
    _count(json, "exported", count)


@app.command("import")
def import_(
    source: Annotated[Path, typer.Argument(help="a file that 'export' wrote")],
    book: Annotated[Path | None, typer.Option("--book", help="the book to add to")] = None,
    json: options.Json = False,
) -> None:
    """Add records from a file, all or none."""
    from loopbook.client.incoming import check_record

    with open_book(book, write=True) as opened:
        count = opened.import_(source, check_record)
    _count(json, "imported", count)


@app.command()
def merge(
    others: Annotated[list[Path], typer.Argument(help="books to take records from")],
    book: Annotated[Path | None, typer.Option("--book", help="the book to add to")] = None,
    json: options.Json = False,
) -> None:
    """Add the records of other books."""
    from loopbook.client.incoming import check_record

    with open_book(book, write=True) as opened:
        count = 0
        for other in others:
            with open_book(other) as source:
                count += opened.merge(source, check_record)
    _count(json, "added", count)


@app.command()
def migrate(book: Where = None, json: options.Json = False) -> None:
    """Write a book's records as they are written today, with the names that steps have now. Older
    names are read anyway."""
    with open_book(book, write=True) as opened:
        count = opened.respell()
    _count(json, "rewritten", count)


@app.command()
def pack(
    out: Annotated[Path, typer.Argument(help="the new file")],
    book: Annotated[Path | None, typer.Option("--book", help="the book to pack")] = None,
    json: options.Json = False,
) -> None:
    """Write a book as one compact file to ship read-only, like the starter book, with the vectors
    of the encoder in use."""
    from loopbook.client.packing import packed
    from loopbook.embed.inference import Encoder

    files.check_folder(out)
    with open_book(book) as opened:
        packed(opened, out, Encoder.load())
        count = len(opened)
    _count(json, "packed", count)


Server = Annotated[
    str | None, typer.Option("--server", help="its address; default $LOOPBOOK_SERVER")
]
Token = Annotated[
    str | None,
    typer.Option("--token", help="default $LOOPBOOK_TOKEN, if $LOOPBOOK_SERVER is that server"),
]


@app.command()
def pull(
    server: Server = None,
    token: Token = None,
    book: Annotated[
        Path | None, typer.Option("--book", help="the book to add to; default the downloaded one")
    ] = None,
    json: options.Json = False,
) -> None:
    """Add a server's records. Stop it any time; the same command goes on where it was."""
    from loopbook.client.places import downloaded_path
    from loopbook.client.remote.client import Client
    from loopbook.client.remote.transfer import pull as run
    from loopbook.recipes.book import Book

    path = book or downloaded_path()
    with Client(server, token) as client, Book.open(path) as opened, progress("records") as shown:
        done = run(client, opened, path.with_name(f"{path.name}.pull.json"), shown.at)
    if json:
        options.print_json(asdict(done))
    else:
        show("nothing has changed" if done.unchanged else f"{done.new} new of {done.received}")


@app.command()
def push(
    server: Server = None,
    token: Token = None,
    book: Annotated[
        Path | None, typer.Option("--book", help="whose records to give; default the user's")
    ] = None,
    json: options.Json = False,
) -> int:
    """Give a book's records to a server. Exit code 1 if it refused some."""
    from loopbook.client.remote.client import Client
    from loopbook.client.remote.transfer import push as run

    path = _location(book)
    with Client(server, token) as client, open_book(book) as opened, progress("records") as shown:
        done = run(client, opened, path.with_name(f"{path.name}.push.json"), shown.at)
    if json:
        options.print_json({"given": done.given, "refused": dict(done.refused)})
    else:
        show(f"{done.given} records given")
        for record, words in done.refused:
            show(f"{record}: {words}")
    return 1 if done.refused else 0


def _count(json: bool, verb: str, count: int) -> None:
    if json:
        options.print_json({verb: count})
    else:
        show(f"{count} records {verb}")
