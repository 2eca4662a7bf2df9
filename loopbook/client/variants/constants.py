"""Values from outside a function that docc bakes into compiled code: globals and closures."""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from loopbook.client.variants.attributes import attributes_read, followed
from loopbook.errors import SdfgError
from loopbook.frontend.records import Making

MISSING = object()

FIXED = (
    bool, int, float, complex, str, bytes, type, type(None), np.generic, np.dtype, ModuleType,
    BuiltinFunctionType, np.ufunc,
)  # fmt: skip
"""What is the same value for as long as it is the same object."""

MOST_BYTES = 1 << 14
"""Larger arrays are not looked through at each call to see whether they have changed."""


class Constants:
    """What a function reads from outside, as compiled code would know it."""

    def __init__(self, func: Callable[..., Any]) -> None:
        self._func = func
        self._names: list[tuple[Mapping[str, Any], str]] = []
        self._cells: list[Any] = []
        self._functions: list[tuple[FunctionType, Any, Any]] = []
        self._seen: list[Any] | None = None
        self._behind: list[tuple[Any, tuple[str, ...], Any]] = []
        self._key: Any = None
        self._arrays: list[tuple[np.ndarray, Any]] = []
        self._all_arrays: list[np.ndarray] = []

    def unchanged(self) -> bool:
        """Whether all is as `key` last found it. Cheap where it is numbers, modules, types and
        small arrays."""
        seen = self._seen
        if seen is not None:
            at = 0
            for values, name in self._names:
                if values.get(name, MISSING) is not seen[at]:
                    break
                at += 1
            else:
                for cell in self._cells:
                    if _content(cell) is not seen[at]:
                        break
                    at += 1
                else:
                    return self._same_inside()
        before = self._key
        try:
            return before is not None and self.key() == before
        except SdfgError:
            return False

    def _same_inside(self) -> bool:
        """Whether attributes, called functions and small arrays are as they were."""
        for root, attributes, was in self._behind:
            if followed(root, attributes) is not was:
                return False
        for function, code, defaults in self._functions:
            if function.__code__ is not code or function.__defaults__ is not defaults:
                return False
        arrays = self._arrays
        return not arrays or all(_contents(array) == was for array, was in arrays)

    def key(self) -> Any:
        """All values, comparable.

        Raises:
            SdfgError: if one is a large array, which may change without a trace.
        """
        known = _outside(self._func) if isinstance(self._func, FunctionType) else {}
        behind = attributes_read(self._func.__code__, known.get) if known else []
        parts = [_frozen(name, value, ()) for name, value in known.items()]
        parts += [_frozen(".".join((path[0], *path[1])), value, ()) for path, value in behind]
        key = tuple(parts)
        self._all_arrays = list(_arrays_in(key))
        self._watch()
        self._key = key
        return key

    def _watch(self) -> None:
        """Note where the values are, of this function and of those that it calls, so that whether
        they are the same is seen at once; if it can be."""
        functions = _called(self._func) if isinstance(self._func, FunctionType) else []
        self._functions = [(f, f.__code__, f.__defaults__) for f in functions[1:]]
        places = {(id(f.__globals__), n): f for f in functions for n in _globals_of(f.__code__)}
        self._names = [(f.__globals__, name) for (_, name), f in places.items()]
        self._cells = [cell for f in functions for cell in f.__closure__ or ()]
        values = [known.get(name, MISSING) for known, name in self._names]
        values += map(_content, self._cells)
        self._arrays = [(v, _contents(v)) for v in values if isinstance(v, np.ndarray)]
        self._behind = []
        for function in functions:
            outside = _outside(function)
            for (name, rest), value in attributes_read(function.__code__, outside.get):
                self._behind.append((outside[name], rest, value))
        looked_through = [*functions, *(root for root, *_ in self._behind)]
        read = [value for *_, value in self._behind]
        read += [value for _, _, given in self._functions for value in given or ()]
        fixed = all(
            _is_fixed(value) or any(value is other for other in looked_through) for value in values
        ) and all(isinstance(value, FIXED) or any(value is f for f in functions) for value in read)
        self._seen = values if fixed else None

    def may_share(self, args: Iterable[Any]) -> bool:
        """Whether an argument may be, or be part of, an array that it reads from outside."""
        return bool(self._all_arrays) and any(
            np.may_share_memory(value, array)
            for array in self._all_arrays
            for value in args
            if isinstance(value, np.ndarray)
        )


