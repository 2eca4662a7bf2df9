"""Who builds candidates: a process of this machine's, or somebody on another one.

Either takes a recipe and gives a library and the hash of its code. Another machine is reached
through a door of the jail that the search is in (`loopbook.toolchain.jail.doors`); there, the same
is done in a jail of its own (`built_elsewhere`).
"""

from __future__ import annotations

import base64
import json
import os
import select
import tempfile
import time
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Protocol

import msgspec

from loopbook.errors import InputError, JailError, KernelError, LoopbookError
from loopbook.recipes._data import Data, Text
from loopbook.sdfg.build import BUILD_BYTES, build_once, build_tuned
from loopbook.sdfg.transformed import Recipes
from loopbook.toolchain import jail
from loopbook.toolchain.built import Built
from loopbook.toolchain.jail.doors import MOST_ANSWER, MOST_REQUEST, Door
from loopbook.toolchain.worker import Worker

AWAY_SECONDS = 40.0
"""A builder elsewhere may take so long, the way and the wait for its turn included; after that the
candidate is built here."""

MOST_LIBRARY = 12 << 20
"""Bytes of a library that is sent."""


class Builder(Protocol):
    """Builds one candidate at a time. ``select`` takes it.

    Attributes:
        cores: of this machine that it works on; none for one that is elsewhere.
        killed: the last candidate was not to blame for what became of it.
        pid: of its process here, 0 if there is none.
    """

    cores: frozenset[int]
    killed: bool
    pid: int

    def fileno(self) -> int: ...

    def send(
        self,
        text: str,
        target: str,
        recipes: Recipes,
        folder: Path,
        lenient: bool,
        codes: Path,
        /,
        *,
        seconds: float,
    ) -> None:
        """Begin to build; see `loopbook.sdfg.build.build_once`."""
        ...

    @property
    def gone(self) -> bool:
        """Whether it will never build anything again."""
        ...

    @property
    def paused(self) -> bool: ...

    @property
    def over(self) -> bool:
        """Whether `receive` would not wait."""
        ...

    def left(self) -> float:
        """Seconds that it may still take."""
        ...

    def receive(self) -> Built:
        """What was built.

        Raises:
            LoopbookError: nothing was.
        """
        ...

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    def close(self) -> None: ...


class Here(Worker[Built]):
    """A process of this machine's that builds."""

    gone = False

    def __init__(self, cores: Collection[int]) -> None:
        super().__init__(build_once, cores=cores, memory=BUILD_BYTES, what="the compile")


@dataclass(frozen=True)
class Order(Data):
    """A candidate to build elsewhere.

    Attributes:
        text: the prepared program's SDFG.
        recipes: nest position, as text, to its steps.
        march: instruction set to build for (`loopbook.toolchain.compiler`).
    """

    what = "a candidate to build"

    text: Annotated[str, msgspec.Meta(max_length=MOST_REQUEST)]
    target: Annotated[str, msgspec.Meta(max_length=40)]
    recipes: dict[str, list[tuple[str, list[str | int]]]]
    lenient: bool
    march: Annotated[str, msgspec.Meta(max_length=4000)]


@dataclass(frozen=True)
class Sent(Data):
    """A library and what is known of it, as `Built`."""

    what = "a library that was built elsewhere"

    library: Annotated[str, msgspec.Meta(max_length=MOST_ANSWER)]
    code: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{32}\Z")]
    owners: dict[str, int]
    recipes: dict[str, list[tuple[Text, list[str | int]]]]
    seconds: tuple[float, float]


