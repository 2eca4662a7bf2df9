"""What a call costs where there is next to nothing to do."""

from __future__ import annotations

import importlib.util
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.npbench_suite.programs import Program
from benchmarks.npbench_suite.systems import wrapped

CALLS = 200
ROUNDS = 20


def overhead(system: str, program: Program, values: Sequence[Any], threads: int) -> float:
    """Seconds of a warm call of a function that takes a program's arguments and writes one element.

    The same arguments cost both docc and us the same kinds of checks and conversions; what is left
    between them is what we add to a call. The lowest of the means of many calls.
    """
    with tempfile.TemporaryDirectory(prefix="overhead-") as folder:
        file = Path(folder) / "nothing.py"
        file.write_text(source(program, values), encoding="utf-8")
        spec = importlib.util.spec_from_file_location("nothing", file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        call = wrapped(system, module.nothing, threads).call
        call(values)
        means = []
        for _ in range(ROUNDS):
            begun = time.perf_counter()
            for _ in range(CALLS):
                call(values)
            means.append((time.perf_counter() - begun) / CALLS)
    return min(means)


def source(program: Program, values: Sequence[Any]) -> str:
    """A function of a program's signature that writes one element, or adds two numbers."""
    head = f"def nothing({', '.join(program.inputs)}):\n"
    for name, value in zip(program.inputs, values, strict=True):
        if isinstance(value, np.ndarray) and value.ndim and value.dtype.kind in "fi":
            first = f"{name}[{', '.join(['0'] * value.ndim)}]"
            return head + f"    {first} = {first} + 1\n"
    return head + f"    return {program.inputs[0]} + {program.inputs[1]}\n"
