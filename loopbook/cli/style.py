"""How all commands look: one place for colours, tables, headings, gains and recipes in brief.

Colour is never all that tells something: gains carry a sign too. `rich` leaves colour out where
``NO_COLOR`` is set or what is printed on is no terminal. It is imported only when something is
printed with it, since that takes a twentieth of a second.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from loopbook.printable import printable

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

WIDTH = 80
"""Columns that everything fits into; `rich` takes so many where there is no terminal."""

WIDEST = 120
"""Columns of a terminal that are used."""

LINES = 60
"""No command prints more by default."""

ID = 8
"""Digits of a record's id that are shown; commands take any beginning that one record has."""

GOOD, BAD, QUIET, HEAD, NAME = "green", "red", "dim", "bold", "cyan"

SAME = 0.02
"""A gain or loss of less than this is none."""


def console(*, stderr: bool = False) -> Console:
    """What prints for people, as wide as the terminal: `WIDTH` columns where there is none."""
    from rich.console import Console

    made = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    made.width = min(made.width, WIDEST)
    return made


def rendered(*parts: RenderableType) -> str:
    """Texts, tables and words as stdout shows them, without the blanks that fill lines up."""
    from rich.text import Text

    made = console()
    with made.capture() as captured:
        for part in parts:
            one = text(part) if isinstance(part, str) else part
            if isinstance(one, Text):  # asked of the text itself, both are lost
                made.print(one, no_wrap=one.no_wrap, overflow=one.overflow)
            else:
                made.print(one)
    return "".join(f"{line.rstrip()}\n" for line in captured.get().splitlines())


def tell(*parts: RenderableType) -> None:
    """Print texts, tables and words on stdout, each on lines of its own."""
    put(rendered(*parts))


def put(made: str) -> None:
    """Print on stdout what `rendered` made. Its colours are what a terminal obeys, so it is not
    made fit to be printed again: its words are (`text`)."""
    print(made, end="", flush=True)


def text(words: object, style: str = "") -> Text:
    """Words of whatever source, made fit to be printed; they are no markup."""
    from rich.text import Text

    return Text(printable(words), style=style)


def joined(*parts: object, between: str = " ") -> Text:
    """Texts and words on one line."""
    from rich.text import Text

    made = [part if isinstance(part, Text) else text(part) for part in parts]
    return Text(between).join([part for part in made if part])


def indented(words: object, by: int = 4) -> Padding:
    """Words that stay behind their margin, on however many lines."""
    from rich.padding import Padding

    return Padding(text(words), (0, 0, 0, by), expand=False)


def heading(name: object, *more: object) -> Text:
    """The line over a part: its name, and what else is to be said about it."""
    return joined(text(name, HEAD), *(text(one, QUIET) for one in more if one), between="  ")


def table(
    *columns: str, right: Iterable[str] = (), cut: Iterable[str] = (), fold: Iterable[str] = ()
) -> Table:
    """An empty table with a line under its heads.

    Args:
        columns: their heads.
        right: those with numbers.
        cut: those that give way where the terminal is too narrow, by an ellipsis.
        fold: the same, by more lines.
    """
    from rich import box
    from rich.table import Table

    right, cut, fold = set(right), set(cut), set(fold)
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style=HEAD)
    for name in columns:
        made.add_column(
            name,
            justify="right" if name in right else "left",
            overflow="ellipsis" if name in cut else "fold",
            no_wrap=name not in cut | fold,
        )
    return made


def add(rows: Table, *cells: object) -> None:
    """A row of texts, gains and words."""
    from rich.text import Text

    made = [cell if isinstance(cell, Text) else text(cell) for cell in cells]
    for cell, column in zip(made, rows.columns, strict=True):
        # Asked of the column, it would have the others give way as well.
        cell.no_wrap, cell.overflow = column.overflow == "ellipsis" or None, column.overflow
    rows.add_row(*made)


def pairs(*rows: tuple[str, object]) -> Table:
    """What is called what: two columns without heads; rows of nothing are left out."""
    from rich.table import Table
    from rich.text import Text

    made = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    made.add_column(style=QUIET, no_wrap=True)
    made.add_column(overflow="fold")
    for name, value in rows:
        if value is not None and str(value):
            made.add_row(name, value if isinstance(value, Text) else text(value))
    return made


def gain(ratio: float) -> Text:
    """A speedup, such as "▲ 4.20×": ▲ is a gain, ▼ a loss, = neither."""
    sign, style = ("▲", GOOD) if ratio > 1 else ("▼", BAD)
    if abs(ratio - 1) < SAME:
        sign, style = "=", QUIET
    digits = f"{ratio:.2f}" if ratio < 100 else f"{ratio:.0f}"
    return text(f"{sign} {digits}×", style)


def verdict(right: bool, words: object = "") -> Text:
    """Right or wrong: "✓" or "✗", and what."""
    return text(f"{'✓' if right else '✗'} {words}".rstrip(), GOOD if right else BAD)


def recipe(steps: str, most: int = 3) -> str:
    """A recipe on one line: its first steps, and how many more there are."""
    lines = steps.splitlines()
    if not lines:
        return "docc's own schedule"
    more = f"; … {len(lines) - most} more" if len(lines) > most else ""
    return "; ".join(lines[:most]) + more


def some(lines: Sequence[str], most: int, what: str = "lines") -> list[str]:
    """The first of many, and how many more there are."""
    if len(lines) <= most:
        return list(lines)
    return [*lines[:most], f"… {len(lines) - most} more {what}"]
