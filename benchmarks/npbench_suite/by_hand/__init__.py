"""Programs of NPBench by hand in C, as somebody who knows the machine would write them.

They say what a compiler could reach with one thread, and are our own writing.

``NAME.c`` has a function ``run`` that takes the arguments of NumPy's version in their order (whole
numbers as ``int64_t``, others as ``double``), an array as a pointer and its extents, and at the end
room for what is returned, an array like one of the arguments (`RETURNED`).
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent

RETURNED = {"atax": "x", "durbin": "r", "gesummv": "x", "softmax": "x"}
"""Program to the argument that what it returns is like."""

FLAGS = ("-O3", "-march=native", "-ffast-math", "-shared", "-fPIC")


def source(name: str) -> Path:
    """Where a program by hand would be."""
    return FOLDER / f"{name}.c"


def function(name: str, inputs: Sequence[str]) -> Callable[[Sequence[Any]], Any]:
    """Compile a program.

    Args:
        inputs: names of the arguments, in order.

    Raises:
        subprocess.CalledProcessError: the compiler refuses it.
    """
    from loopbook.toolchain.compiler import find_compiler

    compiler = str(find_compiler().path)
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / f"{name}.so"
        words = [compiler, *FLAGS, "-x", "c", str(source(name)), "-o", str(library)]
        subprocess.run([*words, "-lm", "-lopenblas"], check=True)
        run = ctypes.CDLL(str(library)).run
    run.restype = None
    like = RETURNED.get(name)

    def call(values: Sequence[Any]) -> Any:
        words = [word for value in values for word in _words(value)]
        if like is None:
            run(*words)
            return None
        made = np.empty_like(values[inputs.index(like)])
        run(*words, ctypes.c_void_p(made.ctypes.data))
        return made

    return call


def _words(value: Any) -> list[Any]:
    if isinstance(value, np.ndarray):
        extents = map(ctypes.c_int64, value.shape)
        return [ctypes.c_void_p(value.ctypes.data), *extents]
    if isinstance(value, int | np.integer):
        return [ctypes.c_int64(int(value))]
    return [ctypes.c_double(float(value))]
