"""NPBench's programs, read from a checkout of spcl/npbench: nothing of them is kept here.

A program is a file ``bench_info/NAME.json`` and, in the folder that it names, a module that
initialises the data and one module for each framework. NumPy's version is the program itself.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

PRESETS = ("S", "M", "L", "paper")


@dataclass(frozen=True)
class Tolerance:
    """NPBench's rule of what is right: all elements close, or the norm of the difference small.

    Attributes:
        relative: of each element.
        absolute: of each element.
        norm: of the difference, relative to the norm of what is expected.
    """

    relative: float = 1e-5
    absolute: float = 1e-8
    norm: float = 1e-5


@dataclass(frozen=True)
class Program:
    """One program.

    Attributes:
        name: the stem of its JSON file, ``jacobi_2d``.
        folder: where its modules are.
        module: what their names begin with.
        function: what is run, in each of them.
        presets: the parameters of each size.
        initialiser: the function that makes the data, its parameters, what it returns; None if the
            parameters are all the data.
        inputs: the function's arguments, in order.
        outputs: those of them that all versions leave results in.
        tolerance: how far results may differ.
    """

    name: str
    folder: Path
    module: str
    function: str
    presets: dict[str, dict[str, Any]]
    initialiser: tuple[str, tuple[str, ...], tuple[str, ...]] | None
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    tolerance: Tolerance

    def file(self, version: str) -> Path:
        """The module of a framework's version, ``numpy`` or ``numba_np``."""
        return self.folder / f"{self.module}_{version}.py"

    def load(self, version: str) -> Callable[..., Any]:
        """The function in a framework's version.

        Raises:
            FileNotFoundError: there is no such version.
        """
        return getattr(_imported(self.file(version)), self.function)

    def arguments(self, preset: str) -> list[Any]:
        """Fresh arguments, in the order of NumPy's version.

        Raises:
            KeyError: the program has no such preset.
        """
        values = dict(self.presets[preset])
        if self.initialiser:
            function, parameters, names = self.initialiser
            make = getattr(_imported(self.folder / f"{self.module}.py"), function)
            made = make(*(values[name] for name in parameters))
            values |= zip(names, made if len(names) > 1 else [made], strict=True)
        return [values[name] for name in self.inputs]

    def sizes(self, preset: str) -> dict[str, Any]:
        """The parameters that are no arguments of NumPy's version (DaCe wants them too)."""
        given = self.presets[preset]
        return {name: value for name, value in given.items() if name not in self.inputs}

    def results(self, values: Sequence[Any], returned: Any) -> dict[str, np.ndarray]:
        """Copies of all that a run may have left: array arguments by name, returned values as
        ``return 0`` and so on."""
        found = {
            name: value.copy()
            for name, value in zip(self.inputs, values, strict=True)
            if isinstance(value, np.ndarray)
        }
        if returned is not None:
            more = returned if isinstance(returned, tuple | list) else [returned]
            found |= {f"return {place}": np.array(value) for place, value in enumerate(more)}
        return found


def find(checkout: Path) -> dict[str, Program]:
    """All programs of a checkout, by name.

    Raises:
        FileNotFoundError: it is no checkout of NPBench.
    """
    files = sorted((checkout / "bench_info").glob("*.json"))
    if not files:
        raise FileNotFoundError(f"{checkout} is no checkout of spcl/npbench: no bench_info/*.json")
    return {file.stem: _read(file, checkout) for file in files}


def _read(file: Path, checkout: Path) -> Program:
    info = json.loads(file.read_text(encoding="utf-8"))["benchmark"]
    init = info.get("init")
    usual = Tolerance()
    return Program(
        name=file.stem,
        folder=checkout / "npbench" / "benchmarks" / info["relative_path"],
        module=info["module_name"],
        function=info["func_name"],
        presets=info["parameters"],
        initialiser=(init["func_name"], tuple(init["input_args"]), tuple(init["output_args"]))
        if init
        else None,
        inputs=tuple(info["input_args"]),
        outputs=tuple(info["output_args"]),
        tolerance=Tolerance(
            info.get("rtol", usual.relative),
            info.get("atol", usual.absolute),
            info.get("norm_error", usual.norm),
        ),
    )


def _imported(file: Path) -> Any:
    """A module by its path, once a process."""
    name = "npbench_" + file.stem
    if name not in sys.modules:
        if not file.exists():
            raise FileNotFoundError(f"there is no {file.name}")
        spec = importlib.util.spec_from_file_location(name, file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


def parameters(function: Callable[..., Any]) -> list[str]:
    """The names of a function's parameters."""
    return list(inspect.signature(function).parameters)
