"""Functions that are called with tuples, lists, dicts, objects and functions, as ones that take
the arrays and numbers in them one by one.

Before, called with two arrays, a tuple of two numbers and a dict::

    def step(w, g, betas, options): ...

After::

    def step(w, g, betas_0, betas_1, options_rate):
        betas = (betas_0, betas_1)
        options = make_options(options_rate)
        ...
"""

from __future__ import annotations

import ast
import copy
import hashlib
import inspect
import linecache
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import CellType, CodeType, FunctionType
from typing import Any

import numpy as np

from loopbook.client.variants.case import ALL_SCALARS, THINGS
from loopbook.errors import LoweringError
from loopbook.frontend.inline import parsed
from loopbook.frontend.records import Making

MOST_ITEMS = 16
"""Longer lists are no arguments of their own each."""

LIBRARIES = frozenset(
    ("builtins", "numpy", "scipy", "pandas", "torch", "jax", "cupy", "collections")
)
"""Objects of their classes are more than what they hold."""


@dataclass(frozen=True)
class Record:
    """The layout of what has named items: kind and names, and the layouts of the items.

    Attributes:
        whole: whether what belongs to its class is used as well.
    """

    kind: type
    names: tuple[Any, ...]
    items: tuple[Layout, ...]
    whole: bool = False


