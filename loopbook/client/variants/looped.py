"""A function of array expressions, written out as loops and compiled for one kind of arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from loopbook.client.variants.case import Case, overlap, overlapping
from loopbook.client.variants.cases import FAILURES, Cases, Short
from loopbook.client.variants.compiled import AGAIN, Build
from loopbook.client.variants.rival import Rival
from loopbook.errors import SdfgError
from loopbook.frontend import Lowered
from loopbook.sdfg.local import with_local
from loopbook.sdfg.narrow import NotNarrowError, with_narrow
from loopbook.sdfg.traced import Traced


class Looped:
    """What `loopbook.frontend.lower` made of a function, compiled.

    Attributes:
        func: what they were made of.
        lowered: the loops, and the function around them.
        verified: scales of the calls whose numbers have been compared with Python's.
    """

    def __init__(
        self, func: Callable[..., Any], lowered: Lowered, build: Build, case: Case
    ) -> None:
        self.func = func
        self.lowered = lowered
        self.verified = set[int]()
        self._build = build
        self._names, self._kind = lowered.parameters, kind(case)  # in the order of the call's
        self._arrays = [place for place in case.arrays if case.first[place] == place]
        self._same = [(one, place) for place, one in enumerate(case.first) if one != place]
        self._start(lowered.narrow if lowered.words else lowered)

    def _start(self, around: Lowered) -> None:
        """Take what is in front of the kernel, and behind it, from here."""
        narrow = dict(around.words) if around is not self.lowered else {}
        noting = _noting(self._build, around, narrow)
        self._around = around
        self._cases = Cases(around.kernel, noting, merges=False, narrow=bool(narrow))
        self._outer = around.wrap(self._cases, self.func)
        # Of what the kernel gets copies of, it cannot see that it overlaps with anything.
        copied, stored = {*around.copied}, {*around.stored}
        self._apart = [
            (one, other)
            for one, other in combinations(self._arrays, 2)
            if copied & (names := {self._names[one], self._names[other]}) and stored & names
        ]

    @property
    def is_compiled(self) -> bool:
        """Whether there are arguments for which it is."""
        return self._cases.last is not None

    def compile(self, case: Case, folder: Path | None = None) -> None:
        """Compile it for a case, of which its loops have cases of their own: with a temporary of
        one element, say. It may fail for one and work for others.

        Raises:
            LoopbookError: one of `loopbook.client.variants.cases.FAILURES`.
        """
        try:
            self._compile(case, folder)
        except NotNarrowError:
            if self._around is self.lowered:
                raise
            self._start(self.lowered)
            self._compile(case, folder)

    @property
    def traced(self) -> Traced:
        """What the loops were compiled from, for the arguments that they were compiled for last."""
        return self._last.traced

    @property
    def lib(self) -> Any:
        """Their library, as `ctypes` has it."""
        return self._last.lib

    @property
    def lib_path(self) -> str:
        """Where it was loaded from."""
        return self._last.lib_path

    def __call__(self, *args: Any) -> Any:
        """Run it.

        Raises:
            SdfgError: if it was compiled for other arguments.
        """
        case = Case(self._names, args)
        if kind(case) != self._kind or not self.holds(case):
            raise SdfgError("compiled for arguments of other types, sizes 1 or equal, or overlap")
        return self.run(case)

    @property
    def unproven(self) -> bool:
        """Whether the function could be run at none of the sizes at which loops are compared with
        it: their first call is, then."""
        return not self.lowered.compared

    def holds(self, case: Case) -> bool:
        """Whether the loops are right for these arguments, which are of its `kind`."""
        return self.lowered.holds(*case.args)

    def run(self, case: Case) -> Any:
        """Run it on arguments for which it `holds`."""
        for one, other in self._apart:
            if overlap(case.args[one], case.args[other]):
                raise overlapping(self._names[one], self._names[other])
        self._compile(case)
        return self._outer(*case.args)

    def entry(self, args: Sequence[Any], rival: Rival | None = None) -> Short:
        """The short way for more calls with arrays of just these shapes, the same ones twice.

        Args:
            rival: what its first calls are compared with; it is called instead if it is faster.
        """
        # What was taken for granted of shapes is as it was; of numbers it may not be.
        fixed = all(isinstance(value, np.ndarray | None | str) for value in args)
        holds = None if fixed and not self.lowered.looked_into else self.lowered.holds
        return _Entry(self._outer, holds, self._same, self._apart, rival, self._prepare)

    @property
    def read_only(self) -> frozenset[int]:
        """Positions of arguments that the loops are given as they are, and do not change."""
        # By place: docc may have been given other names, such as for ``out``.
        names, changed = self.lowered.kernel_parameters, self._last.traced.written
        given = {name for place, name in enumerate(names) if place not in changed}
        converted = {name for name, _ in self._around.conversions}
        twice = {place for pair in self._same for place in pair}
        return frozenset(
            place
            for place, name in enumerate(self._names)
            if name in given - converted and place not in twice
        )

    def rebuilt(self, case: Case, build: Build) -> Looped:
        """The same loops from another compiler."""
        made = Looped(self.func, self.lowered, build, case)
        made.compile(case)
        return made

    def _prepare(self, args: Sequence[Any]) -> None:
        """Compile what a call would compile: it is not to be timed with that."""
        self._compile(Case(self._names, args))

    @property
    def _last(self) -> Any:
        return self._cases.last

    def _compile(self, case: Case, folder: Path | None = None) -> None:
        """Which sizes of temporaries are 1 or equal may depend on numbers: loops have cases of
        their own. They are compiled with temporaries in which nothing is left over."""
        given = Case(tuple(self.lowered.kernel_parameters), self._around.prepare(*case.args))
        if folder is None:
            self._cases.variant(given)
        else:
            self._cases.anew(given, folder)


def _noting(build: Build, lowered: Lowered, narrow: Mapping[str, np.dtype]) -> Build:
    """A compiler that is told which arguments of the loops are temporaries, and which ones hold
    narrow whole numbers."""
    places = {name: place for place, name in enumerate(lowered.kernel_parameters)}
    kinds = {places[name]: dtype.name for name, dtype in narrow.items() if name in places}

    def noting(reading: Traced, args: Sequence[Any], folder: Path) -> Sequence[Path]:
        text = with_narrow(with_local(reading.text, lowered, args), kinds)
        return build(replace(reading, text=text), args, folder)

    return noting


def kind(case: Case) -> tuple[Any, ...]:
    """What a translation depends on: types, ranks, which sizes are 1 and which are equal, which
    arguments are the same array and which do not lie in C order."""
    return case.key, case.first, tuple(case.foreign)


class _Entry:
    """Calls of compiled loops with arrays of shapes that were seen before."""

    __slots__ = ("_apart", "_holds", "_outer", "_prepare", "_rival", "_same")

    def __init__(
        self,
        outer: Callable[..., Any],
        holds: Callable[..., bool] | None,
        same: Sequence[tuple[int, int]],
        apart: Sequence[tuple[int, int]],
        rival: Rival | None,
        prepare: Callable[[Sequence[Any]], None],
    ) -> None:
        self._outer = outer
        self._holds = holds
        self._same = same
        self._apart = apart
        self._rival = rival
        self._prepare = prepare

    def __call__(self, args: Sequence[Any]) -> Any:
        for one, other in self._same:
            if args[one] is not args[other]:
                return AGAIN
        for one, other in self._apart:
            if np.may_share_memory(args[one], args[other]):
                return AGAIN
        if self._holds is not None and not self._holds(*args):
            return AGAIN
        if self._rival is not None:
            return self._comparison(self._rival, args)
        return self._outer(*args)

    def _comparison(self, rival: Rival, args: Sequence[Any]) -> Any:
        try:
            self._prepare(args)
        except FAILURES:
            return AGAIN
        answer, lost = rival.call(self._outer, args)
        if lost is not None:
            self._rival = None
            if lost:
                compiled = self._outer

                def anew() -> None:
                    self._outer, self._rival = compiled, rival

                self._outer = rival.instead(anew)
        return answer
