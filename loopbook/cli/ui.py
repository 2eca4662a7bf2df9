"""Commands that show a book in a browser: ui and report."""

from __future__ import annotations

import logging
import sys
import threading
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from loopbook.cli import extras, files, options
from loopbook.cli.answers import Answer, answers, write
from loopbook.cli.progress import progress
from loopbook.errors import InputError
from loopbook.printable import show

Evaluations = Annotated[
    list[Path] | None,
    typer.Option("--evaluation", help="folder that 'evaluate --out' wrote to; repeatable"),
]
HOST = "127.0.0.1"


def ui(
    book: options.BookPath = None,
    port: Annotated[int, typer.Option(help="where to listen; 0 takes a free one", min=0)] = 0,
    open_: Annotated[bool, typer.Option("--open/--no-open", help="open the browser")] = True,
    evaluation: Evaluations = None,
) -> None:
    """Look at a book in the browser.

    Its map, its records, where code lands. Only this machine can reach it. Ctrl-C ends it.
    """
    extras.need("ui", "fastapi", "uvicorn")
    from loopbook.explorer import assets
    from loopbook.explorer.app import create_app
    from loopbook.explorer.evaluation import default_folders
    from loopbook.server.run import listen, run

    assets.page("/")  # better said now than in the browser
    app = create_app(book, evaluation or default_folders())
    listener = listen(HOST, port)
    address = f"http://{HOST}:{listener.getsockname()[1]}"
    if open_:
        # It answers as soon as it is started: the browser waits a moment at most.
        threading.Timer(1.0, _opened, [address]).start()
    for noisy in ("faiss", "uvicorn.error"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    run(app, listener=listener, drain_s=2.0)


def _opened(address: str) -> None:
    if not webbrowser.open(address):
        show(f"loopbook: open {address} in a browser", file=sys.stderr, flush=True)


class Written(Answer):
    """What was written.

    Attributes:
        out: the file.
        records: how many come with all that is known of them.
        bytes: the file's size.
    """

    out: str
    records: int
    bytes: int


@answers(Written)
def report(
    out: Annotated[Path, typer.Argument(help="the HTML file to write")],
    book: options.BookPath = None,
    records: Annotated[
        int, typer.Option(help="records to include whole, those first that gained most", min=0)
    ] = 200,
    evaluation: Evaluations = None,
    json: options.Json = False,
) -> None:
    """Write a book as one HTML file to look at.

    Its map, its evaluation, and records that gained most; no server is needed.
    """
    from loopbook.explorer import report as pages
    from loopbook.explorer.evaluation import default_folders

    if out.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{out} is no HTML file: give a name that ends in .html")
    files.check_file(out)
    with progress("reading the book") as shown:
        text, count = pages.report(
            book,
            records=records,
            evaluations=evaluation or default_folders(),
            progress=lambda stage, done, total: shown.at(done, total, stage),
        )
    files.write(out, text)
    if json:
        write(Written, Written(str(out), count, out.stat().st_size))
    else:
        show(f"{out}: {count} records, {out.stat().st_size / 1e6:.1f} MB")