class Called:
    """A function that is passed: it is not an argument of compiled code, but part of it. Equal to
    another one of the same code that closes over the same numbers."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self._key = _key_of(function)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Called) and other._key == self._key

    def __hash__(self) -> int:
        return hash(self._key)


Layout = tuple["Layout", ...] | Record | Called | int | None
"""Of a tuple: that of its items, where whole numbers below nought stand for themselves: they say
which axis, or that a size follows from the others. None for what is an argument of its own."""


def _key_of(function: Any) -> Any:
    if not isinstance(function, FunctionType):
        return id(function)
    try:
        held = tuple(cell.cell_contents for cell in function.__closure__ or ())
    except ValueError:
        return id(function)
    held += function.__defaults__ or ()
    if not all(isinstance(value, int | float | str | None) for value in held):
        return id(function)
    kinds = tuple(map(type, held))
    return function.__code__, id(function.__globals__), repr(held), kinds


# -- what there is in arguments ------------------------------------------------------------------


class Wanted:
    """Which items of its arguments a function asks for, and which arguments are tuples or dicts of
    all that was passed besides."""

    def __init__(self, func: Callable[..., Any], signature: inspect.Signature) -> None:
        self._func, self._signature = func, signature
        kinds = [p.kind for p in signature.parameters.values()]
        self._any = any(kind in (kind.VAR_POSITIONAL, kind.VAR_KEYWORD) for kind in kinds)
        self._found: list[frozenset[Any] | None] | None = None

    def packed(self, args: Sequence[Any]) -> tuple[Layout, ...] | None:
        """The layouts of arguments among which there are some that compiled code cannot take as
        they are; None if there are none."""
        if not self._any and not any(_is_packed(value) for value in args):
            return None
        found = self._fields()
        return tuple(
            layout(value, names) if _is_packed(value) else None
            for value, names in zip(args, found, strict=True)
        )

    def _fields(self) -> list[frozenset[Any] | None]:
        if self._found is None:
            names = list(self._signature.parameters)
            try:
                node = parsed(self._func)
            except LoweringError:
                self._found = [None for _ in names]
            else:
                self._found = [_fields_of(node, name) for name in names]
        return self._found


def _fields_of(node: ast.FunctionDef, name: str) -> frozenset[Any] | None:
    """The attributes and keys of an argument that a function reads; None if it may read all."""
    whole = sum(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node))
    found = []
    for inner in ast.walk(node):
        match inner:
            case ast.Attribute(value=ast.Name(id=owner), attr=field) if owner == name:
                found.append(field)
            case ast.Subscript(value=ast.Name(id=owner), slice=ast.Constant(value=key)) if (
                owner == name
            ):
                found.append(key)
    return frozenset(found) if len(found) == whole else None


def _is_packed(value: Any) -> bool:
    kind = type(value)
    if kind is np.ndarray or kind in ALL_SCALARS or isinstance(value, THINGS):
        return False
    return kind in (tuple, list, dict) or _is_function(value) or _is_record(value)


def _is_function(value: Any) -> bool:
    return isinstance(value, FunctionType | np.ufunc)


def _is_record(value: Any) -> bool:
    """Whether it is a named tuple, or an object that is no more than what it holds."""
    kind = type(value)
    if isinstance(value, tuple):
        return hasattr(kind, "_fields")
    if isinstance(value, np.ndarray | np.generic) or not hasattr(value, "__dict__"):
        return False
    if callable(value) or kind.__module__.partition(".")[0] in LIBRARIES:
        return False
    own = {name for base in kind.__mro__[:-1] for name in vars(base)}
    return not own & {"__getattr__", "__getattribute__", "__slots__"}


def layout(value: Any, wanted: frozenset[Any] | None = None) -> Layout:
    """What is in an argument.

    Args:
        wanted: the attributes or keys that are asked for; None if they may be all.

    Raises:
        LoweringError: if it is a list with more items than can be arguments.
    """
    if type(value) is tuple:
        return tuple(item if _stays(item) else layout(item) for item in value)
    if type(value) is list:
        if len(value) > MOST_ITEMS:
            raise LoweringError("a list of many items as an argument; pass an array")
        return Record(list, tuple(range(len(value))), tuple(map(layout, value)))
    if _is_function(value):
        return Called(value)
    if not _is_packed(value):
        return None
    items = _items_of(value)
    whole = not isinstance(value, tuple | dict) and (wanted is None or bool(wanted - items.keys()))
    if type(value) is dict and wanted is not None and wanted <= items.keys():
        items = {name: item for name, item in items.items() if name in wanted}
    elif not isinstance(value, tuple | dict):
        items = {
            name: item
            for name, item in items.items()
            if (_can_be_passed(item) if whole or wanted is None else name in wanted)
        }
    return Record(type(value), tuple(items), tuple(map(layout, items.values())), whole)


def _items_of(value: Any) -> dict[Any, Any]:
    if isinstance(value, dict):
        return value
    if isinstance(value, tuple):
        return dict(zip(type(value)._fields, value, strict=True))  # type: ignore[attr-defined]
    return vars(value)


def _can_be_passed(value: Any) -> bool:
    if type(value) in (tuple, list):
        return len(value) <= MOST_ITEMS and all(map(_can_be_passed, value))
    return isinstance(value, np.ndarray) or type(value) in ALL_SCALARS or isinstance(value, THINGS)


def _stays(item: Any) -> bool:
    return type(item) is int and item < 0


def items(values: Sequence[Any], layouts: Sequence[Layout]) -> list[Any]:
    """What is in arguments of these layouts, and those that have none, one by one."""
    return [x for value, form in zip(values, layouts, strict=True) for x in _inner(value, form)]


def _inner(value: Any, form: Layout) -> Sequence[Any]:
    if form is None:
        return (value,)
    if isinstance(form, int | Called):
        return ()
    if isinstance(form, tuple):
        return items(value, form)
    held = value if form.kind is list or isinstance(value, tuple) else None
    if held is None:
        known = _items_of(value)
        held = [known[name] for name in form.names]
    return items(held, form.items)


# -- the function that takes them ----------------------------------------------------------------


def unpacked(func: Callable[..., Any], layouts: Sequence[Layout]) -> Callable[..., Any]:
    """A function that takes what `items` gives of arguments of these layouts.

    Raises:
        LoweringError: if the function's source is not at hand, or it changes what holds them.
    """
    if not isinstance(func, FunctionType):
        raise LoweringError("a tuple, given to what is no function written with def")
    node = copy.deepcopy(parsed(func))
    names = _parameters(node)
    new = _Parameters({n.id for n in ast.walk(node) if isinstance(n, ast.Name)} | set(names))
    begun: list[ast.stmt] = []
    for name, form in zip(names, layouts, strict=True):
        if form is None:
            new.parameters.append(ast.arg(name))
            continue
        if isinstance(form, Record):
            _check_unchanged(node, name)
        if isinstance(form, Called):
            new.outside[name] = form.function
            continue
        value = new.made(name, form)
        begun.append(ast.Assign([ast.Name(name, ast.Store())], value, lineno=node.lineno))
    node.args = ast.arguments([], new.parameters, None, [], [], None, [])
    node.body, node.decorator_list, node.returns = [*begun, *node.body], [], None
    return _function(func, node, new.outside)


def _check_unchanged(node: ast.FunctionDef, name: str) -> None:
    for inner in ast.walk(node):
        match inner:
            case (
                ast.Subscript(value=ast.Name(id=owner), ctx=ast.Store() | ast.Del())
                | ast.Attribute(value=ast.Name(id=owner), ctx=ast.Store() | ast.Del())
            ) if owner == name and not _is_augmented(node, inner):
                what = f"storing into {ast.unparse(inner)}, which the caller has too"
                raise LoweringError(f"{what}; return it instead", inner.lineno)


def _is_augmented(node: ast.FunctionDef, target: ast.AST) -> bool:
    """Whether it is changed in place, if it is an array."""
    return any(isinstance(n, ast.AugAssign) and n.target is target for n in ast.walk(node))


def _parameters(node: ast.FunctionDef) -> list[str]:
    """Names as `inspect.signature` orders them."""
    given = node.args
    last = [given.vararg, *given.kwonlyargs, given.kwarg]
    return [a.arg for a in (*given.posonlyargs, *given.args, *last) if a is not None]


class _Parameters:
    """New parameters, and what the function reads from outside besides."""

    def __init__(self, taken: set[str]) -> None:
        self._taken = taken
        self.parameters: list[ast.arg] = []
        self.outside: dict[str, Any] = {}

    def made(self, name: str, form: Layout) -> ast.expr:
        """The value of what was passed, out of new parameters."""
        if isinstance(form, int):
            return ast.Constant(form)
        if form is None:
            own = self._fresh(name)
            self.parameters.append(ast.arg(own))
            return ast.Name(own, ast.Load())
        if isinstance(form, Called):
            own = self._fresh(name)
            self.outside[own] = form.function
            return ast.Name(own, ast.Load())
        if isinstance(form, Record):
            making = self._fresh(f"make_{name}")
            self.outside[making] = Making(form.kind, form.names, whole=form.whole)
            parts = [
                self.made(f"{name}_{n}", x) for n, x in zip(form.names, form.items, strict=True)
            ]
            return ast.Call(ast.Name(making, ast.Load()), parts, [])
        parts = [self.made(f"{name}_{place}", inner) for place, inner in enumerate(form)]
        return ast.Tuple(parts, ast.Load())

    def _fresh(self, hint: str) -> str:
        own = re.sub(r"\W", "_", hint)
        while own in self._taken:
            own += "_"
        self._taken.add(own)
        return own


def _function(
    func: FunctionType, node: ast.FunctionDef, outside: Mapping[str, Any]
) -> FunctionType:
    """A function of this tree, with the globals of another and what that closes over.

    Args:
        outside: what it closes over besides.
    """
    cells = dict(zip(func.__code__.co_freevars, func.__closure__ or (), strict=True))
    cells |= {name: CellType(value) for name, value in outside.items()}
    inner = ast.unparse(ast.fix_missing_locations(node))
    text = inner + "\n"
    if cells:  # a cell for each name, so that it is one in the function
        lines = "".join(f"    {line}\n" for line in inner.splitlines())
        text = f"def around({', '.join(cells)}):\n{lines}"
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    file = f"<loopbook {func.__name__} {digest}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    code = next(_codes(compile(text, file, "exec"), func.__name__))
    closure = tuple(cells[name] for name in code.co_freevars)
    return FunctionType(code, func.__globals__, func.__name__, None, closure)


def _codes(code: CodeType, name: str) -> Iterator[CodeType]:
    for part in code.co_consts:
        if isinstance(part, CodeType):
            if part.co_name == name:
                yield part
            yield from _codes(part, name)


__all__ = ["Wanted", "items", "unpacked"]
