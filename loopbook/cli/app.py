"""Puts the subcommands together and turns errors into one line and an exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import click
import typer

from loopbook.cli import books, lookups, machine, search
from loopbook.errors import LoopbookError

app = typer.Typer(
    name="loopbook",
    help="A recipe book for loops: look up, port, measure and tune schedules of loop nests.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

COMMANDS: list[tuple[str, Callable[..., Any]]] = [
    ("nearest", lookups.nearest),
    ("explain", lookups.explain),
    ("optimize", lookups.optimize),
    ("bench", lookups.bench),
    ("tune", search.tune),
    ("train", search.train),
    ("hardware", machine.hardware),
    ("workloads", machine.workloads),
]

for _name, _command in COMMANDS:
    app.command(_name)(_command)
app.add_typer(search.seed_app, name="seed")
app.add_typer(books.app, name="book")


def run(arguments: list[str]) -> int:
    """Run one command line; see `loopbook.cli.main`."""
    try:
        code = app(arguments, standalone_mode=False)
    except LoopbookError as error:
        return _say(str(error))
    except click.exceptions.Abort:
        return _interrupted()
    except KeyboardInterrupt:
        return _interrupted()
    except click.ClickException as error:
        return _say(f"{error.format_message()} (see 'loopbook --help')")
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except OSError as error:
        return _say(f"{error.filename or 'input or output'}: {error.strerror or error}")
    except ModuleNotFoundError as error:
        return _say(f"this needs {error.name}; install it with 'pip install loopbook[train,plot]'")
    return code if isinstance(code, int) else 0


def _say(message: str) -> int:
    line = " ".join(message.split())
    print(f"loopbook: {line}", file=sys.stderr)
    return 2


def _interrupted() -> int:
    print("loopbook: stopped; what was done is kept", file=sys.stderr)
    return 130