class Away:
    """A builder on another machine, behind a door of this jail. It is `gone` when the door is shut,
    or an answer did not come in time.

    Args:
        march: instruction set of this machine, in words that any compiler understands.
        seconds: that an answer may take.
    """

    cores: frozenset[int] = frozenset()
    pid = 0
    paused = False

    def __init__(self, door: Door, march: str, seconds: float = AWAY_SECONDS) -> None:
        self._door, self._march, self._seconds = door, march, seconds
        self._deadline = 0.0
        self._folder = Path()
        self.killed = self.gone = False

    def fileno(self) -> int:
        return self._door.fileno()

    def send(
        self,
        text: str,
        target: str,
        recipes: Recipes,
        folder: Path,
        lenient: bool,
        codes: Path,
        /,
        *,
        seconds: float,
    ) -> None:
        plan = {str(place): [(op, list(args)) for op, args in r] for place, r in recipes.items()}
        order = Order(text, target, plan, lenient, self._march)
        self._folder, self.killed = folder, False
        self._deadline = time.monotonic() + self._seconds
        self._door.ask(json.dumps(order.to_json()).encode())

    @property
    def over(self) -> bool:
        return self.left() == 0.0 or _readable(self._door)

    def left(self) -> float:
        return max(0.0, self._deadline - time.monotonic())

    def receive(self) -> Built:
        payload = self._door.answer(self._deadline)
        if payload is None:
            self.killed = self.gone = True
            self._door.shut()
            raise KernelError("the builder elsewhere is gone")
        try:
            told = json.loads(payload)
        except (ValueError, RecursionError):
            raise InputError("the builder elsewhere sent something that is no answer") from None
        if isinstance(told, dict) and told.keys() == {"kind", "error"}:
            raise jail.met(told["kind"], told["error"])
        return _unpacked(Sent.from_json(told), self._folder)

    def pause(self) -> None:
        """It is in nobody's way here."""

    def resume(self) -> None:
        """It was never paused."""

    def close(self) -> None:
        if not self.gone:
            self.gone = True
            self._door.shut()


def _readable(door: Door) -> bool:
    return bool(select.select([door], [], [], 0)[0])


def _unpacked(sent: Sent, folder: Path) -> Built:
    folder.mkdir(parents=True, exist_ok=True)
    library = folder / "away.so"
    try:
        library.write_bytes(base64.b64decode(sent.library, validate=True))
        owners = {int(element): place for element, place in sent.owners.items()}
        recipes = {
            int(place): tuple((op, tuple(args)) for op, args in steps)
            for place, steps in sent.recipes.items()
        }
    except ValueError:
        raise InputError("the builder elsewhere sent no library") from None
    return Built(library, sent.code, owners, recipes, sent.seconds)


# Elsewhere


def built_elsewhere(request: bytes, *, seconds: float) -> bytes:
    """What the door of a search's jail is told: the library, or why there is none. The request is
    read, and its program compiled, in a jail of this machine.

    Raises:
        JailError: this machine has no jails.
    """
    given = base64.b64encode(request).decode()
    limits = jail.Limits(seconds=seconds, memory=BUILD_BYTES, answer=MOST_ANSWER)
    job = f"{__name__}:{jailed.__name__}"
    try:
        told = jail.call(job, given, limits=limits, what="the compile")
        if not isinstance(told, str):
            raise KernelError("the compile sent something that is no library")
    except JailError:
        raise
    except LoopbookError as error:
        return json.dumps({"kind": type(error).__name__, "error": str(error)}).encode()
    return told.encode()


def jailed(given: Any) -> str:
    """Build what was ordered; to be called in a jail."""
    if not isinstance(given, str):
        raise InputError("this is no request")
    try:
        order = Order.from_json(json.loads(base64.b64decode(given)))
        recipes = {
            int(place): tuple((op, tuple(args)) for op, args in steps)
            for place, steps in order.recipes.items()
        }
    except ValueError:
        raise InputError("this is no candidate to build") from None
    os.environ["LOOPBOOK_MARCH"] = order.march
    with tempfile.TemporaryDirectory() as folder:
        place, lenient = Path(folder) / "c", order.lenient
        built = build_tuned(order.text, order.target, recipes, place, timers=True, lenient=lenient)
        library = built.library.read_bytes()
    if len(library) > MOST_LIBRARY:
        raise InputError("the library is too large to be sent")
    sent = Sent(
        base64.b64encode(library).decode(),
        built.code,
        {str(element): place for element, place in built.owners.items()},
        {
            str(place): [(op, list(args)) for op, args in steps]
            for place, steps in built.recipes.items()
        },
        built.seconds,
    )
    return json.dumps(sent.to_json())
