"""Finds for each call what was compiled for its case, or compiles it, or runs Python."""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import MethodType
from typing import Any

import numpy as np

from loopbook.alarm import is_limited
from loopbook.client.variants.case import Case
from loopbook.client.variants.cases import (
    FAILURES,
    MAX_VARIANTS,
    Cases,
    Entries,
    Short,
    bare,
    call_key,
    too_many,
)
from loopbook.client.variants.checked import check
from loopbook.client.variants.compiled import AGAIN, Build, Compiled
from loopbook.client.variants.constants import Constants
from loopbook.client.variants.layouts import Layout, Record, Wanted, fits, items, stored_into
from loopbook.client.variants.looped import Looped
from loopbook.client.variants.mixed import mixed, with_library
from loopbook.client.variants.own_objects import OwnObjects, without_objects
from loopbook.client.variants.positional import positional
from loopbook.client.variants.rival import Rival
from loopbook.client.variants.short_ways import (
    RunsAsPythonError,
    Take,
    as_python,
    leaving_out,
    refusing,
    taking,
)
from loopbook.client.variants.stored import put_back
from loopbook.client.variants.translations import Translations
from loopbook.client.variants.unpacked import unpacked
from loopbook.errors import InterpretedWarning, LoopbookError, SdfgError, WrongResultError
from loopbook.sdfg.build import build_baseline
from loopbook.sdfg.traced import Traced
from loopbook.toolchain.circles import seldom_searched

Variant = Compiled | Looped
LIBRARY = "it leaves linear algebra of large arrays to NumPy"
"""Why a function may run in part as Python although it could be compiled."""

OFTEN = 16
"""As often an error has come for some arguments that other numbers are no reason to look again: it
takes longer than what a loop calls."""


