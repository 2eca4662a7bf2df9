"""A function compiled for one case of its arguments."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from loopbook.client.variants.bounds import OUTSIDE, Bounds
from loopbook.client.variants.case import Case, overlaps_itself, span
from loopbook.client.variants.fastest import Fastest
from loopbook.client.variants.merged import merged
from loopbook.errors import SdfgError
from loopbook.sdfg import traced
from loopbook.sdfg.caller import Caller, address
from loopbook.sdfg.known_wrong import understood
from loopbook.sdfg.traced import Traced
from loopbook.toolchain import scratch

Build = Callable[[Traced, Sequence[Any], Path], Sequence[Path]]
"""From what docc's frontend made, and example arguments, to libraries in the folder: any of them
does, and the fastest is called."""


def trace(func: Callable[..., Any], args: Sequence[Any]) -> Traced:
    """What docc's frontend makes of a function for arguments like these, wherever they lie.

    Raises:
        SdfgError: if docc cannot parse it, or is known to translate it wrongly.
    """
    orderly = [
        np.ascontiguousarray(value)
        if isinstance(value, np.ndarray) and not value.flags.c_contiguous
        else value
        for value in args
    ]
    return traced.read(understood(func, orderly), orderly)


class Compiled:
    """A library for arguments of one case.

    Attributes:
        lib: the loaded library, as `ctypes` has it; of several the first one.
        lib_path: where it was loaded from; deleted since, unless a folder was asked for.
        traced: what it was built from.
        written: positions of the arguments that it may write.
        verified: scales of the calls whose numbers have been compared with Python's.
        unproven: whether its first call must be compared; docc reads loops as they are written.
    """

    unproven = False

    def __init__(
        self,
        func: Callable[..., Any],
        case: Case,
        reading: Traced,
        build: Build,
        folder: Path | None = None,
    ) -> None:
        self._names, self._key = case.names, case.key
        self._bounds = Bounds(func, case)
        self._whole = func, reading
        merging = case.merging(reading.written)
        self._first = case.first if merging else None
        self._kept = [n for n, one in enumerate(case.first) if not merging or n == one]
        args = [case.args[place] for place in self._kept]
        if merging:
            ranks = {n: case.args[n].ndim for n in case.arrays}
            func = merged(func, case.first, ranks)
            reading = trace(func, args)
        self.func = func
        self.traced = reading
        self.written = frozenset(self._kept[place] for place in reading.written)
        self.verified = set[int]()
        where = folder or scratch.make()
        try:
            libraries = build(reading, args, where)
            is_array = [isinstance(value, np.ndarray) for value in args]
            callers = [Caller(reading, library, is_array) for library in libraries]
        finally:
            if folder is None:  # what is loaded stays
                shutil.rmtree(where, ignore_errors=True)
        self._fastest = Fastest(callers, reading.written)
        self.lib, self.lib_path = callers[0].lib, str(libraries[0])

    def __call__(self, *args: Any) -> Any:
        """Run it.

        Raises:
            SdfgError: if the arguments are of another case.
        """
        case = Case(self._names, args)
        case.check(self.traced.written if self._first is None else self.written)
        merging = case.first if case.merging(self.written) else None
        if case.key != self._key or merging != self._first:
            raise SdfgError("compiled for arguments of other types, sizes 1 or equal, or overlap")
        return self.run(case)

    def run(self, case: Case) -> Any:
        """Run it on arguments of its case. Arrays that lie otherwise than in C order are copied to
        it, and back if they may have been written.

        Raises:
            SdfgError: if an index would be out of range: Python raises then.
        """
        if not self._bounds.kept(case.args):
            raise SdfgError(OUTSIDE)
        args = list(case.args)
        for place in case.foreign:
            args[place] = np.ascontiguousarray(args[place])
        answer = self._fastest([args[place] for place in self._kept])
        if not case.foreign:
            return answer
        for place in case.foreign:
            if place in self.written:
                np.copyto(case.args[place], args[place])
        return _in_place_of(answer, args, case.args)

    def rebuilt(self, case: Case, build: Build) -> Compiled:
        """The same from another compiler."""
        return Compiled(self._whole[0], case, self._whole[1], build)

    def entry(self, args: Sequence[Any]) -> Entry | None:
        """The short way for more calls with arrays of just these shapes, and none passed twice."""
        if self._first is not None:
            return None
        return Entry(self._fastest.of(args), args, self.written, self._bounds.of_numbers)


def _in_place_of(answer: Any, copies: Sequence[Any], args: Sequence[Any]) -> Any:
    """What is returned, with the arguments themselves where it is copies of them."""
    if isinstance(answer, tuple):
        return tuple(_in_place_of(value, copies, args) for value in answer)
    return next((own for copy, own in zip(copies, args, strict=True) if answer is copy), answer)


AGAIN = object()
"""What an `Entry` returns when the call has to go the long way."""


class Entry:
    """Calls of compiled code with plain arrays, of shapes and orders that were seen before."""

    __slots__ = ("_call", "_copied", "_is_array", "_kept", "_pairs", "_sizes", "_with_copied")

    def __init__(
        self,
        caller: Caller,
        args: Sequence[Any],
        written: frozenset[int],
        kept: Callable[..., bool] | None,
    ) -> None:
        self._call = caller.call
        self._kept = kept
        self._sizes = caller.sizes(args)
        self._is_array = [isinstance(value, np.ndarray) for value in args]
        arrays = [place for place, array in enumerate(self._is_array) if array]
        self._copied = [(n, n in written) for n in arrays if not args[n].flags.c_contiguous]
        copied = {place for place, _ in self._copied}
        self._pairs = list[tuple[int, int, int, int]]()
        self._with_copied = list[tuple[int, int, int, int]]()
        for one, other in combinations(arrays, 2):
            if one in written or other in written:
                pairs = self._with_copied if {one, other} & copied else self._pairs
                pairs.append((one, args[one].nbytes, other, args[other].nbytes))

    def __call__(self, args: Sequence[Any]) -> Any:
        words = []
        for value, is_array in zip(args, self._is_array):  # noqa: B905 - the key says how many
            if is_array:
                words.append(address(value))
            elif type(value) is int and not -(2**63) <= value < 2**63:
                return AGAIN
            else:
                words.append(value)
        if self._kept is not None and not self._kept(*args):
            return AGAIN
        for one, size, other, other_size in self._pairs:
            if words[one] < words[other] + other_size and words[other] < words[one] + size:
                return AGAIN
        if self._copied:
            return self._with_copies(args, words)
        return self._call(args, words, self._sizes)

    def _with_copies(self, args: Sequence[Any], words: list[Any]) -> Any:
        """The same with copies of arrays that do not lie in C order, which are written back."""
        spans = {place: span(args[place]) for place, _ in self._copied}
        for one, size, other, other_size in self._with_copied:
            low, high = spans.get(one) or (words[one], words[one] + size)
            other_low, other_high = spans.get(other) or (words[other], words[other] + other_size)
            if low < other_high and other_low < high:
                return AGAIN
        back = []
        for place, is_written in self._copied:
            array = args[place]
            if is_written and overlaps_itself(array):
                return AGAIN
            copy = np.ascontiguousarray(array)
            words[place] = address(copy)
            back.append((array, copy, is_written))
        answer = self._call(args, words, self._sizes)
        for array, copy, is_written in back:
            if is_written:
                np.copyto(array, copy)
        return answer
