"""``loopbook serve`` and ``demo-server``, and what looks after a server: tokens, quarantine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from loopbook.cli import options
from loopbook.errors import InputError
from loopbook.printable import show
from loopbook.targets import named

if TYPE_CHECKING:
    from loopbook.server.quarantine import Quarantine
    from loopbook.server.tokens import Tokens

Store = Annotated[
    str | None, typer.Option("--store", help="the book, a file or URL; default the user's")
]
Port = Annotated[int, typer.Option(help="0 takes a free one", min=0, max=65535)]

MOST_MEASURED = 1000
"""Records that one command measures."""

token_app = typer.Typer(help="Make and revoke tokens of a server.", no_args_is_help=True)
quarantine_app = typer.Typer(
    help="Look through the records that were contributed.", no_args_is_help=True
)


def serve(
    port: Port = 8080,
    store: Store = None,
    host: Annotated[str, typer.Option(help="address to listen at")] = "127.0.0.1",
    starter: Annotated[bool, typer.Option(help="serve the starter book too")] = True,
    workers: Annotated[int, typer.Option(help="processes; default one a core, and one", min=0)] = 0,
    deadline: Annotated[float, typer.Option(help="seconds for each request", min=0.1)] = 20.0,
    held: Annotated[
        float, typer.Option(help="seconds for a request that others wait for", min=0.1)
    ] = 5.0,
    waiting: Annotated[int, typer.Option(help="requests that may wait", min=0)] = 64,
    anonymous: Annotated[bool, typer.Option(help="look-ups need no token")] = False,
    keep_nests: Annotated[
        bool, typer.Option(help="keep nests that the book has nothing for, to tune them")
    ] = True,
    assumed_size: Annotated[
        int, typer.Option(help="sizes are taken to be this where unknown; 0: nothing is", min=0)
    ] = 2000,
    hardware: Annotated[
        Path | None, typer.Option(help="JSON of the machine to serve for; default this one")
    ] = None,
    rate: Annotated[float, typer.Option(help="requests a second for each; 0: any", min=0)] = 100.0,
    burst: Annotated[int, typer.Option(help="requests at once for each", min=1)] = 1000,
    effort: Annotated[
        float, typer.Option(help="seconds of work a second for each; 0: any", min=0)
    ] = 0.5,
    effort_burst: Annotated[
        float, typer.Option(help="seconds of work at once for each", min=0)
    ] = 120.0,
    body: Annotated[int, typer.Option(help="bytes of a request at most", min=1)] = 8 << 20,
    depth: Annotated[int, typer.Option(help="loops inside one another at most", min=1)] = 24,
    loops: Annotated[int, typer.Option(help="loops of a program at most", min=1)] = 400,
    certificate: Annotated[Path | None, typer.Option(help="TLS certificate, PEM")] = None,
    key: Annotated[Path | None, typer.Option(help="its key, if in a file of its own")] = None,
    proxied: Annotated[bool, typer.Option(help="a proxy on this machine is in front")] = False,
) -> None:
    """Serve a book to docc's clients and to ours.

    docc's protocol is under /docc, our own API under /v1. SIGTERM ends it, after the requests that
    it holds.
    """
    from loopbook.server.app import create_app
    from loopbook.server.run import run
    from loopbook.server.settings import Limits, Settings

    given = {"workers": workers} if workers else {}
    limits = Limits(
        body_bytes=body,
        depth=depth,
        loops=loops,
        rate=rate,
        burst=burst,
        effort=effort,
        effort_burst=effort_burst,
    )
    settings = Settings(
        store=_location(store),
        starter=starter,
        deadline_s=deadline,
        held_s=held,
        waiting=waiting,
        anonymous=anonymous,
        keep_nests=keep_nests,
        assumed_size=assumed_size,
        hardware=_profile(hardware),
        limits=limits,
        **given,
    )
    run(
        create_app(settings),
        host=host,
        port=port,
        certificate=certificate,
        key=key,
        drain_s=deadline + 5,
        proxied=proxied,
    )


def demo_server(
    port: Port = 8080,
    folder: Annotated[
        Path | None, typer.Option(help="of the answers; default those that come with us")
    ] = None,
    mode: Annotated[str, typer.Option(help="ok, late, wrong, garbage, 401, 500 or cut")] = "ok",
    late: Annotated[float, typer.Option(help="how late 'late' is, seconds", min=0)] = 5.0,
    upstream: Annotated[
        str, typer.Option(help="a real server, to record answers from into the folder")
    ] = "",
    host: Annotated[str, typer.Option(help="address to listen at")] = "127.0.0.1",
) -> None:
    """Serve canned answers, for trying a client.

    There is no book behind it, and no compiler.
    """
    from loopbook.demo_server.answers import FOLDER, Answers
    from loopbook.demo_server.app import MODES, create_app
    from loopbook.server.run import run

    if mode not in MODES:
        raise InputError(f"there is no mode {mode!r}; take {', '.join(MODES)}")
    answers = Answers(folder or FOLDER)
    app = create_app(answers, mode=mode, late_s=late, upstream=upstream)
    run(app, host=host, port=port)


@token_app.command()
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
    with _tokens(store) as tokens:
        token = tokens.create(name, scope or ["lookup"], days)
    if json:
        options.print_json({"name": name, "scopes": scope or ["lookup"], "token": token})
    elif quiet:
        show(token)
    else:
        show(f"{token}\nkeep it: it cannot be shown again")


@token_app.command("list")
def list_(store: Store = None, json: options.Json = False) -> None:
    """Show who has tokens."""
    with _tokens(store) as tokens:
        found = tokens.all()
    if json:
        options.print_json([{**vars(one), "scopes": sorted(one.scopes)} for one in found])
        return
    for one in found:
        state = "revoked" if one.revoked else "" if one.good else "expired"
        show(f"{one.id}  {one.name:<24} {' '.join(sorted(one.scopes)):<20} {one.created} {state}")


@token_app.command()
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
        options.print_json({"revoked": count})
    else:
        show(f"{count} revoked")


@quarantine_app.command("list")
def waiting(store: Store = None, json: options.Json = False) -> None:
    """Show the records that wait, in the order in which to measure them, and why those that were
    measured already still wait, or wait again."""
    with _quarantine(store) as quarantine:
        found = quarantine.all()
    if json:
        options.print_json([one._asdict() for one in found])
        return
    for one in found:
        told = f"{one.target:<10} {one.speedup:7.2f}×  from {one.contributor or 'the book':<8}"
        show(f"{one.id}  {told}  by {one.confirmations}  missed {one.misses}  {one.why}".rstrip())


@quarantine_app.command()
def promote(
    records: Annotated[list[str], typer.Argument(help="ids of records")],
    store: Store = None,
) -> None:
    """Move records into the book."""
    with _quarantine(store) as quarantine:
        _decided(records, quarantine.promote)


@quarantine_app.command()
def reject(
    records: Annotated[list[str], typer.Argument(help="ids of records")],
    store: Store = None,
) -> None:
    """Throw records away."""
    with _quarantine(store) as quarantine:
        _decided(records, quarantine.reject)


@quarantine_app.command()
def measure(
    records: Annotated[
        list[str] | None, typer.Argument(help="ids of records; default all that wait")
    ] = None,
    served: Annotated[bool, typer.Option(help="all that are served, not those that wait")] = False,
    keep: Annotated[bool, typer.Option(help="say what would be done, and do nothing")] = False,
    store: Store = None,
    json: options.Json = False,
) -> None:
    """Measure records on this machine, which has to be one that you trust. What waits and gains
    here is promoted with what was measured; what is wrong or breaks, or gains nothing on the kind
    of machine that it was made on, is rejected. What is served and loses waits again."""
    from loopbook.client.hardware import local_profile
    from loopbook.server.trust import Judgement
    from loopbook.tuner.reconfirmation import verdict_of

    with _quarantine(store) as quarantine:
        ids = quarantine.served if served else lambda limit: [w.id for w in quarantine.all(limit)]
        for one in records or ids(MOST_MEASURED):
            waiting = quarantine.record(one)
            record = waiting or quarantine.served_record(one)
            if record is None:
                raise InputError(f"no record {one[:40]} waits or is served")
            here = local_profile(named(record.target).threads)
            verdict = verdict_of(record, here)
            judgement = Judgement(verdict.status, here, verdict.measurement, verdict.message)
            decision = judgement.decision(record, served=waiting is None)
            told = {"id": one, "decision": decision, **asdict(verdict)}
            judged = None if keep else quarantine.judge(one, judgement)
            if judged is not None:
                told |= {"decision": judged.decision, "served": judged.id}
            if json:
                options.print_json(told)
            else:
                why = f"{verdict.speedup:.2f}×" if verdict.status == "ok" else verdict.status
                show(f"{one}  {decision:<8} {why}  {verdict.message}".rstrip(), flush=True)


def _location(store: str | None) -> str:
    from loopbook.client.places import own_path

    return store or str(own_path())


@contextmanager
def _tokens(store: str | None) -> Iterator[Tokens]:
    """The tokens of a store."""
    from loopbook.server.tables import open_tables
    from loopbook.server.tokens import Tokens

    with closing(open_tables(_location(store))) as database:
        yield Tokens(database)


@contextmanager
def _quarantine(store: str | None) -> Iterator[Quarantine]:
    """The quarantine of a store."""
    from loopbook.recipes.book import Book
    from loopbook.server.quarantine import Quarantine
    from loopbook.server.tables import open_tables

    location = _location(store)
    with closing(open_tables(location)) as database, Book.open(location) as book:
        yield Quarantine(database, book)


def _decided(records: Sequence[str], decide: Callable[[str], bool]) -> None:
    for one in records:
        if not decide(one):
            raise InputError(f"no record {one[:40]} waits")


def _profile(path: Path | None) -> Any:
    import json

    from loopbook.recipes.hardware import HardwareProfile

    if path is None:
        return None
    try:
        return HardwareProfile.from_json(json.loads(path.read_text()))
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read {path}: {error}") from None
