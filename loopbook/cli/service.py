"""``loopbook serve`` and ``demo-server``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from loopbook.cli.stores import Store, location_of
from loopbook.errors import InputError

Port = Annotated[int, typer.Option(metavar="N", help="0 takes a free one", min=0, max=65535)]

LIMITS, TLS = "Limits", "Encryption"
"""Heads under which the help lists options."""


def serve(
    port: Port = 8080,
    store: Store = None,
    host: Annotated[str, typer.Option(help="address to listen at")] = "127.0.0.1",
    starter: Annotated[bool, typer.Option(help="serve the starter book too")] = True,
    workers: Annotated[
        int,
        typer.Option(
            metavar="N",
            help="processes; default one a core, and one",
            min=0,
            rich_help_panel=LIMITS,
        ),
    ] = 0,
    deadline: Annotated[
        float,
        typer.Option(metavar="N", help="seconds for each request", min=0.1, rich_help_panel=LIMITS),
    ] = 20.0,
    held: Annotated[
        float,
        typer.Option(
            metavar="N",
            help="seconds for a request that others wait for",
            min=0.1,
            rich_help_panel=LIMITS,
        ),
    ] = 5.0,
    waiting: Annotated[
        int, typer.Option(metavar="N", help="requests that may wait", min=0, rich_help_panel=LIMITS)
    ] = 64,
    anonymous: Annotated[bool, typer.Option(help="look-ups need no token")] = False,
    keep_nests: Annotated[
        bool, typer.Option(help="keep nests that the book has nothing for, to tune them")
    ] = True,
    assumed_size: Annotated[
        int,
        typer.Option(
            metavar="N", help="sizes are taken to be this where unknown; 0: nothing is", min=0
        ),
    ] = 2000,
    hardware: Annotated[
        Path | None, typer.Option(help="JSON of the machine to serve for; default this one")
    ] = None,
    rate: Annotated[
        float,
        typer.Option(
            metavar="N", help="requests a second for each; 0: any", min=0, rich_help_panel=LIMITS
        ),
    ] = 100.0,
    burst: Annotated[
        int,
        typer.Option(metavar="N", help="requests at once for each", min=1, rich_help_panel=LIMITS),
    ] = 1000,
    effort: Annotated[
        float,
        typer.Option(
            metavar="N",
            help="seconds of work a second for each; 0: any",
            min=0,
            rich_help_panel=LIMITS,
        ),
    ] = 0.5,
    effort_burst: Annotated[
        float,
        typer.Option(
            metavar="N", help="seconds of work at once for each", min=0, rich_help_panel=LIMITS
        ),
    ] = 120.0,
    body: Annotated[
        int,
        typer.Option(metavar="N", help="bytes of a request at most", min=1, rich_help_panel=LIMITS),
    ] = 8 << 20,
    depth: Annotated[
        int,
        typer.Option(
            metavar="N", help="loops inside one another at most", min=1, rich_help_panel=LIMITS
        ),
    ] = 24,
    loops: Annotated[
        int,
        typer.Option(metavar="N", help="loops of a program at most", min=1, rich_help_panel=LIMITS),
    ] = 400,
    certificate: Annotated[
        Path | None, typer.Option(help="TLS certificate, PEM", rich_help_panel=TLS)
    ] = None,
    key: Annotated[
        Path | None, typer.Option(help="its key, if in a file of its own", rich_help_panel=TLS)
    ] = None,
    proxied: Annotated[
        bool, typer.Option(help="a proxy on this machine is in front", rich_help_panel=TLS)
    ] = False,
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
        store=location_of(store),
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


def _profile(path: Path | None) -> Any:
    import json

    from loopbook.recipes.hardware import HardwareProfile

    if path is None:
        return None
    try:
        return HardwareProfile.from_json(json.loads(path.read_text()))
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read {path}: {error}") from None
