"""Generated C++ before and after: folded and coloured on a terminal, side by side on a page."""

from __future__ import annotations

import difflib
import html
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from loopbook.cli import files, style

if TYPE_CHECKING:
    from rich.text import Text

CONTEXT = 2
"""Lines of code that stay as they are, shown around those that change."""


def changes(before: str, after: str, room: int | None) -> Iterator[Text]:
    """What changes, line by line, with long parts that stay the same folded.

    Args:
        room: lines to show at most; None shows all.
    """
    old, new = before.splitlines(), after.splitlines()
    if old == new:
        yield style.text("the generated C++ is docc's own")
        return
    yield style.joined(style.text("--- docc", style.BAD), style.text("+++ loopbook", style.GOOD))
    lines = list(_unified(old, new))
    for line in lines[:room]:
        if room is not None:  # each has to stay one
            line.no_wrap, line.overflow = True, "ellipsis"
        yield line
    if room is not None and len(lines) > room:
        more = f"… {len(lines) - room} more lines (--full shows them, --html FILE side by side)"
        yield style.text(more, style.QUIET)


def _unified(old: list[str], new: list[str]) -> Iterator[Text]:
    end = 0
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for group in matcher.get_grouped_opcodes(CONTEXT):
        yield from _folded(group[0][1] - end)
        for kind, a, b, c, d in group:
            if kind == "equal":
                yield from (style.text(f"  {line}", style.QUIET) for line in old[a:b])
                continue
            yield from (style.text(f"- {line}", style.BAD) for line in old[a:b])
            yield from (style.text(f"+ {line}", style.GOOD) for line in new[c:d])
        end = group[-1][2]
    yield from _folded(len(old) - end)


def _folded(count: int) -> Iterator[Text]:
    if count:
        yield style.text(f"  … {count} lines that stay", style.QUIET)


PAGE = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 15px/1.5 system-ui, sans-serif; margin: 2rem; }}
pre, td {{ font: 13px/1.4 ui-monospace, monospace; white-space: pre-wrap; }}
table.diff {{ border-collapse: collapse; width: 100%; }}
td.diff_header, th {{ color: GrayText; text-align: right; padding: 0 .5rem; }}
.diff_next {{ display: none; }}
.diff_add {{ background: #2b8a3e40; }}
.diff_sub {{ background: #c9251740; text-decoration: line-through; }}
.diff_chg {{ background: #b8860b40; }}
</style>
<h1>{title}</h1>
<pre>{text}</pre>
<h2>The generated C++</h2>
{table}
</html>
"""


def write_page(path: Path, title: str, text: str, before: str, after: str) -> None:
    """One page that needs nothing else: what was decided, and the code side by side."""
    made = difflib.HtmlDiff(tabsize=4, wrapcolumn=90).make_table(
        before.splitlines(), after.splitlines(), "docc", "loopbook"
    )
    name = html.escape(title)
    files.write(path, PAGE.format(title=name, text=html.escape(text), table=made))
