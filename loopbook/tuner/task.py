"""What can be tuned: a program with data, from a Python workload or from an SDFG alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Protocol

from loopbook.errors import InputError, WrongResultError
from loopbook.toolchain.run import Binding
from loopbook.tuner.sizes import sizes_for
from loopbook.workloads import reference
from loopbook.workloads.call import Call
from loopbook.workloads.workload import Workload

if TYPE_CHECKING:
    from loopbook.sdfg.made_up import MadeUp

PRESETS = ("SMALL", "MEDIUM", "LARGE")


class TuningTask(Protocol):
    """A program that can be measured at several sizes."""

    @property
    def name(self) -> str:
        """What records are called after."""
        ...

    @property
    def source(self) -> str:
        """Where it comes from, for the records' provenance."""
        ...

    @property
    def parameters(self) -> Mapping[str, Mapping[str, int]]:
        """Presets: name to sizes."""
        ...

    @property
    def measured_at(self) -> Sequence[str]:
        """The presets that its recipes are to be measured at, smallest first."""
        ...

    def arguments(self, preset: str) -> list[Any]: ...

    def second_data(self, arguments: list[Any]) -> list[Any] | None:
        """Other data of the same shapes, on which right programs agree; None if there are none."""
        ...

    def text(self, arguments: list[Any]) -> str:
        """The SDFG for these arguments, not prepared."""
        ...

    def symbols(self, arguments: list[Any]) -> dict[str, int]:
        """Values of the SDFG's size symbols, as far as they are known before it runs."""
        ...

    def binding(self, arguments: list[Any]) -> Binding: ...

    def check(self) -> None:
        """Make sure that docc's unoptimised compile, which candidates are compared with, is right.

        Raises:
            WrongResultError: it is not.
        """
        ...


class PythonTask:
    """A workload, as explicit loops (`loopbook.workloads.call`).

    Args:
        sizes: replaces some of every preset's.
    """

    def __init__(self, workload: Workload, sizes: Mapping[str, int] | None = None) -> None:
        self.workload = workload
        self._sizes = dict(sizes or {})
        self._call: Call | None = None

    @property
    def name(self) -> str:
        return self.workload.name

    @property
    def source(self) -> str:
        return self.workload.path.name

    @property
    def parameters(self) -> dict[str, dict[str, int]]:
        return {
            preset: {**sizes, **self._sizes} for preset, sizes in self.workload.parameters.items()
        }

    @property
    def measured_at(self) -> list[str]:
        """Those that benchmarks have in common; of a program with names of its own, the first."""
        names = [name for name in PRESETS if name in self.parameters]
        return names if len(names) > 1 else list(self.parameters)[:3]

    def arguments(self, preset: str) -> list[Any]:
        return self.workload.arguments(preset, self._sizes or None)

    def second_data(self, arguments: list[Any]) -> list[Any] | None:
        """The arguments with their elements shuffled, if the algorithm is stable on them."""
        from loopbook.workloads.state import reference_results, shuffled, stable

        if self.workload.reference is None:
            return None
        data = shuffled(arguments)
        expected = reference_results(self.workload, data)
        if expected is None or not stable(self.workload, data, expected):
            return None
        return data

    def text(self, arguments: list[Any]) -> str:
        return self._of(arguments).text

    def symbols(self, arguments: list[Any]) -> dict[str, int]:
        return self._of(arguments).symbols

    def binding(self, arguments: list[Any]) -> Binding:
        return self._of(arguments).binding()

    def _of(self, arguments: list[Any]) -> Call:
        """The call with these arguments; the same while it is asked for the same ones."""
        if self._call is None or self._call.given is not arguments:
            self._call = Call.of(self.workload, arguments)
        return self._call

    def check(self) -> None:
        """Compare it with Python at a size that Python can do (`loopbook.workloads.reference`)."""
        reference.check(self.workload, self.parameters)


