"""What docc is given for a workload: loops where its kernel is made of arrays.

::

    def kernel(A, x):            # the workload's
        return A @ x

    def kernel(A, x, result_0):  # what docc, the book and the tuner see
        for i in range(A.shape[0]):
            ...

The workload's own function stays what says which numbers are right.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from loopbook.errors import LoweringError, RunError, SdfgError
from loopbook.frontend import Lowered, translated
from loopbook.sdfg import frontend, traced
from loopbook.sdfg.caller import Caller
from loopbook.sdfg.known_wrong import understood
from loopbook.sdfg.local import with_local
from loopbook.toolchain.interleaved import Runnable
from loopbook.toolchain.run import Binding, returned_arrays
from loopbook.workloads.workload import Workload

_translations: WeakKeyDictionary[Callable[..., Any], list[tuple[tuple[Any, ...], Lowered]]] = (
    WeakKeyDictionary()
)
"""Of kernels, with the kinds of arguments that they are for; all have been checked."""


@dataclass(frozen=True)
class Call:
    """A function and its arguments, as docc gets them.

    Attributes:
        workload: whose kernel it is.
        given: what that kernel is called with.
        kernel: the kernel itself, or the loops that were made of it.
        arguments: of `kernel`.
        lowered: the translation; None where the kernel is compiled as it is written.
        refusal: why there is no translation; None also where nothing had to be translated.
    """

    workload: Workload
    given: Sequence[Any]
    kernel: Callable[..., Any]
    arguments: list[Any]
    lowered: Lowered | None = None
    refusal: LoweringError | None = None

    @classmethod
    def of(cls, workload: Workload, given: Sequence[Any]) -> Call:
        """As explicit loops. A kernel of loops that docc reads, or one that cannot be
        turned into such, is taken as it is written."""
        try:
            lowered = _translation(workload.kernel, given)
            if lowered is None:
                made = cls.as_written(workload, given)
                if made._is_read:
                    return made
                lowered = _translation(workload.kernel, given, loops_too=True)
                assert lowered is not None
            arguments = [_in_c_order(value) for value in lowered.prepare(*given)]
            made = cls(workload, given, lowered.kernel, arguments, lowered)
            _ = made.text
        except LoweringError as error:
            return cls.as_written(workload, given, error)
        except SdfgError as error:
            return cls.as_written(workload, given, LoweringError(f"its loops: {error}"))
        return made

    @classmethod
    def as_written(
        cls, workload: Workload, given: Sequence[Any], refusal: LoweringError | None = None
    ) -> Call:
        """For docc's own front end."""
        return cls(workload, given, workload.kernel, list(given), refusal=refusal)

    @property
    def is_loops(self) -> bool:
        """Whether the kernel consists of loops as it is written."""
        return self.lowered is None and self.refusal is None

    @cached_property
    def text(self) -> str:
        """Its SDFG as docc's front end makes it, not prepared.

        Raises:
            MistranslationError: docc would make another program of it.
            SdfgError: docc cannot parse it.
        """
        try:
            text = frontend.trace(self.kernel, self.arguments)
        except SdfgError as error:
            if self.refusal is None:
                raise
            raise type(error)(f"{error}; nor has it a form in loops: {self.refusal}") from None
        if self.lowered is None:
            return text
        return with_local(text, self.lowered, self.arguments)

    @property
    def _is_read(self) -> bool:
        """Whether docc's front end reads the kernel."""
        try:
            _ = self.text
        except SdfgError:
            return False
        return True

    @property
    def symbols(self) -> dict[str, int]:
        """Values of the SDFG's size symbols."""
        return frontend.size_symbols(self.kernel, self.arguments)

    def binding(self) -> Binding:
        """Runs libraries that are built from `text`."""
        return frontend.binding(self.kernel, self.arguments, self.results)

    def runnable(self, library: Path) -> Runnable:
        """What a user calls, to be timed: loops with their temporaries made and results taken out,
        as `loopbook.native` does that; else as docc itself calls its libraries."""
        if self.lowered is None:
            return Runnable(partial(_loaded, self.binding(), library), self.arguments)
        given = [_in_c_order(value) for value in self.given]
        return Runnable(partial(self._outer, library), given)

    def _outer(self, library: Path) -> Callable[..., Any]:
        assert self.lowered is not None
        reading = traced.read(understood(self.kernel, self.arguments), self.arguments)
        are_arrays = [isinstance(value, np.ndarray) for value in self.arguments]
        caller = Caller(reading, library, are_arrays)
        return self.lowered.wrap(caller, self.workload.kernel)

    def results(self, values: list[Any]) -> list[np.ndarray]:
        """What must be right after a run with these values of `arguments`: the workload's results,
        and what its function returned, unless docc hands that over itself."""
        if self.lowered is None:
            return self.workload.results(values)
        arguments, returned = self.lowered.finished(values, self.given)
        return [*self.workload.results(arguments), *returned_arrays(returned)]


def fingerprints(workload: Workload, preset: str) -> frozenset[str]:
    """The fingerprints of a workload's nests, which are the same at all sizes; none if docc cannot
    make them or gets one wrong."""
    from loopbook.sdfg.marks import ordered
    from loopbook.sdfg.passes import parse
    from loopbook.sdfg.program import prepare_apart

    try:
        text, nests = prepare_apart(Call.of(workload, workload.arguments(preset)).text)
        if ordered(parse(text)):
            return frozenset()
    except (SdfgError, RunError):
        return frozenset()
    return frozenset(nest.fingerprint for nest in nests)


def _loaded(binding: Binding, library: Path) -> Callable[..., Any]:
    return binding.load([library])[0]


def _translation(
    kernel: Callable[..., Any], given: Sequence[Any], *, loops_too: bool = False
) -> Lowered | None:
    """One that has been compared with the kernel.

    Args:
        loops_too: also where it consists of loops already.

    Raises:
        LoweringError: there is none.
    """
    kinds = loops_too, *(_kind(value, given) for value in given)
    known = _translations.setdefault(kernel, [])
    for own, lowered in known:
        if own == kinds and lowered.holds(*given):
            return lowered
    lowered = translated(kernel, given, loops_too=loops_too)
    if lowered is not None:
        _check_overlap(given)
        known.append((kinds, lowered))
    return lowered


def _kind(value: Any, given: Sequence[Any]) -> Any:
    """What a translation depends on, of one of the arguments."""
    if isinstance(value, np.ndarray):
        first = next(place for place, other in enumerate(given) if other is value)
        return value.dtype, value.ndim, value.flags.c_contiguous, value.flags.f_contiguous, first
    is_number = isinstance(value, bool | int | float | complex | np.generic)
    return type(value) if is_number else repr(value)


def _check_overlap(given: Sequence[Any]) -> None:
    arrays = {id(value): value for value in given if isinstance(value, np.ndarray)}
    for one, other in combinations(arrays.values(), 2):
        if np.may_share_memory(one, other):
            raise LoweringError("arguments that overlap in memory")


def _in_c_order(value: Any) -> Any:
    """Compiled code reads arrays in C order only."""
    if isinstance(value, np.ndarray) and not value.flags.c_contiguous:
        return np.ascontiguousarray(value)
    return value
