"""All that was compiled of one function that docc reads, by case and scale of the arguments."""

from __future__ import annotations

import inspect
import os
import threading
from collections.abc import Callable, Hashable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from loopbook.client.variants.case import Case
from loopbook.client.variants.compiled import AGAIN, Build, Compiled, trace
from loopbook.client.variants.scale import SCALES
from loopbook.errors import (
    CompilerError,
    FolderError,
    IllegalStepError,
    LoweringError,
    RunError,
    SdfgError,
)
from loopbook.frontend.narrow import held_as
from loopbook.sdfg.traced import Traced
from loopbook.toolchain.one_child import one_child

MAX_VARIANTS = 64
"""Cases that are compiled for one function; more of them run as Python."""

MAX_ENTRIES = 1024
"""Shapes of arguments that the short way is remembered for."""

FAILURES = (SdfgError, LoweringError, IllegalStepError, CompilerError, FolderError, RunError)
"""For these a case runs as Python."""

Short = Callable[[Sequence[Any]], Any]
"""The short way for arguments of one `call_key`; gives `AGAIN` where it is the wrong one."""

_compiling = threading.RLock()


def compiling() -> threading.RLock:  # type: ignore[valid-type]
    """Held while anything is compiled: docc's frontend is quietened by a detour of stderr, which is
    the process's."""
    return _compiling


def _unlock() -> None:
    global _compiling
    _compiling = threading.RLock()


os.register_at_fork(after_in_child=_unlock)  # another thread may have held it


def call_key(args: Sequence[Any]) -> Hashable:
    """What of a call's arguments decides which short way is taken, found cheaply."""
    words = []
    for value in args:
        kind = type(value)
        if kind is np.ndarray:
            words.append(value.dtype)
            words.append(value.shape)
            words.append(value.flags.num)
        elif kind is str:
            words.append(value)
        else:
            words.append(kind)
    return tuple(words)


class Entries:
    """The short ways of one function.

    Attributes:
        python: where Python is the faster one, and what calls it. It reads what it needs from
            outside itself, and minds no overlap: nothing has to be looked at first.
    """

    def __init__(self) -> None:
        self.python: dict[Hashable, Callable[..., Any]] = {}
        self._known: dict[Hashable, Short] = {}

    def run(self, key: Hashable, args: Sequence[Any]) -> Any:
        """What the call gives, or `AGAIN` if there is no short way for it."""
        entry = self._known.get(key)
        if entry is None:
            return AGAIN
        try:
            return entry(args)
        except SdfgError:  # before anything was computed
            return AGAIN

    def get(self, key: Hashable) -> Short | None:
        """The short way that is known."""
        return self._known.get(key)

    def add(self, key: Hashable, entry: Short | None, *, over: bool = True) -> None:
        """Remember a short way, over another one or only where there is none."""
        if entry is not None and (over or key not in self._known):
            if len(self._known) >= MAX_ENTRIES:
                self._known.clear()
                self.python.clear()
            self._known[key] = entry

    def take(self, key: Hashable, python: Callable[..., Any] | None) -> None:
        """Call Python for such arguments, or do so no more."""
        if python is None:
            self.python.pop(key, None)
        elif key in self._known:
            self.python[key] = python


