"""Is there such a command, with such options?"""

from __future__ import annotations

import re
import shlex
from functools import cache
from typing import Any

import typer

from loopbook.cli.app import app


@cache
def _top() -> Any:
    return typer.main.get_command(app)


def fault(line: str) -> str:
    """What is wrong with a command line that nobody runs; empty if nothing is.

    Names of commands and of options have to exist. What is in the place of a file or a number is
    not looked at. ``list|show`` means either.
    """
    words = shlex.split(re.sub(r"\s#.*|\s*[&>].*", "", line))[1:]
    groups = [_top()]
    while words and hasattr(groups[0], "commands") and not words[0].startswith("-"):
        word = words.pop(0)
        names = word.split("|")
        if word in ("…", "COMMAND"):
            return ""
        for name in names:
            if name not in groups[0].commands:
                return f"{line}: there is no {name}"
        groups = [groups[0].commands[name] for name in names]
    for word in words:
        option = word.partition("=")[0]
        if option.startswith("-") and option != "--help":
            for command in groups:
                if not any(option in one.opts + one.secondary_opts for one in command.params):
                    return f"{line}: there is no {option}"
    return ""
