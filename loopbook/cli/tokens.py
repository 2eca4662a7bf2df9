"""``loopbook token``: who may ask a server, and for what."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from loopbook import display
from loopbook.cli import options, style
from loopbook.cli.answers import Answer, answers, write
from loopbook.cli.stores import Store, location_of, none_yet
from loopbook.errors import InputError
from loopbook.printable import show

if TYPE_CHECKING:
    from loopbook.server.tokens import Tokens

app = typer.Typer(help="Make and revoke tokens of a server.", no_args_is_help=True)

SCREEN = 50
"""Tokens that are shown."""


class Created(Answer):
    """A new token.

    Attributes:
        name: for people.
        scopes: what it is good for.
        token: shown this once, and kept nowhere.
    """

    name: str
    scopes: list[str]
    token: str


class Token(Answer):
    """What is known of a token.

    Attributes:
        id: names it in lists and logs; says nothing about the token itself.
        name: for people.
        scopes: what it is good for.
        created, expires, revoked: ISO 8601 in UTC; empty for never.
    """

    id: str
    name: str
    scopes: list[str]
    created: str
    expires: str
    revoked: str


class Revoked(Answer):
    """What `token revoke` did.

    Attributes:
        revoked: tokens.
    """

    revoked: int


@app.command()
@answers(Created)
def create(
    name: Annotated[str, typer.Argument(help="for people: who or what it is for")],
    scope: Annotated[
        list[str] | None, typer.Option(help="lookup, contribute, measure or admin; repeatable")
    ] = None,
    days: Annotated[float | None, typer.Option(help="after which it is worthless")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="print just the token")] = False,
    store: Store = None,
    json: options.Json = False,
) -> None:
    """Make a token. It is shown once, and kept nowhere."""
    scopes = scope or ["lookup"]
    with _tokens(store) as tokens:
        token = tokens.create(name, scopes, days)
    if json:
        write(Created, {"name": name, "scopes": scopes, "token": token})
    elif quiet:
        show(token)
    else:
        show(f"{token}\nkeep it: it cannot be shown again")


@app.command("list")
@answers(list[Token])
def list_(store: Store = None, json: options.Json = False) -> None:
    """Show who has tokens."""
    found = []
    if not none_yet(store):
        with _tokens(store) as tokens:
            found = tokens.all()
    if json:
        write(list[Token], [{**vars(one), "scopes": sorted(one.scopes)} for one in found])
        return
    if not found:
        style.tell("there are no tokens: 'loopbook token create NAME' makes one")
        return
    rows = style.table("token", "name", "scopes", "created", "", cut=["name", "scopes"])
    for one in found[:SCREEN]:
        state = "revoked" if one.revoked else "" if one.good else "expired"
        cells = one.id, one.name, " ".join(sorted(one.scopes)), one.created[:10]
        style.add(rows, *cells, style.text(state, style.BAD))
    style.tell(rows)
    if len(found) > SCREEN:
        style.tell(f"… {len(found) - SCREEN} more tokens (--json has all)")


@app.command()
@answers(Revoked)
def revoke(
    name: Annotated[str, typer.Argument(help="id or name, or the token itself")],
    store: Store = None,
    json: options.Json = False,
) -> None:
    """Make a token worthless."""
    with _tokens(store) as tokens:
        count = tokens.revoke(name)
    if not count:
        raise InputError("there is no such token, or it is revoked already")
    if json:
        write(Revoked, {"revoked": count})
    else:
        style.tell(f"{display.counted(count, 'token')} revoked")


@contextmanager
def _tokens(store: str | None) -> Iterator[Tokens]:
    """The tokens of a store."""
    from loopbook.server.tables import open_tables
    from loopbook.server.tokens import Tokens

    with closing(open_tables(location_of(store))) as database:
        yield Tokens(database)
