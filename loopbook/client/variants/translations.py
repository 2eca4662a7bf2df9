"""A function as loops, for each kind of its arguments, if it is not loops already."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any

import numpy as np

from loopbook.client.variants.case import EMPTY, Case
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
        self._failed: dict[Hashable, dict[Hashable, Exception]] = {}

    def find(
        self,
        case: Case,
        constants: Hashable = (),
        folder: Path | None = None,
        *,
        loops_too: bool = False,
    ) -> Looped | None:
        """What is run for a case, translated and compiled if it has not been.

        Args:
            constants: what the function reads from outside.
            folder: compile it anew, there.
            loops_too: translate it even if it is loops already.

        Returns:
            None if the function is loops already.

        Raises:
            LoweringError: it holds what has no form in loops, or loops gave other numbers.
            LoopbookError: another of `FAILURES`, from compiling them.
        """
        place = (constants, kind(case), loops_too)
        found = None if folder else self._fitting(place, case)
        if found is None and not self._is_settled(place, case):
            with compiling():
                found = None if folder else self._fitting(place, case)
                if found is None and not self._is_settled(place, case):
                    found = self._add(place, case, loops_too or not case.fits_docc)
        if found is None:
            error = self._failed.get(place, {}).get(sizes(case)) or self._settled[place]
            if error is not None:
                raise bare(error)
        elif folder is not None or not found.is_compiled:
            with compiling():
                found.compile(case, folder)
            self.last = found
        return found

    def _is_settled(self, place: Hashable, case: Case) -> bool:
        """Whether it is known that there is nothing for a case: of its kind, or of its sizes."""
        return place in self._settled or sizes(case) in self._failed.get(place, {})

    def give_up(self, looped: Looped, error: Exception) -> None:
        """Raise `error` from now on where these loops were run."""
        with compiling():
            for place, known in self._looped.items():
                if looped in known:
                    known.remove(looped)
                    self._settled[place] = error

    def _fitting(self, place: Hashable, case: Case) -> Looped | None:
        return next((one for one in self._looped.get(place, ()) if one.holds(case)), None)

    def _add(self, place: Hashable, case: Case, loops_too: bool) -> Looped | None:
        known = self._looped.setdefault(place, [])
        if len(self._looped) > MAX_VARIANTS or len(known) >= MAX_TRANSLATIONS:
            raise too_many()
        try:
            # What is the same array is the same object, and nothing else.
            args = [case.args[place] for place in case.first]
            lowered = translated(self._func, args, loops_too=loops_too)
            if lowered is not None:
                known.insert(0, Looped(self._func, lowered, self._build, case))
                return known[0]
            self._settled[place] = None
        except FAILURES as error:
            self._fail(place, case, error)
        return None

    def _fail(self, place: Hashable, case: Case, error: Exception) -> None:
        """Remember an error: for cases of these sizes, of which one may be too small; for all of
        the kind if it comes a second time, or there have been many."""
        failed = self._failed.setdefault(place, {})
        again = any(str(one) == str(error) for one in failed.values())
        failed[sizes(case)] = error
        if (again and EMPTY not in str(error)) or len(failed) >= MAX_TRANSLATIONS:
            self._settled[place] = error


def sizes(case: Case) -> Hashable:
    """The sizes of a case's arrays, and its whole numbers, which may be sizes."""
    return tuple(
        value.shape if isinstance(value, np.ndarray) else value
        for value in case.args
        if isinstance(value, np.ndarray | int)
    )
