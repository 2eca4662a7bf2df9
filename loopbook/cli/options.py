"""Options that several commands share, and what they print with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from loopbook.errors import InputError
from loopbook.printable import show
from loopbook.targets import choice

File = Annotated[
    str, typer.Argument(help="FILE.py[:FUNC] (a workload), FILE.json (an SDFG), or a kernel's name")
]
Target = Annotated[str, typer.Option(help=choice())]
Preset = Annotated[str, typer.Option(help="which of the workload's sizes; default a medium one")]
Size = Annotated[list[str] | None, typer.Option(help="NAME=NUMBER: replaces a size; repeatable")]
BookPath = Annotated[
    Path | None, typer.Option("--book", help="the book; default the user's over the starter book")
]
Exclude = Annotated[list[str] | None, typer.Option(help="ignore this kernel's records; repeatable")]
Json = Annotated[bool, typer.Option("--json", help="print JSON")]


def read_sizes(options: list[str] | None) -> dict[str, int]:
    """``NAME=NUMBER`` options as a dictionary."""
    sizes = {}
    for option in options or ():
        name, _, number = option.partition("=")
        if not name.isidentifier() or not number.isdigit() or int(number) < 1:
            raise InputError(f"--size {option!r} is not NAME=NUMBER")
        sizes[name] = int(number)
    return sizes


def print_json(value: Any) -> None:
    """One JSON document on one line, in plain ASCII."""
    text = json.dumps(value, default=str).replace("\x7f", "\\u007f")
    show(text, flush=True)


def seconds(value: float) -> str:
    """A time for people: three digits and a unit."""
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if value * factor >= 1 or unit == "µs":
            return f"{value * factor:.3g} {unit}"
    raise AssertionError
