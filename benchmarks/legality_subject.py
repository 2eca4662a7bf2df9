"""A program that `benchmarks.legality` tries sequences of steps on, and what is wrong with what
becomes of it."""

from __future__ import annotations

import inspect
import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from loopbook.errors import SdfgError
from loopbook.interpreter import MODULUS, ROUNDED, FaultError, Interpreted, NotInterpretedError
from loopbook.program.memory_order import in_memory_order
from loopbook.program.nest import Nest
from loopbook.program.read import read
from loopbook.program.regions import without_regions
from loopbook.program.tree import Program
from loopbook.sdfg import frontend, program
from loopbook.workloads.workload import Workload

SIZES = ((9, 7, 8, 6), (5, 3, 4, 7), (2, 6, 3, 5))
"""Values that sizes get, one set after the other."""

FEW = 3
"""Of what counts time steps or such."""


@dataclass
class Subject:
    """A program that sequences are tried on.

    Attributes:
        text: its SDFG, prepared.
        cases: arguments of the interpreter, and what is right for them.
        told: what is wrong with programs that it became, by their source and the seed.
    """

    text: str
    tree: Program
    nests: list[Nest]
    cases: list[tuple[dict[str, Any], dict[str, list[Any]]]] = field(default_factory=list)
    told: dict[tuple[str, int], str] = field(default_factory=dict)


def subject(workload: Workload, text: str = "") -> Subject:
    """A program, prepared, with what is right.

    Args:
        text: its SDFG, if it has been prepared already.

    Raises:
        LoopbookError: docc cannot read it, or the interpreter cannot.
    """
    return prepared(workload.kernel, [arguments(workload, values) for values in SIZES], text)


def arguments(workload: Workload, values: Sequence[int]) -> list[Any]:
    """What its kernel is called with where sizes have such values."""
    preset = next(iter(workload.parameters))
    return workload.arguments(preset, _sizes(workload.parameters[preset], values))


def prepared(kernel: Callable[..., Any], cases: Sequence[Sequence[Any]], text: str = "") -> Subject:
    """A function's program, its regions as nests, with what is right for arguments; those that docc
    would make another program of are left out.

    Args:
        text: as in `subject`.

    Raises:
        LoopbookError: docc cannot read it, or the interpreter cannot.
    """
    document, _ = program.prepare_document(text or frontend.trace(kernel, cases[0]))
    joined, nests = program.in_regions(json.dumps(document))
    found = Subject(joined, read(json.loads(joined)), nests)
    reference = Interpreted(in_memory_order(found.tree))
    names = list(inspect.signature(kernel).parameters)
    for arguments in cases:
        if kinds(arguments) != kinds(cases[0]):
            continue
        symbols = frontend.size_symbols(kernel, arguments)
        memory = _memory(found.tree, names, arguments, symbols)
        try:
            found.cases.append((memory, reference(memory)))
        except FaultError as fault:
            raise NotInterpretedError(f"the program itself: {fault}") from None
    return found


def _sizes(given: Mapping[str, int], values: Sequence[int]) -> dict[str, int]:
    """Small sizes; equal ones stay equal."""
    distinct = list(dict.fromkeys(given.values()))
    return {
        name: FEW
        if name.upper() in ("TSTEPS", "TMAX", "STEPS", "T", "NT")
        else values[distinct.index(value) % len(values)]
        for name, value in given.items()
    }


def kinds(arguments: Sequence[Any]) -> Any:
    """What docc tells arguments apart by."""
    shapes = [s for a in arguments if isinstance(a, np.ndarray) for s in a.shape]
    distinct = list(dict.fromkeys(shapes))
    return [distinct.index(s) for s in shapes], [s == 1 for s in shapes]


def _memory(
    tree: Program, names: Sequence[str], arguments: Sequence[Any], symbols: Mapping[str, int]
) -> dict[str, Any]:
    """The arguments of the program's tree: reals drawn anew, whole numbers as they are."""
    rng = random.Random(len(names))
    memory: dict[str, Any] = dict(symbols)
    for name, value in zip(names, arguments, strict=True):
        if isinstance(value, np.ndarray):
            flat = value.ravel(order="K").tolist()
            real = value.dtype.kind == "f"
            memory[name] = [_real(rng, value.dtype) if real else int(one) for one in flat]
        elif isinstance(value, float | np.floating):
            memory[name] = _real(rng, np.dtype(type(value)))
        else:
            memory[name] = int(value)
    if unknown := set(tree.arguments) - memory.keys():
        raise NotInterpretedError(f"nobody says what {min(unknown)} is")
    return memory


def _real(rng: random.Random, dtype: np.dtype[Any]) -> int:
    """A floating-point number of the interpreter's."""
    value = rng.randrange(1, MODULUS)
    return value * ROUNDED % MODULUS if dtype == np.float32 else value


def fault(subject: Subject, tree: Program, seed: int) -> str:
    """What is wrong with a program that was transformed; empty if nothing. What a block of docc's
    leaves open, whether it loads an element before it stores it, is settled last, and regions are
    nests again, as where programs
    are compiled.

    Raises:
        NotInterpretedError: it cannot be told.
    """
    try:
        ordered = in_memory_order(without_regions(tree))
    except SdfgError:  # as they are refused then
        return ""
    ready = Interpreted(ordered, seed)
    key = ready.source, seed
    if key not in subject.told:
        subject.told[key] = _fault(subject, ready)
    return subject.told[key]


def _fault(subject: Subject, ready: Interpreted) -> str:
    for memory, expected in subject.cases:
        try:
            found = ready(memory)
        except FaultError as error:
            return str(error)
        for name, right in expected.items():
            if found[name] != right:
                place = next(
                    n for n, (a, b) in enumerate(zip(found[name], right, strict=False)) if a != b
                )
                return f"{name}[{place}] differs"
    return ""
