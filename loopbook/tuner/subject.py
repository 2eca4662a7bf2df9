"""What can be tuned: a program with data, from a Python workload or from an SDFG alone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any, Protocol

import numpy as np

from loopbook.errors import RunError, WrongResultError
from loopbook.sdfg import frontend, scratch
from loopbook.sdfg.build import build_baseline
from loopbook.sdfg.run import Binding, compare
from loopbook.sdfg.sandbox import run_limited
from loopbook.workloads.workload import Workload

PYTHON_SECONDS = 20.0
"""How long plain Python may take over the smallest size to say what is right."""


class Subject(Protocol):
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


class PythonSubject:
    """A workload; `sizes` replaces some of every preset's."""

    def __init__(self, workload: Workload, sizes: Mapping[str, int] | None = None) -> None:
        self.workload = workload
        self._sizes = dict(sizes or {})

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
        return frontend.trace(self.workload.kernel, arguments)

    def symbols(self, arguments: list[Any]) -> dict[str, int]:
        return frontend.size_symbols(self.workload.kernel, arguments)

    def binding(self, arguments: list[Any]) -> Binding:
        return Binding.of_function(self.workload.kernel, arguments, self.workload.results)

    def check(self) -> None:
        """Compare it with Python at the smallest size; nothing is said where that takes too long,
        raises, or returns results, which Python gives in other forms than docc."""
        from loopbook.workloads.state import reference_results

        sizes = self.parameters
        arguments = self.arguments(min(sizes, key=lambda preset: math.prod(sizes[preset].values())))
        try:
            right = run_limited(
                reference_results, self.workload, arguments, seconds=PYTHON_SECONDS, what=self.name
            )
        except RunError:
            return
        with scratch.folder() as folder:
            built = build_baseline(self.text(arguments), "none", folder)
            own = self.binding(arguments).results(built.library)
        if right is None or len(own) != len(right):
            return
        try:
            compare(own, right)
        except WrongResultError as error:
            raise WrongResultError(
                f"docc's own compile of {self.name} is wrong, so nothing can be compared with it: "
                f"{error}"
            ) from None


class SdfgSubject:
    """An SDFG without data: random arrays are made for it.

    Args:
        sizes: a number for each size that the SDFG leaves open.
    """

    PRESET = "given"

    def __init__(self, name: str, text: str, sizes: Mapping[str, int]) -> None:
        self.name = name
        self.source = f"{name}.json"
        self.parameters = {self.PRESET: dict(sizes)}
        self._text = text

    def arguments(self, preset: str) -> list[Any]:
        from loopbook.sdfg.arguments import synthetic

        return synthetic(self._text, self.parameters[preset])

    def second_data(self, arguments: list[Any]) -> list[Any] | None:
        return None

    def text(self, arguments: list[Any]) -> str:
        return self._text

    def symbols(self, arguments: list[Any]) -> dict[str, int]:
        return dict(self.parameters[self.PRESET])

    def binding(self, arguments: list[Any]) -> Binding:
        from loopbook.sdfg.arguments import bind_text

        return Binding(partial(bind_text, self._text), arguments, _arrays)

    def check(self) -> None:
        """There is nothing to compare it with."""


def _arrays(values: list[Any]) -> list[np.ndarray]:
    return [value for value in values if isinstance(value, np.ndarray)]
