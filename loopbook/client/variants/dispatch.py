"""Finds for each call what was compiled for its case, or compiles it, or runs Python."""

from __future__ import annotations

import inspect
import os
import sys
import threading
import warnings
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from loopbook.client.variants.case import Case
from loopbook.client.variants.checked import check
from loopbook.client.variants.compiled import AGAIN, Build, Compiled, Entry, trace
from loopbook.client.variants.constants import Constants
from loopbook.errors import (
    CompilerError,
    FolderError,
    IllegalStepError,
    InterpretedWarning,
    RunError,
    SdfgError,
    WrongResultError,
)
from loopbook.sdfg.build import build_baseline
from loopbook.sdfg.traced import Traced

MAX_VARIANTS = 64
"""Cases that are compiled for one function; more of them run as Python."""

MAX_ENTRIES = 1024
"""Shapes of arguments that the short way is remembered for."""

FAILURES = (SdfgError, IllegalStepError, CompilerError, FolderError, RunError)
"""For these a case runs as Python."""

_compiling = threading.RLock()
"""Held while anything is compiled: docc's frontend is quietened by a detour of stderr, which is
the process's."""


def _unlock() -> None:
    global _compiling
    _compiling = threading.RLock()


os.register_at_fork(after_in_child=_unlock)  # another thread may have held it