class SdfgTask:
    """An SDFG without data: data are made up for it that it is defined on.

    Besides the sizes that are asked for there is a preset `CHECKED`, at which recipes' numbers are
    checked.

    Args:
        sizes: to measure at, a number for each size that the SDFG leaves open: one preset `PRESET`;
            or several such, which become ``given-1``, ``given-2``…, smallest first.
        most: no size is larger, and missing ones are filled in; None: nothing is changed, and none
            may be missing.
        seed: other seeds give other data.
    """

    PRESET = "given"
    CHECKED = "SMALL"

    def __init__(
        self,
        name: str,
        text: str,
        sizes: Mapping[str, int] | Sequence[Mapping[str, int]],
        *,
        most: int | None = None,
        seed: int = 0,
    ) -> None:
        self.name = name
        self.source = f"{name}.json"
        self._asked = [sizes] if isinstance(sizes, Mapping) else list(sizes) or [{}]
        self._text = text
        self._most = most
        self._seed = seed

    @cached_property
    def asked(self) -> dict[str, dict[str, int]]:
        """The presets to measure at, smallest first.

        Raises:
            InputError: a size is missing.
            SdfgError: docc cannot read the SDFG.
        """
        found = [self._complete(sizes) for sizes in self._asked]
        found = [one for place, one in enumerate(found) if one not in found[:place]]
        found.sort(key=lambda sizes: math.prod(sizes.values()))
        if len(self._asked) == 1:
            return {self.PRESET: found[0]}
        return {f"{self.PRESET}-{place}": sizes for place, sizes in enumerate(found, 1)}

    @property
    def parameters(self) -> Mapping[str, Mapping[str, int]]:
        """Presets: name to sizes.

        Raises:
            LoopbookError: as for `asked`, or the SDFG is not defined on any data that were tried.
        """
        return {self.CHECKED: self._made_up.small, **self.asked}

    @property
    def measured_at(self) -> list[str]:
        """All: who asks at a size is to get a recipe that was measured there.

        Raises:
            LoopbookError: as for `parameters`.
        """
        return list(self.parameters)

    @cached_property
    def _made_up(self) -> MadeUp:
        from loopbook.sdfg.made_up import MadeUp

        largest = list(self.asked.values())[-1]
        return MadeUp(self._text, largest, self._seed)

    def _complete(self, asked: Mapping[str, int]) -> dict[str, int]:
        from loopbook.sdfg.arguments import size_names
        from loopbook.sdfg.made_up import MadeUp
        from loopbook.sdfg.program import prepare_nests

        missing = [name for name in size_names(self._text) if name not in asked]
        if self._most is None:
            if missing:
                names = ", ".join(missing)
                raise InputError(f"give a number for {names} with --size NAME=NUMBER")
            return dict(asked)
        known = {name: min(size, self._most) for name, size in asked.items()}
        nests = prepare_nests(self._text)[1] if missing else []
        if not nests:
            return known
        filled = sizes_for(nests[0], missing, {"": max(known.values())} if known else {})
        sizes = {name: min(size, self._most) for name, size in filled.items()} | known
        return MadeUp(self._text, sizes).fitted(sizes, known, self._most)

    def arguments(self, preset: str) -> list[Any]:
        """Data that the SDFG is defined on.

        Raises:
            InputError: none were found, or they would be too large.
            SdfgError: it cannot be told how large its arrays must be.
        """
        sizes = self.asked[preset] if preset in self.asked else self.parameters[preset]
        return self._made_up.arguments(sizes)

    def second_data(self, arguments: list[Any]) -> list[Any] | None:
        """Other data at the same sizes, of another kind if there is one."""
        return self._made_up.arguments(self.symbols(arguments), second=True)

    def text(self, arguments: list[Any]) -> str:
        return self._text

    def symbols(self, arguments: list[Any]) -> dict[str, int]:
        return self._made_up.sizes_of(arguments)

    def binding(self, arguments: list[Any]) -> Binding:
        from loopbook.sdfg.arguments import bind_text

        return Binding(partial(bind_text, self._text), arguments)

    def check(self) -> None:
        """Compare docc's unoptimised code with the tree's interpreter, at a size that this can do.

        Raises:
            WrongResultError: they differ.
            LoopbookError: docc cannot compile it, or it is not defined on any data that were tried.
        """
        from loopbook.sdfg.build import build_baseline
        from loopbook.toolchain import scratch
        from loopbook.toolchain.run import compare

        with scratch.folder() as folder:
            library = build_baseline(self._text, "none", folder).library
            for trial in (self._made_up.first, self._made_up.second):
                own = self.binding(trial.arguments).results(library)
                try:
                    compare(own, trial.results, "the interpreter's")
                except WrongResultError as error:
                    raise WrongResultError(
                        f"docc's own compile of {self.name} is wrong,"
                        f" so nothing can be compared with it: {error}"
                    ) from None
