"""Functions that cannot be compiled as a whole: statements without a form in loops run as Python,
what stands between them is compiled (`loopbook.frontend.cuts`)."""

from __future__ import annotations

import ast
import copy
import time
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from loopbook.client.variants.case import Case
from loopbook.client.variants.remade import remade
from loopbook.client.variants.rival import ROUNDS
from loopbook.errors import LoweringError, SdfgError
from loopbook.frontend.calls import is_python
from loopbook.frontend.cuts import cut, lines_of, naming
from loopbook.frontend.inline import names_of, parsed
from loopbook.frontend.lower import refused_lines
from loopbook.syntax import bound, mentioned, unused, walk

Compile = Callable[[FunctionType], Callable[..., Any]]
"""What makes a function one that compiles itself when it is called."""

TINY = 50e-6
"""Seconds of a call of a part below which Python may be faster: to call what is compiled takes some
of them, and such parts stand in loops."""

UNTIMED = ROUNDS + 1
"""Calls of a part before these: one compiles it, others are timed on copies (`Rival`)."""

TIMED = 2
"""Calls of a part that are timed, as it is compiled and then as Python."""

LONGER = 8.0
"""A call of Python that takes so many times as long has more to do than those that were timed."""


def mixed(
    func: Callable[..., Any], given: Mapping[str, Any], compiling: Compile
) -> Callable[..., Any]:
    """A function that computes the same, compiled but for what has no form in loops; the function
    itself where that is all of it.

    Args:
        given: what it is called with, by name.
    """
    if not isinstance(func, FunctionType):
        return func
    try:
        lines = _refused(func, given)
        found = Mixed(func, lines, compiling) if lines else None
    except Exception:  # a fault of ours must not stop a program that Python can run
        return func
    return func if found is None or found.is_python else found


LIBRARY = frozenset((np.linalg.cholesky, np.linalg.det, np.linalg.inv, np.linalg.solve))
"""What LAPACK does by blocks. docc takes seconds over their loops, too."""

LONG = 50
"""Length of a dimension of an argument from which on these stay NumPy's, outside of loops: systems
of 50 take the same time either way, those of 200 0.6 to 0.3 of it (AVX-512, 2026-11-28)."""


def with_library(
    func: Callable[..., Any], given: Mapping[str, Any], compiling: Compile
) -> Callable[..., Any] | None:
    """A function that leaves linear algebra of large arrays to NumPy, compiled but for that; None
    if it has none, or none that is large."""
    if not isinstance(func, FunctionType) or not any(map(_is_large, given.values())):
        return None
    lines = _library_lines(func)
    return Mixed(func, lines, compiling) if lines else None


def _is_large(value: Any) -> bool:
    return isinstance(value, np.ndarray) and max(value.shape, default=0) >= LONG


@lru_cache(maxsize=256)
def _library_lines(func: FunctionType) -> frozenset[int]:
    """Lines of statements outside of loops that call the `LIBRARY`; none without a source."""
    try:
        waiting: list[ast.stmt] = [*parsed(func).body]
    except LoweringError:
        return frozenset()
    names = names_of(func)
    found: set[int] = set()
    for one in waiting:
        match one:
            case ast.If() | ast.With():
                waiting += [*one.body, *getattr(one, "orelse", ())]
            case ast.Assign() | ast.AugAssign() | ast.AnnAssign() | ast.Return() | ast.Expr():
                calls = [inner for inner in walk(one) if isinstance(inner, ast.Call)]
                if any(_value(c.func, names) in LIBRARY and not _is_cut_short(c) for c in calls):
                    found.add(one.lineno)
    return frozenset(found)


def _is_cut_short(call: ast.Call) -> bool:
    """Whether what is passed are a few rows or columns, as the code says: ``x[:3, :3]``."""
    ends = [n.upper for one in call.args for n in walk(one) if isinstance(n, ast.Slice)]
    return any(isinstance(end, ast.Constant) and end.value in range(LONG) for end in ends)


def _value(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """What a name from outside, or an attribute of one, stands for; None if it is another."""
    value = None
    match node:
        case ast.Name(id=name):
            value = names.get(name)
        case ast.Attribute(value=owner, attr=name):
            module = _value(owner, names)
            value = getattr(module, name, None) if isinstance(module, ModuleType) else None
    return value if isinstance(value, ModuleType) or callable(value) else None


def _refused(func: FunctionType, given: Mapping[str, Any]) -> frozenset[int]:
    """Lines of statements that stay Python; none where nothing would be won by that."""
    node = parsed(func)
    strange = [name for name, value in given.items() if not _is_taken(name, value)]
    lines = naming(node, strange) if strange else refused_lines(func, [*given.values()])
    inside = any(not lines.isdisjoint(lines_of(one)) for one in node.body)
    return lines if inside else frozenset()


def _is_taken(name: str, value: Any) -> bool:
    """Whether compiled code can be given an argument."""
    try:
        Case((name,), (value,))
    except SdfgError:
        return False
    return True


def _called(node: ast.FunctionDef, func: FunctionType) -> dict[str, FunctionType]:
    """Functions of Python's that a function calls by names from outside."""
    names = names_of(func)
    own = bound([node.args, *node.body])
    called = (
        one.func.id
        for one in walk(node)
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Name)
    )
    return {
        name: names[name]
        for name in called
        if name not in own and name in names and names[name] is not func and is_python(names[name])
    }


