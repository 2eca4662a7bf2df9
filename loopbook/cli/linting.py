"""The command that tells what of a file's functions would not be turned into loops."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from loopbook import display
from loopbook.cli import options, style
from loopbook.cli.answers import Answer, answers, write
from loopbook.cli.deadline import deadline
from loopbook.cli.source import SECONDS
from loopbook.errors import InputError
from loopbook.printable import show


class Refusal(Answer):
    """What has no form in loops."""

    file: str
    line: int
    what: str


class Function(Answer):
    """What is told of one function.

    Attributes:
        untyped: arguments of which no type is known, so that there may be more.
        refusals: what has no form in loops, by line.
    """

    name: str
    untyped: list[str]
    refusals: list[Refusal]


class Linted(Answer):
    """What is told of a file's functions."""

    file: str
    functions: list[Function]


@answers(Linted)
def lint(
    file: Annotated[str, typer.Argument(help="FILE.py[:FUNC]")],
    json: options.Json = False,
) -> int:
    """List what in a file has no form in loops, without running it.

    Exit code 1 if there is something.
    """
    from loopbook.frontend import lint as linted

    path, _, function = file.partition(":")
    if not path.endswith(".py"):
        raise InputError(f"{file!r} is no FILE.py[:FUNC]")
    with deadline(SECONDS, f"reading {path}"):
        found = linted(Path(path), function)
    refused = any(one.refusals for one in found)
    if json:
        write(Linted, {"file": path, "functions": found})
        return 1 if refused else 0
    # A helper that several functions call is told of once. Editors read these lines, so they are
    # not folded.
    lines = list(dict.fromkeys(str(e) for one in found for e in one.refusals))
    for line in style.some(lines, MOST, "lines (--json has all)"):
        show(line)
    for one in found:
        if one.untyped:
            style.tell(
                f"{one.name}: only what is certain for any type of {', '.join(one.untyped)};"
                " annotate them to be told all"
            )
    if not refused:
        count = display.counted(len(found), "function")
        style.tell(style.verdict(True, f"nothing found in {count}"))
    return 1 if refused else 0


MOST = 40
"""Lines that are shown."""
