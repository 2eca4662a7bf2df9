"""How a server is run, in one place."""

from __future__ import annotations

from dataclasses import dataclass, field

from loopbook.recipes.hardware import HardwareProfile, usable_cores


@dataclass(frozen=True)
class Limits:
    """What one request may ask for.

    Attributes:
        body_bytes: of a request's body.
        body_s: seconds in which all of it has to arrive.
        depth: loops inside one another.
        loops: of one program.
        nesting: brackets inside one another in the JSON text.
        rate: requests a second for each token, or address without one; 0 is no limit.
        burst: requests that may come at once.
    """

    body_bytes: int = 8 << 20
    body_s: float = 10.0
    depth: int = 24
    loops: int = 400
    nesting: int = 400
    rate: float = 0.0
    burst: int = 40


@dataclass(frozen=True)
class Settings:
    """One server.

    Attributes:
        store: path or URL of the book that is served and contributed to.
        starter: serve the starter book beneath it.
        workers: processes that look up and port.
        deadline_s: seconds in which every request is answered.
        waiting: requests that may wait for a worker; more are refused at once.
        anonymous: look-ups need no token.
        assumed_size: what the sizes of a program are taken to be where the client does not tell,
            as docc's does not; 0 takes nothing for granted, and recipes that lost at any size
            measured are not served then.
        hardware: the machines that recipes are served for; None is this one.
        refresh_s: how often to look for changes that other processes made.
        answers_bytes: memory for answers that are given again to the same question.
        programs_bytes: memory of a worker for programs that it has prepared, and as much for those
            that it has finished.
        worker_bytes: address space of a worker.
        worker_grown: resident bytes at which a worker is replaced.
        worker_jobs: jobs after which it is replaced.
    """

    store: str
    starter: bool = True
    workers: int = field(default_factory=usable_cores)
    deadline_s: float = 20.0
    waiting: int = 64
    anonymous: bool = False
    assumed_size: int = 2000
    hardware: HardwareProfile | None = None
    refresh_s: float = 1.0
    answers_bytes: int = 32 << 20
    programs_bytes: int = 8 << 20
    worker_bytes: int = 8 << 30
    worker_grown: int = 2 << 30
    worker_jobs: int = 20_000
    limits: Limits = field(default_factory=Limits)