def _outside(function: FunctionType) -> dict[str, Any]:
    """What a function reads from outside, by name."""
    names = _globals_of(function.__code__)
    found = {name: function.__globals__.get(name, MISSING) for name in names}
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return found | {name: _content(cell) for name, cell in cells}


def _called(function: FunctionType) -> list[FunctionType]:
    """A function, and those that it reads from outside, and so on."""
    found = [function]
    for one in found:  # which grows
        outside = _outside(one)
        read = [value for _, value in attributes_read(one.__code__, outside.get)]
        for value in (*outside.values(), *read):
            if isinstance(value, FunctionType) and not any(value is other for other in found):
                found.append(value)
    return found


def _is_fixed(value: Any) -> bool:
    """Whether what is in it is looked at elsewhere, or cannot change."""
    if isinstance(value, Making):
        return not value.whole
    return value is MISSING or isinstance(value, (*FIXED, np.ndarray))


def _arrays_in(key: Any) -> Iterator[np.ndarray]:
    if isinstance(key, _Elements):
        yield key.array
    elif isinstance(key, tuple):
        for part in key:
            yield from _arrays_in(part)


def _contents(array: np.ndarray) -> tuple[Any, ...]:
    """What is in an array, to be compared."""
    return array.shape, array.dtype.str, array.tobytes()


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not bound yet
        return MISSING


@lru_cache(maxsize=256)
def _globals_of(code: CodeType) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_loaded(code)))


def _loaded(code: CodeType) -> Iterator[str]:
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _loaded(constant)


class _Same:
    """An object that is only equal to itself."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


class _Elements:
    """An array, equal to another one with the same elements."""

    def __init__(self, array: np.ndarray) -> None:
        self.array, self.held = array, _contents(array)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Elements) and other.held == self.held

    def __hash__(self) -> int:
        return hash(self.held)


def _frozen(name: str, value: Any, inside: tuple[Any, ...]) -> Any:
    """Hashable, and equal to another if the same code would be made of both."""
    if isinstance(value, np.ndarray):
        if value.nbytes > MOST_BYTES or value.dtype.hasobject:
            raise SdfgError(f"it reads the array {name} from outside; pass it as an argument")
        return _Elements(value)
    if isinstance(value, (bool, int, float, np.generic)):
        return type(value), repr(value)
    if isinstance(value, (str, bytes)):
        return value
    if isinstance(value, (tuple, list, set, frozenset)):
        return type(value), tuple(_frozen(name, item, inside) for item in value)
    if isinstance(value, dict):
        return dict, tuple(
            (_Same(key) if isinstance(key, np.ndarray) else key, _frozen(name, item, inside))
            for key, item in value.items()
        )
    if isinstance(value, Making):
        return _Same(value), tuple(
            (key, _frozen(f"{value.kind.__name__}.{key}", item, inside))
            for key, item in value.inherited
        )
    if isinstance(value, FunctionType) and value not in inside:
        return _frozen_function(value, (*inside, value))
    return _Same(value)


def _frozen_function(func: FunctionType, inside: tuple[Any, ...]) -> tuple[Any, ...]:
    """A function that is called, which becomes part of the one that calls it."""
    parts: list[Any] = [_Same(func.__code__)]
    outside = _outside(func)
    parts += [(name, _frozen(name, value, inside)) for name, value in outside.items()]
    for place, value in enumerate(func.__defaults__ or ()):
        parts.append((place, _frozen(f"default {place}", value, inside)))
    for path, value in attributes_read(func.__code__, outside.get):
        parts.append((path, _frozen(path[0], value, inside)))
    return tuple(parts)
