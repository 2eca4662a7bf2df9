"""Writes the pages of commands, their schemas and steps from what declares them (a hook of
MkDocs): each takes the place of a comment in a page of ``docs/reference``."""

from __future__ import annotations

import re
import sys
from inspect import cleandoc
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))


def on_page_markdown(markdown: str, **_: Any) -> str:
    for marker, write in (("commands", commands), ("schemas", schemas), ("steps", steps)):
        comment = f"<!-- {marker} -->"
        if comment in markdown:
            markdown = markdown.replace(comment, write())
    return markdown


def commands() -> str:
    """Every command with its options, as typer writes them down; one section for each command of
    the first level."""
    import typer
    from typer.cli import get_docs_for_click

    from loopbook.cli.app import app

    group: Any = typer.main.get_command(app)
    context = typer.Context(group, info_name="loopbook")
    parts = []
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        text = get_docs_for_click(obj=command, ctx=context, name=name, call_prefix="loopbook")
        # "# `loopbook book`" is to be a section, and what is below it one lower.
        parts.append(re.sub(r"^#", "##", text, flags=re.MULTILINE).strip())
    return "\n\n".join(parts)


def schemas() -> str:
    """What every command prints with ``--json``; one section for each command."""
    from loopbook.cli.schemas import page

    return page()


def steps() -> str:
    """A table of all steps, then what each class says."""
    from loopbook.cli.steps import table
    from loopbook.steps import STEPS

    kinds = list(STEPS.values())
    return "\n\n".join([table(kinds), *map(_section, kinds)])


def _section(kind: Any) -> str:
    from loopbook.steps import parsed

    # reStructuredText's literal blocks: an indented block after "::" is one in Markdown after ":".
    story = re.sub(r"::$", ":", cleandoc(kind.__doc__ or ""), flags=re.MULTILINE)
    made = ", ".join(f"`{name}`" for name in parsed(kind.example).made())
    facts = [("Textbook", kind.textbook), ("Source", kind.source), ("Makes", made)]
    told = "\n".join(f"- {label}: {fact}" for label, fact in facts if fact)
    return f"## {kind.name}\n\n`{kind.usage()}`\n\n{story}\n\n{told}"
