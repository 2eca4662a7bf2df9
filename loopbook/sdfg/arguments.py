"""Data for SDFGs that come without any: arrays large enough for what their nests touch."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from docc.compiler.compiled_sdfg import CompiledSDFG
from docc.sdfg import StructuredSDFG

from loopbook.errors import InputError, SdfgError
from loopbook.program import expr
from loopbook.program.load import load_json
from loopbook.program.nest import Nest
from loopbook.sdfg import program

NUMPY_TYPES = {
    "bool": "?",
    "int8": "i1",
    "int16": "i2",
    "int32": "i4",
    "int64": "i8",
    "uint8": "u1",
    "uint16": "u2",
    "uint32": "u4",
    "uint64": "u8",
    "half": "f2",
    "float": "f4",
    "double": "f8",
}

MAX_BYTES = 4 << 30

Range = tuple[int, int]


def size_names(text: str) -> list[str]:
    """The integer arguments of an SDFG that its loops and indices depend on, sorted."""
    document = load_json(text)
    found = {symbol for nest in program.nests(program.prepare(text)) for symbol in nest.symbols}
    return sorted(found.intersection(document["arguments"]))


def synthetic(text: str, sizes: Mapping[str, int]) -> list[Any]:
    """Arguments for the SDFG in their order: random arrays in (0.5, 1.5), and `sizes`.

    Raises:
        InputError: if a size is missing or the arrays would be too large.
        SdfgError: if it cannot be told how large an array must be.
    """
    missing = [name for name in size_names(text) if name not in sizes]
    if missing:
        raise InputError(f"give a number for {', '.join(missing)} with --size NAME=NUMBER")
    document = load_json(text)
    nests = program.nests(program.prepare(text))
    random = np.random.default_rng(0)
    values: list[Any] = []
    for name in document["arguments"]:
        described = document["containers"][name]
        dtype = _dtype(described, name)
        if described.get("type") == "scalar":
            value = sizes.get(name, 1)
            values.append(float(random.uniform(0.5, 1.5)) if dtype.kind == "f" else int(value))
        else:
            count = _elements(name, nests, sizes)
            if count * dtype.itemsize > MAX_BYTES:
                raise InputError(f"array {name} would take {count * dtype.itemsize >> 20} MiB")
            array = random.uniform(0.5, 1.5, count)
            values.append(array.astype(dtype))
    return values


class PlainCall:
    """A library built from an SDFG, called with all of its arguments in their order.

    docc's own caller takes sizes with names such as ``_s0`` from the shapes of arrays, which its
    frontend knows and an SDFG does not tell: they would all be 0 here. And it would make the arrays
    that the program returns, of which an SDFG does not tell the size either.
    """

    output_args: tuple[str, ...] = ()

    def __init__(self, library: Path, sdfg: StructuredSDFG) -> None:
        described = CompiledSDFG(str(library), sdfg)
        self._function = described.func
        self._types = described.arg_types

    def __call__(self, *values: Any) -> None:
        self._function(
            *(
                value.ctypes.data_as(kind) if isinstance(value, np.ndarray) else value
                for value, kind in zip(values, self._types, strict=True)
            )
        )


def bind_text(text: str, library: Path) -> PlainCall:
    """A callable for a library built from the SDFG in `text`; takes all its arguments in order."""
    return PlainCall(library, program.parse(text))


def _dtype(described: Mapping[str, Any], name: str) -> np.dtype[Any]:
    from loopbook.program.types import DTYPES

    inner: Any = described
    while isinstance(inner, Mapping) and "primitive_type" not in inner:
        inner = inner.get("pointee_type") or inner.get("element_type")
    kind = DTYPES[int(inner["primitive_type"])] if isinstance(inner, Mapping) else ""
    if kind not in NUMPY_TYPES:
        raise SdfgError(f"cannot make data for argument {name} of type {kind or 'unknown'}")
    return np.dtype(NUMPY_TYPES[kind])


def _elements(name: str, nests: list[Nest], sizes: Mapping[str, int]) -> int:
    """One more than the largest index that any nest uses for array `name`."""
    largest = 0
    for nest in nests:
        ranges = _ranges(nest, sizes)
        for access in nest.accesses:
            if nest.containers[access.container].data == name:
                for text in access.subset:
                    largest = max(largest, _bounds(text, ranges)[1])
    return largest + 1


def _ranges(nest: Nest, sizes: Mapping[str, int]) -> dict[str, Range]:
    """Smallest and largest value of every loop variable and size."""
    ranges: dict[str, Range] = {name: (value, value) for name, value in sizes.items()}
    for loop in nest.loops:
        low = _bounds(loop.init, ranges)[0]
        form = expr.parse(loop.condition)
        high = low
        for part in getattr(form, "args", [form]):
            left = getattr(part, "left", None)
            if getattr(left, "id", None) == loop.indvar:
                import ast

                bound = ast.unparse(part.comparators[0])
                high = max(high, _bounds(bound, ranges)[1])
        ranges[loop.indvar] = (low, high)
    return ranges


def _bounds(text: str, ranges: Mapping[str, Range]) -> Range:
    """Interval arithmetic over an index expression."""
    low = high = 0
    for monomial, factor in expr.polynomial(text).items():
        ends = [factor]
        for symbol in monomial:
            if symbol not in ranges:
                raise SdfgError(f"cannot tell how large {text!r} gets: {symbol} is unknown")
            ends = [end * value for end in ends for value in ranges[symbol]]
        low, high = low + min(ends), high + max(ends)
    return low, high
