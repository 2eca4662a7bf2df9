"""``loopbook book``: look into a book, check it, and move records between books."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from loopbook import display
from loopbook.cli import files, options, style
from loopbook.cli.answers import UNSET, Answer, Left, answers, write
from loopbook.cli.progress import progress
from loopbook.errors import BookError

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


class Info(Answer):
    """What is in a book.

    Attributes:
        name: its path or address.
        readonly: nothing can be written to it.
        schema: version of its tables.
        nests: different ones.
        targets, kernels, hardware: of records, and how many there are of each.
        encoders: whose vectors it has, and of how many nests.
        misses: nests that were asked for in vain.
        bytes: of its file; null for a database.
    """

    name: str
    readonly: bool
    schema: int
    records: int
    nests: int
    targets: dict[str, int]
    kernels: dict[str, int]
    encoders: dict[str, int]
    hardware: dict[str, int]
    misses: int
    bytes: int | None


class Verified(Answer):
    """Whether a book is well.

    Attributes:
        faults: a line for each.
    """

    records: int
    faults: list[str]


class Count(Answer):
    """How many records it was: what was done with them is its name.

    Attributes:
        imported, added: that were new.
    """

    exported: int | Left = UNSET
    imported: int | Left = UNSET
    added: int | Left = UNSET
    rewritten: int | Left = UNSET
    packed: int | Left = UNSET


class Pulled(Answer):
    """What came from a server.

    Attributes:
        received: records that came.
        new: those of them that the book did not have.
        unchanged: the server's book is as it was at the last whole pull.
        refused: those that were not taken.
    """

    received: int
    new: int
    unchanged: bool
    refused: int


class Pushed(Answer):
    """What a server was given.

    Attributes:
        given: records that it took or knew already.
        refused: id of a record that it did not want to its words.
    """

    given: int
    refused: dict[str, str]


@app.command()
@answers(Info)
def info(book: Where = None, json: options.Json = False) -> None:
    """Show what is in a book."""
    from loopbook.client.places import STARTER

    with open_book(book) as opened:
        told = opened.info()
        # It was opened to be read; what matters is whether others could write.
        told["readonly"] = opened.name == str(STARTER) or not os.access(opened.name, os.W_OK)
    if json:
        write(Info, told)
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
@answers(Verified)
def verify(book: Where = None, json: options.Json = False) -> int:
    """Check the file, every record and every vector. Exit code 1 if something is wrong."""
    with progress("checking records"), open_book(book) as opened:
        faults = opened.verify()
        count = len(opened)
    if json:
        write(Verified, {"records": count, "faults": faults})
    elif faults:
        style.tell(*style.some(faults, FAULTS, "(--json has all)"))
    else:
        style.tell(style.verdict(True, f"{count} records, all well"))
    return 1 if faults else 0


FAULTS = 40
"""Lines of 'book verify' that are shown."""


@app.command()
@answers(Count)
def export(
    out: Annotated[Path, typer.Argument(help="JSON lines; compressed if it ends in .gz")],
    book: Annotated[Path | None, typer.Option("--book", help="the book to export")] = None,
    json: options.Json = False,
) -> None:
    """Write a book's records to a file."""
    files.check_folder(out)
    with progress("writing records"), open_book(book) as opened:
        count = opened.export(out)
    _count(json, "exported", count)


@app.command("import")
@answers(Count)
def import_(
    source: Annotated[Path, typer.Argument(help="a file that 'export' wrote")],
    book: Annotated[Path | None, typer.Option("--book", help="the book to add to")] = None,
    json: options.Json = False,
) -> None:
    """Add records from a file, all or none."""
    with progress("reading and checking records"), open_book(book, write=True) as opened:
        from loopbook.client.incoming import check_record

        count = opened.import_(source, check_record)
    _count(json, "imported", count)


@app.command()
@answers(Count)
def merge(
    others: Annotated[list[Path], typer.Argument(help="books to take records from")],
    book: Annotated[Path | None, typer.Option("--book", help="the book to add to")] = None,
    json: options.Json = False,
) -> None:
    """Add the records of other books."""
    count = 0
    with (
        progress("opening the book", len(others), "book") as shown,
        open_book(book, write=True) as opened,
    ):
        from loopbook.client.incoming import check_record

        for number, other in enumerate(others):
            shown.job(number)
            shown.stage(f"checking the records of {other}")
            with open_book(other) as source:
                count += opened.merge(source, check_record)
    _count(json, "added", count)


@app.command()
@answers(Count)
def migrate(book: Where = None, json: options.Json = False) -> None:
    """Write a book's records as they are written today, with the names that steps have now. Older
    names are read anyway."""
    with progress("rewriting records"), open_book(book, write=True) as opened:
        count = opened.respell()
    _count(json, "rewritten", count)


@app.command()
@answers(Count)
def pack(
    out: Annotated[Path, typer.Argument(help="the new file")],
    book: Annotated[Path | None, typer.Option("--book", help="the book to pack")] = None,
    json: options.Json = False,
) -> None:
    """Write a book as one compact file to ship read-only, like the starter book, with the vectors
    of the encoder in use."""
    files.check_folder(out)
    with progress("packing records"), open_book(book) as opened:
        from loopbook.client.packing import packed
        from loopbook.embed.inference import Encoder

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
@answers(Pulled)
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
        write(Pulled, done)
    else:
        style.tell(
            "nothing has changed" if done.unchanged else f"{done.new} new of {done.received}"
        )


@app.command()
@answers(Pushed)
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
        write(Pushed, {"given": done.given, "refused": dict(done.refused)})
    else:
        style.tell(f"{done.given} records given")
        refused = [f"{record}: {words}" for record, words in done.refused]
        style.tell(*style.some(refused, FAULTS, "refused (--json has all)"))
    return 1 if done.refused else 0


def _count(json: bool, verb: str, count: int) -> None:
    if json:
        write(Count, {verb: count})
    else:
        style.tell(f"{display.counted(count, 'record')} {verb}")
