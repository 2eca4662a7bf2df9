"""The command that tells what of a file's functions would not be turned into loops."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from loopbook.cli import options
from loopbook.cli.deadline import deadline
from loopbook.cli.source import SECONDS
from loopbook.errors import InputError
from loopbook.printable import show


def lint(
    file: Annotated[str, typer.Argument(help="FILE.py[:FUNC]")],
    json: options.Json = False,
) -> None:
    """List what in a file's functions has no form in loops, without running any of it.

    Ends with 0 if there is nothing, with 1 if there is something.
    """
    from loopbook.frontend import lint as linted

    path, _, function = file.partition(":")
    if not path.endswith(".py"):
        raise InputError(f"{file!r} is no FILE.py[:FUNC]")
    with deadline(SECONDS, f"reading {path}"):
        found = linted(Path(path), function)
    if json:
        options.print_json(
            {
                "file": path,
                "functions": [
                    {
                        "name": one.name,
                        "untyped": list(one.untyped),
                        "refusals": [
                            {"file": e.file, "line": e.line, "what": e.what} for e in one.refusals
                        ],
                    }
                    for one in found
                ],
            }
        )
    else:
        # A helper that several functions call is told of once.
        for line in dict.fromkeys(str(e) for one in found for e in one.refusals):
            show(line)
        for one in found:
            if one.untyped:
                show(
                    f"{one.name}: only what is certain for any type of {', '.join(one.untyped)};"
                    " annotate them to be told all"
                )
    if any(one.refusals for one in found):
        raise typer.Exit(1)
