"""What can be tuned: a program with data, from a Python workload or from an SDFG alone."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Protocol

from loopbook.toolchain.run import Binding
from loopbook.workloads import reference
from loopbook.workloads.call import Call
from loopbook.workloads.workload import Workload


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

        return Binding(partial(bind_text, self._text), arguments)

    def check(self) -> None:
        """There is nothing to compare it with."""
