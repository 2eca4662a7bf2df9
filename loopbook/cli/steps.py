"""The command that says which steps recipes are made of."""

from __future__ import annotations

from inspect import cleandoc
from typing import Annotated, Any

import typer

from loopbook.cli import options, style
from loopbook.errors import InputError
from loopbook.printable import show
from loopbook.steps import STEPS, Step, kind_of, parsed


def steps(
    names: Annotated[list[str] | None, typer.Argument(help="steps to explain; default all")] = None,
    markdown: Annotated[bool, typer.Option(help="as a table in Markdown")] = False,
    json: options.Json = False,
) -> None:
    """List the steps that recipes are made of; explain those that are named."""
    kinds = [_kind(name) for name in names] if names else list(STEPS.values())
    if markdown:
        show(table(kinds))
    elif json:
        for kind in kinds:
            options.print_json(_told(kind))
    elif names:
        show("\n\n".join(map(_page, kinds)))
    else:
        rows = style.table("step", "what it does", cut=["what it does"])
        for kind in kinds:
            style.add(rows, kind.name, kind.summary())
        style.tell(rows, "", "'loopbook steps NAME' explains one")


def table(kinds: list[type[Step]]) -> str:
    """The steps as a table in Markdown."""
    rows = (f"| `{kind.example}` | {kind.summary()} | {kind.textbook} |" for kind in kinds)
    return "\n".join(["| step | what it does | textbook name |", "| --- | --- | --- |", *rows])


def _kind(name: str) -> type[Step]:
    kind = kind_of(name)
    if kind is Step:
        raise InputError(f"there is no step {name}: see 'loopbook steps'")
    return kind


def _page(kind: type[Step]) -> str:
    """All that the class says to people."""
    lines = [kind.usage(), "", cleandoc(kind.__doc__ or ""), ""]
    told = {**_told(kind), "makes": ", ".join(parsed(kind.example).made())}
    labels = {"textbook": "name", "source": "source", "example": "such as", "makes": "makes"}
    lines += [f"{label}: {told[key]}" for key, label in labels.items() if told[key]]
    return "\n".join(lines)


def _told(kind: type[Step]) -> dict[str, Any]:
    return {
        "step": kind.name,
        "usage": kind.usage(),
        "summary": kind.summary(),
        "textbook": kind.textbook,
        "source": kind.source,
        "example": kind.example,
        "makes": parsed(kind.example).made(),
    }
