"""How a server is run, in one place."""

from __future__ import annotations

from dataclasses import dataclass, field

from loopbook.recipes.hardware import HardwareProfile
from loopbook.targets import usable_cores


@dataclass(frozen=True)
class Limits:
    """What one request may ask for.

    Attributes:
        body_bytes: of a request's body.
        bodies_bytes: of the bodies of all requests that are read or answered at the same time.
        body_s: seconds in which all of it has to arrive.
        depth: loops inside one another.
        loops: of one program.
        nesting: brackets inside one another in the JSON text.
        parsed: bytes of memory that its values take.
        rate: requests a second for each token, or address without one; 0 is no limit.
        burst: requests that may come at once.
        effort: seconds of a worker's time that each may take in a second; 0 is no limit.
        effort_burst: seconds that each may take at once. Who has taken more waits until that is
            made up for.
    """

    body_bytes: int = 8 << 20
    bodies_bytes: int = 32 << 20
    body_s: float = 10.0
    depth: int = 24
    loops: int = 400
    nesting: int = 400
    parsed: int = 64 << 20
    rate: float = 100.0
    burst: int = 1000
    effort: float = 0.5
    effort_burst: float = 120.0


@dataclass(frozen=True)
class Settings:
    """One server.

    Attributes:
        store: path or URL of the book that is served and contributed to.
        starter: serve the starter book beneath it.
        workers: processes that look up and port. One caller holds all but one of them at most,
            therefore there is one more than cores.
        deadline_s: seconds in which every request is answered.
        held_s: seconds after which a request is given up if somebody waits who has no worker.
        waiting: requests that may wait for a worker, half of them for the same caller; more are
            refused at once.
        anonymous: look-ups need no token.
        keep_nests: nests that the book has nothing for are kept in its queue of work, to be tuned.
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
    workers: int = field(default_factory=lambda: usable_cores() + 1)
    deadline_s: float = 20.0
    held_s: float = 5.0
    waiting: int = 64
    anonymous: bool = False
    keep_nests: bool = True
    assumed_size: int = 2000
    hardware: HardwareProfile | None = None
    refresh_s: float = 1.0
    answers_bytes: int = 32 << 20
    programs_bytes: int = 8 << 20
    worker_bytes: int = 8 << 30
    worker_grown: int = 2 << 30
    worker_jobs: int = 20_000
    limits: Limits = field(default_factory=Limits)
