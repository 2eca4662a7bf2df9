"""C versions of the kernels through clang, with and without Polly.

One C file for each kernel lies in ``c/``: textbook loops in the Python kernels' order (PolyBench's,
where a Python kernel differs to get around a fault of docc). Sizes are macros and so constants to
the compiler, as PolyBench has them by default: with sizes known only at run time, Polly leaves gemm
as it is. Pointers have no ``restrict``, as PolyBench's have none by default.
"""

from __future__ import annotations

import ctypes
import inspect
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.systems.base import Runner, Unsupported
from loopbook.errors import CompilerError
from loopbook.toolchain.compiler import find_compiler
from loopbook.workloads.workload import Workload

SOURCES = Path(__file__).with_name("c")

FLAGS = ("-O3", "-march=native")
POLLY = ("-mllvm", "-polly")
POLLY_PARALLEL = ("-mllvm", "-polly-parallel", "-fopenmp")

TYPES = {
    "double": np.dtype(np.float64),
    "int": np.dtype(np.int32),
    "signed char": np.dtype(np.int8),
}


@dataclass(frozen=True)
class Parameter:
    """One parameter of a C kernel.

    Attributes:
        extents: the names of an array's sizes; none for a scalar.
    """

    name: str
    ctype: str
    extents: tuple[str, ...]


def prototype(source: str) -> list[Parameter]:
    """The parameters of ``void kernel(…)`` in a C source.

    Raises:
        ValueError: if there is no such function, or a parameter is of another form.
    """
    head = re.search(r"^void kernel\(([^)]*)\)", source, re.MULTILINE)
    if head is None:
        raise ValueError("the source has no void kernel(…)")
    parameters = []
    for text in head[1].split(","):
        form = re.fullmatch(r"\s*(double|int|signed char)\s+(\w+)((?:\[\w+\])*)\s*", text)
        if form is None:
            raise ValueError(f"cannot read the parameter {text.strip()!r}")
        extents = tuple(re.findall(r"\w+", form[3]))
        parameters.append(Parameter(form[2], form[1], extents))
    return parameters


def sizes(parameters: Sequence[Parameter], values: dict[str, Any]) -> dict[str, int]:
    """What the macros of a C kernel stand for: integer arguments and the extents of arrays.

    Args:
        values: the Python kernel's arguments by name.

    Raises:
        ValueError: if an array is not what its parameter says, or an extent has two values.
    """
    found = {name: value for name, value in values.items() if isinstance(value, int)}
    for parameter in parameters:
        value = values[parameter.name]
        if not parameter.extents:
            continue
        if value.dtype != TYPES[parameter.ctype] or not value.flags["C_CONTIGUOUS"]:
            raise ValueError(f"{parameter.name} is no row-major array of {parameter.ctype}")
        for extent, length in zip(parameter.extents, value.shape, strict=True):
            if found.setdefault(extent, length) != length:
                raise ValueError(f"{extent} is {found[extent]} and {length}")
    return found


@dataclass(frozen=True)
class Clang:
    """clang as a user calls it.

    Attributes:
        flags: for one thread.
        parallel: more flags for several; nothing for a compiler that makes serial code only.
    """

    name: str
    flags: tuple[str, ...]
    parallel: tuple[str, ...] = ()

    def compile(
        self, kernel: str, workload: Workload, arguments: list[Any], threads: int
    ) -> Runner:
        file = SOURCES / f"{kernel}.c"
        if not file.exists():
            raise Unsupported(f"there is no C version of {kernel}")
        names = list(inspect.signature(workload.kernel).parameters)
        values = dict(zip(names, arguments, strict=True))
        parameters = prototype(file.read_text(encoding="utf-8"))
        flags = self.flags + (self.parallel if threads > 1 else ())
        function = build([file], sizes(parameters, values), flags)["kernel"]
        places = [(names.index(parameter.name), parameter) for parameter in parameters]

        def run(arguments: list[Any]) -> None:
            function(*[_passed(arguments[place], parameter) for place, parameter in places])

        return run


def _passed(value: Any, parameter: Parameter) -> Any:
    if parameter.extents:
        return ctypes.c_void_p(value.ctypes.data)
    return ctypes.c_double(value)


def build(files: Sequence[Path], macros: dict[str, int], flags: Sequence[str]) -> ctypes.CDLL:
    """Compile C files to a library and load it.

    Raises:
        Unsupported: there is no clang, or it reports an error.
    """
    with tempfile.TemporaryDirectory(prefix="loopbook-") as folder:
        library = Path(folder) / "kernel.so"
        command = [
            *(find_clang(), *flags, "-std=c99", "-shared", "-fPIC"),
            *(f"-D{name}={value}" for name, value in macros.items()),
            *map(str, files),
            *("-lm", "-o", str(library)),
        ]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            said = [line for line in done.stderr.splitlines() if "error" in line]
            raise Unsupported((said or [f"clang ended with exit code {done.returncode}"])[0][:300])
        return ctypes.CDLL(str(library))


def find_clang() -> str:
    """The C driver beside the C++ compiler that docc's code goes through.

    Raises:
        Unsupported: if there is none.
    """
    try:
        cxx = find_compiler().path
    except CompilerError as error:
        raise Unsupported(str(error)) from None
    found = shutil.which(cxx.with_name(cxx.name.replace("clang++", "clang")))
    if found is None:
        raise Unsupported(f"there is no C compiler beside {cxx}")
    return found


CLANG = Clang("clang", FLAGS)
WITH_POLLY = Clang("polly", FLAGS + POLLY, POLLY_PARALLEL)