class Dispatcher:
    """One Python function and all that was compiled for it.

    A function of loops goes to docc as it is; one of array expressions, or with indices that may be
    negative, as the loops that `loopbook.frontend` makes of it.

    Args:
        build: compiles the function as it is.
        build_loops: compiles the loops that were made of it; `build` if not given.

    Attributes:
        func: the function itself, the reference for everything.
    """

    def __init__(
        self,
        func: Callable[..., Any],
        build: Build,
        build_loops: Build | None = None,
        *,
        strict: bool = False,
        check: bool = False,
    ) -> None:
        self.func = func
        self._strict = strict
        self._check = check
        self._inner = False
        self._recent: tuple[tuple[Layout, ...], Dispatcher] | None = None
        self._name = getattr(func, "__name__", "the function")
        self._signature = inspect.signature(func)
        self._wanted = Wanted(func, self._signature)
        self._constants = Constants(func)
        self._by_place = positional(func)
        self._cases = Cases(self._by_place, build)
        self._translations = Translations(self._by_place, build_loops or build)
        self._builds = build, build_loops
        self._unpacked: dict[tuple[Layout, ...], Dispatcher | LoopbookError] = {}
        self._last: Dispatcher | None = None
        self._entries = Entries()
        self._failed: dict[Hashable, tuple[Exception, int, tuple[int, ...], Short | None]] = {}
        self._said: set[str] = set()
        self._pythons: dict[str, Callable[..., Any]] = {}
        self._looks = True
        self._without: tuple[OwnObjects, Dispatcher] | None = None

    @property
    def last(self) -> Variant | None:
        """What was compiled last."""
        if self._last is not None:
            return self._last.last
        return self._translations.last or self._cases.last

    def __get__(self, owner: Any, kind: type | None = None) -> Any:
        """As functions are methods of the objects that they are looked up in."""
        return self if owner is None else MethodType(self, owner)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function itself would return and write."""
        if self._without is not None:
            own, dispatcher = self._without
            return dispatcher(*args, **kwargs) if own.holds() else self.func(*args, **kwargs)
        if kwargs:
            return self._long_way(args, kwargs, None)
        if self._recent is not None:
            layouts, dispatcher = self._recent
            if len(args) == len(layouts) and all(map(fits, args, layouts)):
                return self._with_items(dispatcher, layouts, args, args, kwargs)
        key = call_key(args)
        python = self._entries.python.get(key)
        if python is not None:
            return python(*args)
        if self._constants.unchanged() and not self._constants.may_share(args):
            answer = self._entries.run(key, args)
            if answer is not AGAIN:
                return answer
        return self._long_way(args, kwargs, key)

    def compiled(self, args: Sequence[Any], folder: Path | None = None) -> Variant:
        """What is run for these arguments, compiled if it has not been.

        Args:
            folder: compile it anew, there.

        Raises:
            LoopbookError: if nothing can be compiled for them.
        """
        try:
            bound = self._signature.bind(*args)
        except TypeError as error:
            raise SdfgError(f"{self._name}(): {error}") from None
        bound.apply_defaults()
        given = tuple(bound.arguments.values())
        if (layouts := self._wanted.packed(given)) is not None:
            return self._taking_items(layouts).compiled(items(given, layouts), folder)
        return self._variant(self._case(bound), folder)

    # -- the long way ---------------------------------------------------------------------------

    def _long_way(self, args: Sequence[Any], kwargs: Any, key: Hashable) -> Any:
        if self._looks:
            self._looks = False
            if (own := without_objects(self.func)) is not None:
                made = Dispatcher(
                    own.function, *self._builds, strict=self._strict, check=self._check
                )
                made._inner, made._looks, made._name = self._inner, False, self._name
                self._without = own, made
                return self(*args, **kwargs)
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError:
            return self.func(*args, **kwargs)  # Python's own words for what is wrong
        bound.apply_defaults()
        if is_limited():  # Python is looked at, and compiling is none of what it would do
            return self.func(*args, **kwargs)
        given = tuple(bound.arguments.values())
        try:
            layouts = self._wanted.packed(given)
            taking_items = None if layouts is None else self._taking_items(layouts)
        except FAILURES as error:
            return self._interpreted(str(error), args, kwargs)
        if layouts is not None and taking_items is not None:
            several = sum(isinstance(form, Record) for form in layouts) > 1
            stores = several and any(isinstance(f, Record) and f.stored for f in layouts)
            fixed = self._wanted.count == len(layouts) and not stores
            self._recent = (layouts, taking_items) if fixed else None
            return self._with_items(taking_items, layouts, given, args, kwargs)
        if not self._constants.unchanged():
            self._entries = Entries()  # the short ways were those of other constants
        entries = self._entries
        if not (self._strict or self._inner) and (python := self._with_library(bound)) is not None:
            if key is not None:
                entries.add(key, lambda args: python(*args), over=False)
            return python(*args, **kwargs)
        try:
            case = self._case(bound)
            variant = self._variant(case)
            if self._is_trusted(variant, case):
                answer = variant.run(case)
                if key is not None:
                    entries.add(key, self._short(variant, case, args, partial(entries.take, key)))
                return answer
        except FAILURES as error:
            # It may be kept, and would keep this call's arguments with what it came through.
            reason = str(bare(error))
            if key is not None and not self._strict:
                self._failing(key, args, error)
        else:
            return self._checked(variant, case, args, kwargs)
        return self._interpreted(reason, args, kwargs)

    def _with_items(
        self,
        dispatcher: Dispatcher,
        layouts: Sequence[Layout],
        given: Sequence[Any],
        args: Sequence[Any],
        kwargs: Any,
    ) -> Any:
        """A call with what is in arguments of these layouts; as Python with themselves."""
        if is_limited():
            return self.func(*args, **kwargs)
        try:
            answer = dispatcher(*items(given, layouts))
        except RunsAsPythonError as error:
            return self._interpreted(str(error), args, kwargs)
        owners = stored_into(given, layouts)
        return put_back(answer, owners) if owners else answer

    def _failing(self, key: Hashable, args: Sequence[Any], error: Exception) -> None:
        """Take the short way to Python where the very same error, which is kept then, comes again
        for such arguments; whatever numbers are among them that it has come for again and again."""
        known, times, first, short = self._failed.get(key, (None, 0, (), None))
        if known is not error:
            if len(self._failed) >= MAX_VARIANTS:
                self._failed.clear()
            whole = tuple(value for value in args if type(value) is int)
            self._failed[key] = error, 1, whole, None
            return
        python = self._pythons.get(str(error), self.func)
        python = refusing(str(error)) if self._inner else python
        over = times >= OFTEN and self._entries.get(key) is short
        if over or short is None:
            same = first == tuple(value for value in args if type(value) is int)
            unasked = (float, np.float64) if same else (float, np.float64, int)
            short = as_python(python, args, *(unasked if over else ()))
            self._entries.add(key, short, over=over)
        self._failed[key] = error, times + 1, first, short

    def _short(
        self,
        variant: Variant,
        case: Case,
        args: Sequence[Any],
        take: Take,
    ) -> Short | None:
        """The short way for calls like this one, which may leave out what has a default.

        Args:
            take: is given what is to be called instead, should Python be faster, and None when it
                is no more.
        """
        rest = case.args[len(args) :]
        given = (*args, *rest)
        if not case.taken_as(given):
            return None
        if any(isinstance(value, np.ndarray) for value in rest):
            return None  # an array that all calls have may be stored into
        if isinstance(variant, Compiled) or self._strict:
            entry = variant.entry(given)
        else:
            taken = taking(rest, take) if rest else take
            rival = Rival(self._by_place, self._warn, variant.read_only, taken)
            entry = variant.entry(given, rival)
        return leaving_out(rest, entry) if rest and entry is not None else entry

    def _taking_items(self, layouts: tuple[Layout, ...]) -> Dispatcher:
        """The same for calls with tuples, given their items."""
        found = self._unpacked.get(layouts)
        if isinstance(found, LoopbookError):
            raise found
        if found is None:
            if len(self._unpacked) >= MAX_VARIANTS:
                raise too_many()
            try:
                func = unpacked(self.func, layouts)
            except LoopbookError as error:
                self._unpacked[layouts] = bare(error)
                raise
            found = Dispatcher(func, *self._builds, strict=self._strict, check=self._check)
            found._inner = True
            self._unpacked[layouts] = found
        self._last = found
        return found

    def _case(self, bound: inspect.BoundArguments) -> Case:
        return Case(tuple(self._signature.parameters), tuple(bound.arguments.values()))

    def _variant(self, case: Case, folder: Path | None = None) -> Variant:
        """Raises whatever of `FAILURES` compiling this case raised, now or before."""
        with seldom_searched():
            return self._found(case, folder)

    def _found(self, case: Case, folder: Path | None) -> Variant:
        self._last = None
        constants = self._constants.key()
        if self._constants.may_share(case.args):
            raise SdfgError("an argument may be an array that it reads from outside as well")
        looped = self._translations.find(case, constants, folder)
        if looped is None and not self._cases.reads(case, constants):
            with suppress(*FAILURES):  # then docc's own reason is the one to be told
                looped = self._translations.find(case, constants, folder, loops_too=True)
        if looped is not None:
            return looped
        if folder is not None:
            return self._cases.anew(case, folder, constants)
        return self._cases.variant(case, constants)

    # -- Python ---------------------------------------------------------------------------------

    def _interpreted(self, reason: str, args: Sequence[Any], kwargs: Any) -> Any:
        if self._inner:
            raise RunsAsPythonError(reason)
        if self._strict:
            raise SdfgError(f"{self._name} would run as Python: {reason}")
        if reason not in self._pythons and len(self._pythons) < MAX_VARIANTS:
            self._pythons[reason] = self._mixed(args, kwargs)
        python = self._pythons.get(reason, self.func)
        self._warn(reason, "as plain Python" if python is self.func else "in part as plain Python")
        return python(*args, **kwargs)

    def _with_library(self, bound: inspect.BoundArguments) -> Callable[..., Any] | None:
        """What leaves linear algebra of large arrays to NumPy; None where there is none."""
        if LIBRARY not in self._pythons:
            made = with_library(self.func, bound.arguments, self._compiling)
            if made is None:
                return None
            self._pythons[LIBRARY] = made
        return self._pythons[LIBRARY]

    def _compiling(self, part: Callable[..., Any]) -> Dispatcher:
        return Dispatcher(part, *self._builds, check=self._check)

    def _mixed(self, args: Sequence[Any], kwargs: Any) -> Callable[..., Any]:
        """The function with compiled parts (`loopbook.client.variants.mixed`), or itself."""
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError:
            return self.func
        bound.apply_defaults()
        return mixed(self.func, bound.arguments, self._compiling)

    def _warn(self, reason: str, how: str = "as plain Python") -> None:
        if reason not in self._said and len(self._said) < MAX_VARIANTS:
            self._said.add(reason)
            text = f"{self._name} runs {how}: {reason}"
            warnings.warn(text, InterpretedWarning, stacklevel=_outside())

    def _is_trusted(self, variant: Variant, case: Case) -> bool:
        """Whether it is run without a look at Python's numbers."""
        if self._check:  # what is compiled for another scale has other recipes
            return case.scale in variant.verified
        return bool(variant.verified) or not variant.unproven

    def _checked(self, variant: Variant, case: Case, args: Sequence[Any], kwargs: Any) -> Any:
        try:
            answer, wrong = check(
                self._by_place, case, variant.run, lambda: variant.rebuilt(case, _unoptimised).run
            )
        except SdfgError as error:  # before anything was computed
            return self._interpreted(str(bare(error)), args, kwargs)
        if not wrong:
            variant.verified.add(case.scale)
            return answer
        error = WrongResultError(f"compiled code gives other numbers: {wrong}")
        if isinstance(variant, Looped):
            self._translations.give_up(variant, error)
        else:
            self._cases.give_up(variant, error)
        if self._strict:
            raise error
        self._warn(str(error))
        return answer


def _unoptimised(reading: Traced, args: Sequence[Any], folder: Path) -> Sequence[Path]:
    return [build_baseline(reading.text, "none", folder).library]


def _outside() -> int:
    """How far up the caller's caller outside of this package is, as `warnings.warn` counts."""
    frame, level = sys._getframe(2), 2
    while frame is not None and frame.f_globals.get("__name__", "").startswith("loopbook."):
        frame, level = frame.f_back, level + 1
    return level
