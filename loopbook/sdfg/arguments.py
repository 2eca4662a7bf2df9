"""How SDFGs that come without data are called: their sizes, types, libraries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from docc.compiler.compiled_sdfg import CompiledSDFG
from docc.sdfg import StructuredSDFG

from loopbook.errors import SdfgError
from loopbook.interpreter.roles import roles
from loopbook.interpreter.spelling import is_real
from loopbook.program.load import load_json
from loopbook.program.read import read
from loopbook.program.tree import Program
from loopbook.program.types import Scalar
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


def size_names(text: str) -> list[str]:
    """The integer arguments of an SDFG that its loops, indices and branches depend on, sorted.

    Raises:
        SdfgError: it cannot be read.
    """
    return sizes_of(read(load_json(text)))


def sizes_of(tree: Program) -> list[str]:
    """See `size_names`."""
    used = roles(tree)
    return sorted(
        name
        for name in (used.indices | used.tested).intersection(tree.arguments)
        if isinstance(tree.containers[name], Scalar) and not is_real(tree.containers[name].element)
    )


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


def dtype_of(tree: Program, name: str) -> np.dtype[Any]:
    """The type of an argument, or of its elements.

    Raises:
        SdfgError: no data can be made for it.
    """
    kind = tree.containers[name].element
    if kind not in NUMPY_TYPES:
        raise SdfgError(f"cannot make data for argument {name} of type {kind}")
    return np.dtype(NUMPY_TYPES[kind])
