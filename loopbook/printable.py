"""Text of others, made fit to be printed.

A terminal obeys what is printed on it: control characters move its cursor, change its title or fill
its input, and those that turn the direction of writing make one word look like another. What comes
from elsewhere, a server's words, a record's names, a file's path, goes through here first.
"""

from __future__ import annotations

import re
import sys
from typing import IO

_NOT_PLAIN = re.compile(r"[^\n\t -~]")


def printable(text: object) -> str:
    """The text, with every character that a terminal obeys or does not show written as Python
    would, such as ``\\x1b``. Ends of lines and tabs stay."""
    return _NOT_PLAIN.sub(_escaped, str(text))


def one_line(text: object, limit: int = 300) -> str:
    """`printable`, on one line, cut after `limit` characters."""
    return printable(" ".join(str(text).split()))[:limit]


def show(
    *parts: object,
    sep: str = " ",
    end: str = "\n",
    file: IO[str] | None = None,
    flush: bool = False,
) -> None:
    """As `print`, but whatever is printed goes through `printable`."""
    print(*map(printable, parts), sep=sep, end=end, file=file or sys.stdout, flush=flush)


def _escaped(found: re.Match[str]) -> str:
    character = found.group()
    if character.isprintable():
        return character
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
