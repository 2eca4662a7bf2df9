"""Calls a compiled function directly: addresses, sizes and scalars in, what it returns out."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np

from loopbook.errors import RunError, SdfgError
from loopbook.sdfg.traced import Returned, Traced
from loopbook.toolchain import blas

C_TYPES = {
    np.dtype(np.float32): ctypes.c_float,
    np.dtype(np.float64): ctypes.c_double,
    np.dtype(np.int8): ctypes.c_int8,
    np.dtype(np.int16): ctypes.c_int16,
    np.dtype(np.int32): ctypes.c_int32,
    np.dtype(np.int64): ctypes.c_int64,
    np.dtype(np.uint8): ctypes.c_uint8,
    np.dtype(np.uint16): ctypes.c_uint16,
    np.dtype(np.uint32): ctypes.c_uint32,
    np.dtype(np.uint64): ctypes.c_uint64,
    np.dtype(np.bool_): ctypes.c_bool,
}

_byte_of = ctypes.c_char.from_buffer
_address_of = ctypes.addressof


def address(array: np.ndarray) -> int:
    """Where an array's first element lies. ``array.ctypes.data`` says the same six times as
    slowly, but also for arrays that may not be written or do not lie in C order."""
    try:
        return _address_of(_byte_of(array))  # type: ignore[arg-type]
    except (TypeError, ValueError, BufferError):
        return array.ctypes.data


class Caller:
    """A library that was built from what `loopbook.sdfg.traced.read` made.

    Attributes:
        lib: the loaded library.
        path: where it was loaded from.

    Raises:
        RunError: if the library cannot be loaded.
    """

    def __init__(self, traced: Traced, library: Path, is_array: Sequence[bool]) -> None:
        try:
            self.lib = blas.program(library)
            function: Any = getattr(self.lib, traced.name)
        except (OSError, AttributeError) as error:
            raise RunError(f"cannot load the compiled program: {error}") from None
        self.path = library
        self.traced = traced
        words = [
            ctypes.c_void_p if array else C_TYPES[dtype]
            for dtype, array in zip(traced.dtypes, is_array, strict=True)
        ]
        sizes = [ctypes.c_int64] * len(traced.sizes)
        results = [ctypes.c_void_p] * len(traced.returned)
        function.argtypes = [*words, *sizes, *results]
        function.restype = None
        self.function: Callable[..., None] = function
        self._shapes = [_compiled(result) for result in traced.returned]
        self._plain = not any(is_array)

    def sizes(self, args: Sequence[Any]) -> tuple[int, ...]:
        """Values of the size symbols for these arguments."""
        return tuple(args[place].shape[axis] for _, place, axis in self.traced.sizes)

    def __call__(self, *args: Any) -> Any:
        """Run it on arrays in C order and scalars of the types that it was built for."""
        words = [address(a) if isinstance(a, np.ndarray) else a for a in args]
        return self.call(args, words, self.sizes(args))

    def call(self, args: Sequence[Any], words: Sequence[Any], sizes: Sequence[int]) -> Any:
        """Run it on what `words` says: addresses in place of the arrays in `args`."""
        if not self._shapes:
            return self.function(*words, *sizes)
        results = self._results(args, sizes)
        self.function(*words, *sizes, *(result.ctypes.data for result in results))
        values = [
            args[given.argument]
            if given.argument is not None
            else (self._scalar(result) if given.shape is None else result)
            for result, given in zip(results, self.traced.returned, strict=True)
        ]
        return tuple(values) if self.traced.in_tuple else values[0]

    def _results(self, args: Sequence[Any], sizes: Sequence[int]) -> list[np.ndarray]:
        """Room for what is returned.

        Raises:
            SdfgError: if the shape of a result cannot be known before it is computed.
        """
        known: dict[str, Any] = dict(zip(self.traced.parameters, args, strict=True))
        known |= {name: size for (name, *_), size in zip(self.traced.sizes, sizes, strict=True)}
        results = []
        for returned, codes in zip(self.traced.returned, self._shapes, strict=True):
            shape = [_value(code, known) for code in codes or ()]
            if any(extent < 0 for extent in shape):  # a slice longer than its array
                raise SdfgError("a slice is longer than the array that it is taken of")
            results.append(np.empty(shape, returned.dtype))
        return results

    def _scalar(self, result: np.ndarray) -> Any:
        """As NumPy has it where arrays come in, as Python has it where none do."""
        return result.item() if self._plain else result[()]


def _compiled(returned: Returned) -> list[CodeType] | None:
    if returned.shape is None:
        return None
    from docc.compiler.compiled_sdfg import CompiledSDFG

    convert = CompiledSDFG._convert_to_python_syntax  # its own spelling of elements: A(i)
    return [compile(convert(None, text), "<shape>", "eval") for text in returned.shape]  # type: ignore[arg-type]


def _value(code: CodeType, known: Mapping[str, Any]) -> int:
    try:
        return int(eval(code, {"idiv": lambda a, b: int(a) // int(b)}, known))
    except Exception as error:  # a local variable of the function, say
        raise SdfgError(f"the shape of what is returned is not known before: {error}") from None