class Mixed:
    """A function some of whose statements are compiled.

    Args:
        lines: of statements that stay Python.
    """

    def __init__(self, func: FunctionType, lines: frozenset[int], compiling: Compile) -> None:
        self._func = func
        self._lines = lines
        self._node = parsed(func)
        self._compiling = compiling
        self._helpers = _called(self._node, func)
        self._parts: dict[str, Beside] = {}
        self._made: Callable[..., Any] = func
        self._make()

    @property
    def is_python(self) -> bool:
        """Whether nothing of it is compiled."""
        return self._made is self._func

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._made is self._func:
            return self._func(*args, **kwargs)
        if any(self._now(name) is not helper for name, helper in self._helpers.items()):
            return self._func(*args, **kwargs)
        begun = self._slower()
        answer = self._made(*args, **kwargs)
        if self._slower() != begun:
            self._make()
        return answer

    def _now(self, name: str) -> Any:
        """What a name from outside stands for."""
        free = self._func.__code__.co_freevars
        if name not in free:
            return self._func.__globals__.get(name)
        return (self._func.__closure__ or ())[free.index(name)].cell_contents

    def _slower(self) -> list[str]:
        """Parts that are faster as Python, which costs nothing where they are not cut out."""
        return [name for name, part in self._parts.items() if part.is_slower]

    def _make(self) -> None:
        slower = self._slower()
        found = cut(self._node, self._lines, slower)
        helpers = {name: f for name, f in self._helpers.items() if name not in slower}
        if found is None and not helpers:
            self._made = self._func
            return
        node = copy.deepcopy(self._node) if found is None else found.rest
        outside: dict[str, Any] = {}
        for part in found.parts if found else ():
            python = remade(self._func, part, {})
            outside[part.name] = self._part(part.name, python)
        taken = mentioned(node) | outside.keys()
        renamed: dict[str, str] = {}
        for name, helper in helpers.items():
            renamed[name] = unused(f"{name}_compiled", taken)
            outside[renamed[name]] = self._part(name, helper)
        for one in walk(node):
            match one:
                case ast.Call(func=ast.Name(id=name)) if name in renamed:
                    one.func = ast.copy_location(ast.Name(renamed[name], ast.Load()), one.func)
        node.decorator_list, node.returns = [], None
        made = remade(self._func, node, outside)
        made.__defaults__, made.__kwdefaults__ = self._func.__defaults__, self._func.__kwdefaults__
        self._made = made

    def _part(self, name: str, python: FunctionType) -> Beside:
        if name not in self._parts:
            self._parts[name] = Beside(python, self._compiling)
        return self._parts[name]


class Beside:
    """A part, compiled and as Python: the first calls of a tiny one find out which is faster.

    Attributes:
        is_slower: whether Python was faster.
    """

    def __init__(self, python: FunctionType, compiling: Compile) -> None:
        self._compiled = compiling(python)
        self._python = python
        self._compiling = compiling
        self._called: Callable[..., Any] | None = None
        self._ours: list[float] = []
        self._theirs: list[float] = []
        self._untimed = UNTIMED
        self._own: list[tuple[int, str | int]] | None = None
        self.is_slower = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._own is None:
            marks = [(place, _mark(one)) for place, one in enumerate(args)]
            self._own = [(place, mark) for place, mark in marks if mark is not None]
        if any(_mark(args[place]) != mark for place, mark in self._own):
            self._leave_own()
        if self._called is not None:
            return self._called(*args, **kwargs)
        if self._untimed:
            self._untimed -= 1
            return self._compiled(*args, **kwargs)
        func, times = (
            (self._compiled, self._ours)
            if len(self._ours) < TIMED
            else (self._python, self._theirs)
        )
        begun = time.perf_counter()
        answer = func(*args, **kwargs)
        times.append(time.perf_counter() - begun)
        self._settle()
        return answer

    def _leave_own(self) -> None:
        """Leave to Python what reads texts and lists that are others now: there is code for each of
        them, and there may be many."""
        names = [self._python.__code__.co_varnames[place] for place, _ in self._own or ()]
        lines = naming(parsed(self._python), names)
        self._compiled = Mixed(self._python, lines, self._compiling)
        self._own, self._called = [], None
        self._untimed, self._ours, self._theirs = UNTIMED, [], []

    def _settle(self) -> None:
        if len(self._ours) == TIMED and min(self._ours) > TINY:
            self._called = self._compiled
        elif len(self._theirs) == TIMED:
            self.is_slower = min(self._theirs) < min(self._ours)
            self._called = self._as_python if self.is_slower else self._compiled

    def _as_python(self, *args: Any, **kwargs: Any) -> Any:
        begun = time.perf_counter()
        answer = self._python(*args, **kwargs)
        if time.perf_counter() - begun > LONGER * min(self._theirs) + TINY:
            self._called, self.is_slower = self._compiled, False
        return answer


def _mark(value: Any) -> str | int | None:
    """What there is code of its own for."""
    if isinstance(value, str):
        return value
    return len(value) if isinstance(value, list | dict | set) else None
