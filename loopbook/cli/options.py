"""Options that several commands share."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from loopbook.errors import InputError
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


def made_by(
    make: Callable[..., Any], **defaults: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a command line's command of a function of what `make` makes: the words that it makes it
    of become options beside the function's own.

    Args:
        defaults: of some of these, in place of `make`'s own.
    """
    shared = [
        one.replace(default=defaults.get(one.name, one.default))
        for one in inspect.signature(make, eval_str=True).parameters.values()
    ]

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]

        @functools.wraps(command)
        def run(**given: Any) -> Any:
            made = make(**{one.name: given.pop(one.name) for one in shared})
            return command(made, **given)

        parameters = [
            one.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for one in (shared[0], *own, *shared[1:])
        ]
        # Typer reads both.
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        return run

    return decorate


def read_sizes(options: list[str] | None) -> dict[str, int]:
    """``NAME=NUMBER`` options as a dictionary."""
    sizes = {}
    for option in options or ():
        name, _, number = option.partition("=")
        if not name.isidentifier() or not number.isdigit() or int(number) < 1:
            raise InputError(f"--size {option!r} is not NAME=NUMBER")
        sizes[name] = int(number)
    return sizes


def counts(numbers: Mapping[str, int]) -> str:
    """How many there are of each, for people."""
    return ", ".join(f"{number} {what}" for what, number in numbers.items())
