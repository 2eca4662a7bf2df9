"""Calls: of functions that have a lowering, of methods, of Python functions (inlined)."""

from __future__ import annotations

import ast
import functools
import types as python_types
from collections.abc import Callable
from typing import Any

import numpy as np

from loopbook.frontend import own_operators, python_maths, records, types, unsigned
from loopbook.frontend.hints import instead
from loopbook.frontend.registry import ELEMENTWISE, FUNCTIONS, METHODS
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Array, Bound, Thing, Tup, Value


def called(t: Translator, node: ast.Call) -> Value:
    function = t.expr(node.func)
    args: list[Value] = []
    given = node.args
    if isinstance(function, Thing) and function.value in OF_LISTS:
        given = [_rows_as_arrays(arg, node.func) for arg in given]
    for arg in given:
        if isinstance(arg, ast.Starred):
            args += _spread(t, t.expr(arg.value))
        else:
            args.append(t.expr(arg))
    kwargs: dict[str, Value] = {}
    for keyword in node.keywords:
        value = t.expr(keyword.value)
        if keyword.arg is not None:
            kwargs[keyword.arg] = value
        else:
            kwargs |= records.named(t, value)
    return call(t, function, args, kwargs, ast.unparse(node.func))


OF_LISTS = (np.array, np.asarray)
"""What makes an array of a list of lists."""


def _rows_as_arrays(node: ast.expr, function: ast.expr) -> ast.expr:
    """``[[f(x, y) for x in X] for y in Y]`` for an array: its rows may be arrays as well."""
    if not isinstance(node, ast.ListComp) or not isinstance(node.elt, ast.ListComp):
        return node
    row = ast.Call(function, [_rows_as_arrays(node.elt, function)], [])
    made = ast.ListComp(row, node.generators)
    return ast.fix_missing_locations(ast.copy_location(made, node))


MOST_SPREAD = 8
"""Most rows of an array that are arguments of their own, for calls with so many."""


def _spread(t: Translator, given: Value) -> tuple[Value, ...]:
    """The arguments that ``*given`` stands for."""
    if isinstance(given, Tup):
        return given.each()
    if isinstance(given, Array) and given.rank:
        rows = t.array(given)
        count = t.code.facts.known(rows.shape[0])
        if count is not None and count <= MOST_SPREAD:
            from loopbook.frontend.unpacking import unpacked

            return unpacked(t, rows, count)
    raise t.code.fail("*arguments that are no tuple")


def call(
    t: Translator, function: Value, args: list[Value], kwargs: dict[str, Value], name: str
) -> Value:
    """The value of a call."""
    from loopbook.frontend.inline import Local, inline, inline_local

    if (calling := own_operators.method(function, "__call__")) is not None:
        return inline(t, calling, [function, *args], kwargs)
    if isinstance(function, Bound):
        if function.name == "ufunc.outer":
            return FUNCTIONS[np.outer](t, *args, ufunc=function.owner, **kwargs)
        lowering, args = METHODS[function.name], [function.owner, *args]
    elif isinstance(function, Thing):
        target = function.value
        if isinstance(target, Local):
            return inline_local(t, target, args, kwargs)
        if isinstance(target, records.Making):
            return records.made(t, target, args)
        if isinstance(target, records.Method):
            return inline(t, target.function, [target.owner, *args], kwargs)
        if isinstance(target, records.Replacing):
            return target(t, *args, **kwargs)
        if records.is_record(target):
            return records.of_call(t, target, args, kwargs)
        from loopbook.frontend.constructs.calling import called_object

        if (lowered := called_object(target)) is not None:
            return lowered(t, *args, **kwargs)
        target = _python_of(target)
        if is_python(target):
            return inline(t, target, args, kwargs)
        lowering = lowering_of(t, target, name)
        if python_maths.is_maths(target):
            args = [python_maths.taken(t, target, value) for value in args]
            return python_maths.given(_lowered(t, lowering, args, kwargs, name))
    else:
        raise t.code.fail(f"calling {name}")
    return _lowered(t, lowering, args, kwargs, name)


def _lowered(
    t: Translator,
    lowering: Callable[..., Value],
    args: list[Value],
    kwargs: dict[str, Value],
    name: str,
) -> Value:
    if t.code.wide and name.rpartition(".")[2] not in unsigned.WHOLE:
        for value in (*args, *kwargs.values()):
            if isinstance(value, Array) and value.dtype == types.WIDE:
                raise t.code.fail(f"{name}() of uint64; convert to int64 if they are small")
    try:
        return lowering(t, *args, **kwargs)
    except TypeError as error:
        if "argument" not in str(error) and "positional" not in str(error):
            raise
        reason = str(error).split("()", 1)[-1].strip()
        raise t.code.fail(f"{name}(): {reason}") from None


def _python_of(target: Any) -> Any:
    """The function that something was made of which remembers its results or compiles it."""
    if isinstance(target, functools._lru_cache_wrapper):
        return target.__wrapped__
    if isinstance(target, type):
        return target
    return getattr(target, "func", getattr(target, "py_func", target))


def lowering_of(t: Translator, target: Any, name: str) -> Callable[..., Value]:
    """What lowers calls of a function.

    Raises:
        LoweringError: if nothing does.
    """
    from loopbook.frontend.constructs.special import lowering_by_name

    try:
        return lowering_by_name(target) or FUNCTIONS[target]
    except (KeyError, TypeError):
        raise t.code.fail(f"{name}() has no loops yet; {instead(target)}") from None


def is_python(target: Any) -> bool:
    """Whether a function is to be inlined: one in Python that has no lowering of its own."""
    return (
        isinstance(target, python_types.FunctionType)
        and target not in FUNCTIONS
        and not (target.__module__ or "").startswith("numpy")
    )


def is_elementwise(t: Translator, way: list[ast.AST], uses: int, mask: bool = False) -> bool:
    """Whether a name is used element by element, on the way down from a statement to it.

    Args:
        mask: whether it may be one.
    """
    for node in way[:-1]:
        match node:
            case ast.Assign() | ast.Return() | ast.Expr():
                pass
            case ast.AugAssign():
                if isinstance(node.op, ast.MatMult) or node.target is way[-1]:
                    return False
            case ast.BinOp():
                if isinstance(node.op, ast.MatMult):
                    return False
            case ast.UnaryOp() | ast.Compare() | ast.keyword():
                pass
            case ast.Call() if _is_total(node, way):
                if uses > 1:
                    return False
            case ast.Call():
                try:
                    function = t.expr(node.func) if not _has_call(node.func) else None
                except Exception:
                    return False
                target = function.value if isinstance(function, Thing) else None
                if target in (np.sum, np.mean) and uses == 1 and len(way) - 2 == way.index(node):
                    continue
                if target not in ELEMENTWISE:
                    return False
            case ast.Subscript():
                if not mask or node.slice is not way[-1] or not isinstance(node.ctx, ast.Load):
                    return False
            case ast.Attribute():
                if node.attr not in ("sum", "mean") or uses > 1:
                    return False
            case _:
                return False
    return True


def _is_total(node: ast.Call, way: list[ast.AST]) -> bool:
    """Whether a call is of a method that adds up all elements of the name at the end of the way."""
    method = node.func
    if not isinstance(method, ast.Attribute) or method.value is not way[-1]:
        return False
    return method.attr in ("sum", "mean")


def _has_call(node: ast.AST) -> bool:
    return any(isinstance(inner, ast.Call) for inner in ast.walk(node))
