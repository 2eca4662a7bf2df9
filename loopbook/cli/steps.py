"""The command that says which steps recipes are made of."""

from __future__ import annotations

from inspect import cleandoc
from typing import TYPE_CHECKING, Annotated

import typer

from loopbook.cli import options, style
from loopbook.cli.answers import Answer, answers, write
from loopbook.errors import InputError
from loopbook.printable import show

if TYPE_CHECKING:
    from loopbook.steps import Step


class Told(Answer):
    """A step that recipes are made of.

    Attributes:
        step: its name.
        usage: its arguments.
        summary: what it does.
        textbook: what textbooks call it.
        source: where it is described.
        makes: the loops and containers that the example makes.
    """

    step: str
    usage: str
    summary: str
    textbook: str
    source: str
    example: str
    makes: list[str]


@answers(list[Told])
def steps(
    names: Annotated[list[str] | None, typer.Argument(help="steps to explain; default all")] = None,
    markdown: Annotated[bool, typer.Option(help="as a table in Markdown")] = False,
    json: options.Json = False,
) -> None:
    """List the steps that recipes are made of, or explain some."""
    from loopbook.steps import STEPS

    kinds = [_kind(name) for name in names] if names else list(STEPS.values())
    if markdown:
        show(table(kinds))
    elif json:
        write(list[Told], [_told(kind) for kind in kinds])
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
    from loopbook.steps import Step, kind_of

    kind = kind_of(name)
    if kind is Step:
        raise InputError(f"there is no step {name}: see 'loopbook steps'")
    return kind


def _page(kind: type[Step]) -> str:
    """All that the class says to people."""
    lines = [kind.usage(), "", cleandoc(kind.__doc__ or ""), ""]
    told = _told(kind)
    facts = {
        "name": told.textbook,
        "source": told.source,
        "such as": told.example,
        "makes": ", ".join(told.makes),
    }
    lines += [f"{label}: {fact}" for label, fact in facts.items() if fact]
    return "\n".join(lines)


def _told(kind: type[Step]) -> Told:
    from loopbook.steps import parsed

    return Told(
        step=kind.name,
        usage=kind.usage(),
        summary=kind.summary(),
        textbook=kind.textbook,
        source=kind.source,
        example=kind.example,
        makes=list(parsed(kind.example).made()),
    )
