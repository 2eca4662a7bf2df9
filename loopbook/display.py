"""How objects look where somebody tries things out: one short line, or a small table of HTML.

Python's shells show `repr`, notebooks show ``_repr_html_``. Names in records and programs are words
of others: in a line they go through `printable`, in a table they are escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from loopbook.printable import one_line

LINE = 200
"""Characters of a `repr`."""

CELL = 160
"""Characters of a cell in a table."""

ROWS = 30
"""Rows of a table; of what has more, the last row says how many."""


def brief(value: object, words: str) -> str:
    """A `repr` of one line, such as ``<Plan for openmp: 3 nests, 2 with recipes>``."""
    head = type(value).__name__
    return f"<{head} {cut(words, LINE - len(head) - 3)}>"


def cut(words: object, limit: int = CELL) -> str:
    """One line of at most `limit` characters; an ellipsis stands for what is left out."""
    line = one_line(words, limit + 1)
    return line if len(line) <= limit else line[: limit - 1] + "…"


def counted(number: int, what: str) -> str:
    """``1 nest``, ``2 nests``."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def table(heads: Sequence[str], rows: Iterable[Sequence[object]], caption: str = "") -> str:
    """A table of HTML. Numbers and text are escaped; None is an empty cell.

    Args:
        heads: names of columns; none for a table of names and values.
    """
    every = list(rows)
    lines = [f"<caption>{escape(cut(caption))}</caption>"] if caption else []
    if heads:
        lines.append(f"<thead>{_row('th', heads)}</thead>")
    lines += [_row("td", row) for row in every[:ROWS]]
    if len(every) > ROWS:
        more = f"… and {len(every) - ROWS} more"
        lines.append(f'<tr><td colspan="{len(heads) or 2}">{more}</td></tr>')
    return f"<table>{''.join(lines)}</table>"


def seconds(value: float | None) -> str:
    """A time, three digits and a unit."""
    if value is None:
        return ""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-6:.3g} µs"


def times(value: float | None) -> str:
    """A speedup: ``3.21×``."""
    return "" if value is None else f"{value:.2f}×"


def _row(tag: str, cells: Sequence[object]) -> str:
    shown = ("" if cell is None else escape(cut(cell)) for cell in cells)
    return f"<tr>{''.join(f'<{tag}>{cell}</{tag}>' for cell in shown)}</tr>"
