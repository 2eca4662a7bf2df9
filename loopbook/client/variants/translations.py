"""A function as loops, for each kind of its arguments, if it is not loops already."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any

from loopbook.client.variants.case import Case
from loopbook.client.variants.cases import FAILURES, MAX_VARIANTS, bare, compiling, too_many
from loopbook.client.variants.compiled import Build
from loopbook.client.variants.looped import Looped, kind
from loopbook.frontend import translated

MAX_TRANSLATIONS = 8
"""For arguments of one kind: translations may depend on numbers, which may always be new ones."""


class Translations:
    """All that was compiled of a function's loops.

    Attributes:
        last: what was translated last.
    """

    def __init__(self, func: Callable[..., Any], build: Build) -> None:
        self.last: Looped | None = None
        self._func = func
        self._build = build
        self._looped: dict[Hashable, list[Looped]] = {}
        self._settled: dict[Hashable, Exception | None] = {}

    def find(
        self, case: Case, constants: Hashable = (), folder: Path | None = None
    ) -> Looped | None:
        """What is run for a case, translated and compiled if it has not been.

        Args:
            constants: what the function reads from outside.
            folder: compile it anew, there.

        Returns:
            None if the function is loops already.

        Raises:
            LoweringError: it holds what has no form in loops, or loops gave other numbers.
            LoopbookError: another of `FAILURES`, from compiling them.
        """
        place = (constants, kind(case))
        found = None if folder else self._fitting(place, case)
        if found is None and place not in self._settled:
            with compiling():
                found = None if folder else self._fitting(place, case)
                if found is None and place not in self._settled:
                    found = self._add(place, case)
        if found is None:
            if (error := self._settled[place]) is not None:
                raise bare(error)
        elif folder is not None or not found.is_compiled:
            with compiling():
                found.compile(case, folder)
            self.last = found
        return found

    def give_up(self, looped: Looped, error: Exception) -> None:
        """Raise `error` from now on where these loops were run."""
        with compiling():
            for place, known in self._looped.items():
                if looped in known:
                    known.remove(looped)
                    self._settled[place] = error

    def _fitting(self, place: Hashable, case: Case) -> Looped | None:
        return next((one for one in self._looped.get(place, ()) if one.holds(case)), None)

    def _add(self, place: Hashable, case: Case) -> Looped | None:
        known = self._looped.setdefault(place, [])
        if len(self._looped) > MAX_VARIANTS or len(known) >= MAX_TRANSLATIONS:
            raise too_many()
        try:
            # What is the same array is the same object, and nothing else.
            args = [case.args[place] for place in case.first]
            lowered = translated(self._func, args, loops_too=not case.fits_docc)
            if lowered is not None:
                known.insert(0, Looped(self._func, lowered, self._build, case))
                return known[0]
            self._settled[place] = None
        except FAILURES as error:
            self._settled[place] = error
        return None