class Dispatcher:
    """One Python function and all that was compiled for it.

    Attributes:
        func: the function itself, the reference for everything.
        last: what was compiled last.
    """

    def __init__(
        self, func: Callable[..., Any], build: Build, *, strict: bool = False, check: bool = False
    ) -> None:
        self.func = func
        self.last: Compiled | None = None
        self._build = build
        self._strict = strict
        self._check = check
        self._name = getattr(func, "__name__", "the function")
        self._signature = inspect.signature(func)
        kinds = {p.kind for p in self._signature.parameters.values()}
        self._positional = not kinds - {
            inspect.Parameter.POSITIONAL_ONLY,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
        }
        self._constants = Constants(func)
        self._entries: dict[Hashable, Entry] = {}
        self._readings: dict[Hashable, Traced | Exception] = {}
        self._variants: dict[Hashable, Compiled | Exception] = {}
        self._said: set[str] = set()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function itself would return and write."""
        if kwargs:
            return self._long_way(args, kwargs, None)
        words = []
        for value in args:
            kind = type(value)
            if kind is np.ndarray:
                words.append(value.dtype)
                words.append(value.shape)
                words.append(value.flags.num)
            else:
                words.append(kind)
        key = tuple(words)
        entry = self._entries.get(key)
        if entry is not None and self._constants.unchanged():
            try:
                answer = entry(args)
            except SdfgError:  # before anything was computed
                answer = AGAIN
            if answer is not AGAIN:
                return answer
        return self._long_way(args, kwargs, key)

    def compiled(self, args: Sequence[Any], folder: Path | None = None) -> Compiled:
        """What is run for these arguments, compiled if it has not been.

        Args:
            folder: compile it anew, there.

        Raises:
            LoopbookError: if nothing can be compiled for them.
        """
        case = self._case(args)
        if folder is None:
            return self._variant(case)
        with _compiling:
            reading = self._reading((self._constants.key(), case.key), case)
            case.check(reading.written)
            self.last = Compiled(self.func, case, reading, self._build, folder)
            return self.last

    # -- the long way ---------------------------------------------------------------------------

    def _long_way(self, args: Sequence[Any], kwargs: Any, key: Hashable) -> Any:
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError:
            return self.func(*args, **kwargs)  # Python's own words for what is wrong
        bound.apply_defaults()
        entries = self._entries if self._constants.unchanged() else self._forgotten()
        try:
            case = self._case(bound.args)
            variant = self._variant(case)
            if not self._check or variant.verified:
                answer = variant.run(case)
                self._remember(entries, key, variant, case, args)
                return answer
        except FAILURES as error:
            return self._interpreted(str(error), args, kwargs)
        return self._checked(variant, case)

    def _forgotten(self) -> dict[Hashable, Entry]:
        """Short ways from now on; those of other constants are gone."""
        self._entries = {}
        return self._entries

    def _case(self, args: Sequence[Any]) -> Case:
        if not self._positional:
            raise SdfgError("only functions with a fixed number of positional arguments compile")
        return Case(tuple(self._signature.parameters), args)

    def _remember(
        self,
        entries: dict[Hashable, Entry],
        key: Hashable,
        variant: Compiled,
        case: Case,
        args: Sequence[Any],
    ) -> None:
        same = len(args) == len(case.args) and all(map(_is, args, case.args))
        if key is None or case.foreign or not same:
            return
        entry = variant.entry(args)
        if entry is not None:
            if len(entries) >= MAX_ENTRIES:
                entries.clear()
            entries[key] = entry

    def _variant(self, case: Case) -> Compiled:
        """Raises whatever of `FAILURES` compiling this case raised, now or before."""
        known = (self._constants.key(), case.key)
        reading = self._readings.get(known)
        if reading is None:
            with _compiling:
                reading = self._reading(known, case)
        if isinstance(reading, Exception):
            raise reading
        case.check(reading.written)
        place = (known, case.first if case.merging(reading.written) else None)
        found = self._variants.get(place)
        if found is None:
            with _compiling:
                found = self._variants.get(place)
                if found is None:
                    found = self._variants[place] = self._made(case, reading)
        if isinstance(found, Exception):
            raise found
        return found

    def _reading(self, known: Hashable, case: Case) -> Traced:
        reading = self._readings.get(known)
        if reading is None:
            if len(self._readings) >= MAX_VARIANTS:
                raise _too_many()
            try:
                reading = trace(self.func, case.args)
            except SdfgError as error:
                reading = error
            self._readings[known] = reading
        if isinstance(reading, Exception):
            raise reading
        return reading

    def _made(self, case: Case, reading: Traced) -> Compiled | Exception:
        if len(self._variants) >= MAX_VARIANTS:
            raise _too_many()
        try:
            self.last = Compiled(self.func, case, reading, self._build)
        except FAILURES as error:
            return error
        return self.last

    # -- Python ---------------------------------------------------------------------------------

    def _interpreted(self, reason: str, args: Sequence[Any], kwargs: Any) -> Any:
        if self._strict:
            raise SdfgError(f"{self._name} would run as Python: {reason}")
        self._warn(reason)
        return self.func(*args, **kwargs)

    def _warn(self, reason: str) -> None:
        if reason not in self._said and len(self._said) < MAX_VARIANTS:
            self._said.add(reason)
            text = f"{self._name} runs as plain Python: {reason}"
            warnings.warn(text, InterpretedWarning, stacklevel=_outside())

    def _checked(self, variant: Compiled, case: Case) -> Any:
        def plain() -> Callable[[Case], Any]:
            def build(reading: Traced, args: Sequence[Any], folder: Path) -> Path:
                return build_baseline(reading.text, "none", folder).library

            with _compiling:
                reading = self._reading((self._constants.key(), case.key), case)
                return Compiled(self.func, case, reading, build).run

        answer, wrong = check(self.func, case, variant.run, plain)
        if not wrong:
            variant.verified = True
            return answer
        error = WrongResultError(f"compiled code gives other numbers: {wrong}")
        with _compiling:
            for place, known in self._variants.items():
                if known is variant:
                    self._variants[place] = error
        if self._strict:
            raise error
        self._warn(str(error))
        return answer


def _outside() -> int:
    """How far up the caller's caller outside of this package is, as `warnings.warn` counts."""
    frame, level = sys._getframe(2), 2
    while frame is not None and frame.f_globals.get("__name__", "").startswith("loopbook."):
        frame, level = frame.f_back, level + 1
    return level


def _is(one: Any, other: Any) -> bool:
    return one is other


def _too_many() -> SdfgError:
    return SdfgError(f"there are more than {MAX_VARIANTS} kinds of arguments already")
