"""Puts the subcommands together and turns errors into one line and an exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import typer

from loopbook.cli import (
    adopt,
    books,
    corpus,
    farm,
    field,
    learning,
    linting,
    lookups,
    machine,
    queue,
    search,
    service,
    steps,
    transfers,
    ui,
)
from loopbook.errors import LoopbookError
from loopbook.printable import show

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
    ("lint", linting.lint),
    ("tune", search.tune),
    ("adopt", adopt.adopt),
    ("train", learning.train),
    ("evaluate", learning.evaluate),
    ("ui", ui.ui),
    ("report", ui.report),
    ("serve", service.serve),
    ("demo-server", service.demo_server),
    ("steps", steps.steps),
    ("hardware", machine.hardware),
    ("workloads", machine.workloads),
]

for _name, _command in COMMANDS:
    app.command(_name)(_command)
app.add_typer(search.seed_app, name="seed")
app.add_typer(books.app, name="book")
app.add_typer(corpus.app, name="corpus")
app.add_typer(transfers.app, name="transfers")
app.add_typer(queue.app, name="queue")
app.add_typer(farm.app, name="farm")
app.add_typer(field.app, name="field")
app.add_typer(service.token_app, name="token")
app.add_typer(service.quarantine_app, name="quarantine")


USAGE_ERROR: type[Exception] = next(
    kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException"
)
"""Root of what typer raises for a wrong command line: click's class, or that of its own copy."""


INTERRUPTED = 130


@cache
def _all() -> Callable[..., Any]:
    """All commands with their options: whoever runs several reads them once."""
    return typer.main.get_command(app)


def run(arguments: list[str]) -> int:
    """Run one command line; see `loopbook.cli.main`."""
    try:
        code = _all()(arguments or ["--help"], standalone_mode=False)
    except LoopbookError as error:
        return _say(str(error))
    except (typer.Abort, KeyboardInterrupt):
        return _interrupted()
    except USAGE_ERROR as error:
        return _say(f"{error} (see 'loopbook --help')")
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except OSError as error:
        return _say(f"{error.filename or 'input or output'}: {error.strerror or error}")
    except MemoryError:
        return _say("not enough memory; choose a smaller size")
    except ModuleNotFoundError as error:
        extras = "train,tune,plot,ui,corpus,server,farm"
        return _say(f"this needs {error.name}; install it with 'pip install loopbook[{extras}]'")
    if code == INTERRUPTED:  # what typer makes of a KeyboardInterrupt
        return _interrupted()
    return code if isinstance(code, int) else 0


def _say(message: str) -> int:
    line = " ".join(message.split())
    show(f"loopbook: {line}", file=sys.stderr)
    return 2


def _interrupted() -> int:
    show("loopbook: stopped; what was done is kept", file=sys.stderr)
    return INTERRUPTED
