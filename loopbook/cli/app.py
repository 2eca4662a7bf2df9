"""Puts the subcommands together and turns errors into one line and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import cache
from typing import Annotated, Any

import typer

from loopbook.cli import (
    adopt,
    benching,
    corpus,
    doctor,
    evaluating,
    explaining,
    extras,
    farm,
    field,
    linting,
    lookups,
    machine,
    nearest,
    quarantine,
    queue,
    records,
    schemas,
    search,
    service,
    steps,
    tokens,
    training,
    transfers,
)
from loopbook.cli.progress import Interrupted
from loopbook.errors import LoopbookError
from loopbook.printable import show

app = typer.Typer(
    name="loopbook",
    help="A recipe book for loops: look up, port, measure and tune schedules of loop nests.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _tell_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        show(f"loopbook {version('loopbook')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_tell_version, is_eager=True, help="Show it and exit."),
    ] = False,
) -> None:
    pass


LOOK_UP, FILL, SHARE, ABOUT = "Make code fast", "Fill a book", "Share a book", "About"
"""Heads under which the help lists commands."""

COMMANDS: list[tuple[str, Callable[..., Any], str]] = [
    ("nearest", nearest.nearest, LOOK_UP),
    ("explain", explaining.explain, LOOK_UP),
    ("optimize", lookups.optimize, LOOK_UP),
    ("bench", benching.bench, LOOK_UP),
    ("lint", linting.lint, LOOK_UP),
    ("tune", search.tune, FILL),
    ("adopt", adopt.adopt, FILL),
    ("train", training.train, FILL),
    ("evaluate", evaluating.evaluate, FILL),
    ("serve", service.serve, SHARE),
    ("demo-server", service.demo_server, SHARE),
    ("doctor", doctor.doctor, ABOUT),
    ("steps", steps.steps, ABOUT),
    ("schema", schemas.schema, ABOUT),
    ("hardware", machine.hardware, ABOUT),
    ("workloads", machine.workloads, ABOUT),
]

GROUPS: list[tuple[str, typer.Typer, str]] = [
    ("book", records.app, LOOK_UP),
    ("seed", search.seed_app, FILL),
    ("corpus", corpus.app, FILL),
    ("transfers", transfers.app, FILL),
    ("queue", queue.app, FILL),
    ("farm", farm.app, FILL),
    ("field", field.app, SHARE),
    ("token", tokens.app, SHARE),
    ("quarantine", quarantine.app, SHARE),
]

for _name, _command, _panel in COMMANDS:
    app.command(_name, rich_help_panel=_panel)(_command)
for _name, _group, _panel in GROUPS:
    app.add_typer(_group, name=_name, rich_help_panel=_panel)


USAGE_ERROR: Any = next(
    kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException"
)
"""Root of what typer raises for a wrong command line: click's class, or that of its own copy."""

NO_ARGUMENTS = "NoArgsIsHelpError"
"""The one of these that a group without a command is; the group's help has been shown by then."""


INTERRUPTED = 130


@cache
def _all() -> Callable[..., Any]:
    """All commands with their options: whoever runs several reads them once."""
    return typer.main.get_command(app)


def run(arguments: list[str]) -> int:
    """Run one command line; see `loopbook.cli.main`."""
    try:
        code = _all()(arguments, prog_name="loopbook", standalone_mode=False)
        sys.stdout.flush()
    except Interrupted as error:
        _say(str(error))
        return INTERRUPTED
    except LoopbookError as error:
        return _say(str(error))
    except (typer.Abort, KeyboardInterrupt):
        return _interrupted()
    except USAGE_ERROR as error:
        return 0 if type(error).__name__ == NO_ARGUMENTS else _say(_misused(error))
    except BrokenPipeError:
        return _unread()
    except SystemExit as error:  # what typer makes of one
        if not isinstance(error.__context__, BrokenPipeError):
            raise
        return _unread()
    except OSError as error:
        return _say(f"{error.filename or 'input or output'}: {error.strerror or error}")
    except MemoryError:
        return _say("not enough memory; choose a smaller size")
    except ModuleNotFoundError as error:
        return _say(f"this needs {error.name}; {extras.advice(error.name or '')}")
    if code == INTERRUPTED:  # what typer makes of a KeyboardInterrupt
        return _interrupted()
    return code if isinstance(code, int) else 0


def _misused(error: Any) -> str:
    """What is wrong with a command line, and where its commands are told of."""
    command = error.ctx.command_path if getattr(error, "ctx", None) is not None else "loopbook"
    return f"{error.format_message()} (see '{command} --help')"


def _say(message: str) -> int:
    line = " ".join(message.split())
    show(f"loopbook: {line}", file=sys.stderr)
    return 2


def _unread() -> int:
    """Whoever read stdout, such as 'head', has had enough: nothing has gone wrong. What is left in
    Python's buffers goes nowhere, or Python would complain when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _interrupted() -> int:
    show("loopbook: stopped", file=sys.stderr)
    return INTERRUPTED