class Cases:
    """What was compiled of a function, case by case. A call runs it, or raises.

    Args:
        merges: whether an array that is written may be passed twice; the function is rewritten for
            that then.
        narrow: whether it takes arrays of narrow whole numbers, which docc is shown as words.
    """

    def __init__(
        self,
        func: Callable[..., Any],
        build: Build,
        *,
        merges: bool = True,
        narrow: bool = False,
    ) -> None:
        self.func = func
        self.last: Compiled | None = None
        self._build = build
        self._merges = merges
        self._narrow = narrow
        self._names = tuple(inspect.signature(func).parameters)
        self._entries = Entries()
        self._readings: dict[Hashable, Traced | Exception] = {}
        self._variants: dict[Hashable, Compiled | Exception] = {}

    def __call__(self, *args: Any) -> Any:
        """Run what was compiled for these arguments, or is now.

        Raises:
            LoopbookError: one of `FAILURES`; nothing was computed.
        """
        key = call_key(args)
        answer = self._entries.run(key, args)
        if answer is not AGAIN:
            return answer
        case = Case(self._names, args)
        variant = self.variant(case)
        answer = variant.run(case)
        if case.taken_as(args):
            self._entries.add(key, variant.entry(args))
        return answer

    def variant(self, case: Case, constants: Hashable = ()) -> Compiled:
        """What is run for a case, compiled if it has not been.

        Args:
            constants: what the function reads from outside.

        Raises:
            LoopbookError: whatever of `FAILURES` compiling this case raised, now or before.
        """
        known = (constants, case.key) in self._readings
        with nullcontext() if known else one_child():
            place, reading = self._place(case, constants)
            found = self._variants.get(place)
            if found is None:
                with _compiling:
                    found = self._variants.get(place)
                    if found is None:
                        found = self._variants[place] = self._made(case, reading)
        if isinstance(found, Exception):
            raise bare(found)
        return found

    def reads(self, case: Case, constants: Hashable = ()) -> bool:
        """Whether docc's front end makes anything of the function for such a case."""
        try:
            self._place(case, constants)
        except SdfgError:  # it may also be these very arrays that cannot be had
            return isinstance(self._readings.get((constants, case.key)), Traced)
        return True

    def anew(self, case: Case, folder: Path, constants: Hashable = ()) -> Compiled:
        """Compile a case into a folder, and run that from now on."""
        with one_child(), _compiling:
            place, reading = self._place(case, constants)
            self.last = Compiled(self.func, case, reading, self._build, folder)
            self._variants[place] = self.last
        return self.last

    def give_up(self, variant: Compiled, error: Exception) -> None:
        """Raise `error` from now on where a variant was run."""
        with _compiling:
            for place, known in self._variants.items():
                if known is variant:
                    self._variants[place] = error

    def _place(self, case: Case, constants: Hashable) -> tuple[Hashable, Traced]:
        if not self._narrow:
            case.check_types()
        known = (constants, case.key)
        reading = self._readings.get(known)
        if reading is None:
            with _compiling:
                reading = self._readings.get(known)
                if reading is None:
                    reading = self._readings[known] = self._reading(case)
        if isinstance(reading, Exception):
            raise bare(reading)
        case.check(reading.written)
        merging = case.merging(reading.written)
        if merging and not self._merges:
            raise SdfgError("an array that is written was passed twice")
        return (known, case.first if merging else None, case.scale), reading

    def _reading(self, case: Case) -> Traced | Exception:
        if len(self._readings) >= MAX_VARIANTS:
            raise too_many()
        try:
            return trace(self.func, in_words(case.args) if self._narrow else case.args)
        except SdfgError as error:
            return error

    def _made(self, case: Case, reading: Traced) -> Compiled | Exception:
        if len(self._variants) >= MAX_VARIANTS * SCALES:
            raise too_many()
        try:
            self.last = Compiled(self.func, case, reading, self._build)
        except FAILURES as error:
            return error
        return self.last


def in_words(args: Sequence[Any]) -> list[Any]:
    """A call's arguments with its narrow whole numbers as docc is shown them."""
    return [
        value.astype(held_as(value.dtype), copy=False) if isinstance(value, np.ndarray) else value
        for value in args
    ]


_Error = TypeVar("_Error", bound=Exception)


def bare(error: _Error) -> _Error:
    """An error without what it was raised through, which would keep all arguments of that call."""
    error.__cause__ = error.__context__ = None
    return error.with_traceback(None)


def too_many() -> SdfgError:
    return SdfgError(f"there are more than {MAX_VARIANTS} kinds of arguments already")
