"""The explorer on a port of its own, and what `evaluate` writes that it shows."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.applications import Starlette

PREFIX = "/under/a/prefix"
"""Where `serving` has the explorer once more."""


@contextmanager
def serving(app: FastAPI) -> Iterator[str]:
    """The explorer over HTTP, at the address given and under a prefix of it."""
    import uvicorn
    from starlette.applications import Starlette
    from starlette.routing import Mount

    from loopbook.server.run import listen

    @asynccontextmanager
    async def lifespan(_: Starlette):
        async with app.router.lifespan_context(app):
            yield

    both = Starlette(routes=[Mount(PREFIX, app), Mount("/", app)], lifespan=lifespan)
    listener = listen("127.0.0.1", 0)
    config = uvicorn.Config(both, log_level="warning", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    while thread.is_alive() and not server.started:
        time.sleep(0.02)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        app.state.ending = True  # live pages hold their connections otherwise
        server.should_exit = True
        thread.join()
        listener.close()


NEST = {"tier": "near", "predicted": 3.0, "lower": 1.5}


def line(kernel: str, tuner: float, ours: float, holdout: str = "kernel") -> str:
    """Of the log of an evaluation."""

    def served(speedup: float) -> dict:
        return {"seconds": 1 / speedup, "docc_s": 1.0, "nests": [NEST], "error": ""}

    found = {"tuner": served(tuner), "ours 1": served(ours)}
    comparison = {"kernel": kernel, "target": "sequential", "preset": "S", "docc_s": 1.0}
    comparison["served"] = found
    return json.dumps({"key": kernel, "holdout": holdout, "comparison": comparison})
