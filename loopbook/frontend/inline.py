"""Calls of Python functions: their statements, in place of the call.

Before::

    def relu(x):
        return np.maximum(x, 0)

    y = relu(a + b)

After: as ``y = np.maximum(a + b, 0)``.
"""

from __future__ import annotations

import ast
import copy
import inspect
import linecache
import textwrap
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import CodeType
from typing import Any

from loopbook.errors import LoweringError
from loopbook.frontend.by_key import hands_on, stored_by_key
from loopbook.frontend.code import AgainError
from loopbook.frontend.expressions import wrapped
from loopbook.frontend.homes import Frame
from loopbook.frontend.liveness import Liveness
from loopbook.frontend.records import Fields
from loopbook.frontend.returns import RETURNED, single_exit
from loopbook.frontend.rising import never_negative
from loopbook.frontend.scopes import told_apart
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Thing, Tup, Unknown, Value

DEEPEST = 20
"""Functions within functions; more is taken for recursion."""

MOST_AGAIN = 32
"""Calls of functions within themselves. Each is statements of its own, and other sizes are compiled
anew: a transform of 64 numbers, which halves them down to one, took half a minute, one of 512 for
ever (2026-11-28)."""


class Local:
    """A function that is defined inside another one.

    Attributes:
        defaults: what its parameters are when they are not given, as it was at the definition.
    """

    def __init__(
        self, node: ast.FunctionDef | ast.Lambda, frame: Frame, t: Translator | None = None
    ) -> None:
        self.node, self.frame = node, frame
        wanted = node.args
        last = [a.arg for a in (*wanted.posonlyargs, *wanted.args)]
        given = dict(zip(last[len(last) - len(wanted.defaults) :], wanted.defaults, strict=True))
        given |= {a.arg: d for a, d in zip(wanted.kwonlyargs, wanted.kw_defaults, strict=True) if d}
        self.defaults: dict[str, Value] = {
            name: Unknown() if t is None else t.fixed(t.expr(d)) for name, d in given.items()
        }


@lru_cache(maxsize=256)
def parsed(function: Callable[..., Any]) -> ast.FunctionDef:
    """The tree of a Python function, with the line numbers of its file.

    Raises:
        LoweringError: if there is no source.
    """
    if getattr(function, "__name__", "") == "<lambda>":
        return told_apart(_written_with_lambda(function))
    try:
        lines, first = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError):
        raise LoweringError(
            f"{getattr(function, '__name__', 'a function')} has no source"
        ) from None
    ast.increment_lineno(tree, first - 1)
    node = tree.body[0]
    if not isinstance(node, ast.FunctionDef):
        raise LoweringError("a function that is not written with def", first)
    return told_apart(node)


def _written_with_lambda(function: Any) -> ast.FunctionDef:
    """The tree of a lambda, as if it had been written with ``def``."""
    code = function.__code__
    inspect.getsourcefile(function)
    text = "".join(linecache.getlines(code.co_filename))
    try:
        tree = ast.parse(text)
    except SyntaxError:
        tree = ast.Module([], [])
    wanted = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Lambda)
        and node.lineno == code.co_firstlineno
        and tuple(a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs))
        == wanted
    ]
    if len(found) > 1:
        found = [node for node in found if _is_of(node.body, code)]
    if len(found) != 1:
        raise LoweringError("a lambda whose source cannot be told; write it with def")
    body = ast.copy_location(ast.Return(found[0].body), found[0])
    made = ast.FunctionDef("lambda_", copy.deepcopy(found[0].args), [copy.deepcopy(body)], [])
    return ast.fix_missing_locations(ast.copy_location(made, found[0]))


def _is_of(body: ast.expr, code: CodeType) -> bool:
    """Whether code is that of an expression, by where it was written."""
    begin, end = (body.lineno, body.col_offset), (body.end_lineno, body.end_col_offset)
    known = [p for p in code.co_positions() if None not in p and p[2] != p[3]]
    return bool(known) and all(begin <= (p[0], p[2]) and (p[1], p[3]) <= end for p in known)


def names_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Globals of a function and what it closes over."""
    names = dict(function.__globals__)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            names[name] = cell.cell_contents
        except ValueError:
            continue
    return names


def inline(
    t: Translator,
    function: Callable[..., Any],
    args: list[Value],
    kwargs: Mapping[str, Value],
    line: int = 0,
) -> Value:
    """The value of ``function(*args, **kwargs)``; its statements are written to ``t.code``.

    Args:
        line: of the original, that its statements are said to come from.
    """
    node = parsed(function)
    signature = inspect.signature(function)
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise t.code.fail(f"{function.__name__}(): {error}") from None
    values = _values(signature, bound)
    for name, parameter in signature.parameters.items():
        if name not in values:
            values[name] = wrapped(parameter.default)
    file = inspect.getsourcefile(function) or ""
    return _run(t, node.body, values, names_of(function), file, line)


def _values(signature: inspect.Signature, bound: inspect.BoundArguments) -> dict[str, Value]:
    """What parameters stand for; those that take any number are tuples and dicts."""
    values: dict[str, Value] = dict(bound.arguments)
    for name, parameter in signature.parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            values[name] = Tup(tuple(bound.arguments.get(name, ())))
        elif parameter.kind is parameter.VAR_KEYWORD:
            given = bound.arguments.get(name, {})
            values[name] = Fields(tuple(given.values()), False, tuple(given))
    return values


def _signature(local: Local) -> inspect.Signature:
    """As `inspect.signature` would give it for a function that exists."""
    given, kinds = local.node.args, inspect.Parameter
    found = [
        *((a.arg, kinds.POSITIONAL_ONLY) for a in given.posonlyargs),
        *((a.arg, kinds.POSITIONAL_OR_KEYWORD) for a in given.args),
        *([(given.vararg.arg, kinds.VAR_POSITIONAL)] if given.vararg else ()),
        *((a.arg, kinds.KEYWORD_ONLY) for a in given.kwonlyargs),
        *([(given.kwarg.arg, kinds.VAR_KEYWORD)] if given.kwarg else ()),
    ]
    return inspect.Signature(
        [kinds(name, kind, default=local.defaults.get(name, kinds.empty)) for name, kind in found]
    )


def inline_local(
    t: Translator, local: Local, args: list[Value], kwargs: Mapping[str, Value]
) -> Value:
    """The same for a function that is defined inside the one at hand, or a lambda."""
    signature = _signature(local)
    try:
        values = local.defaults | _values(signature, signature.bind(*args, **kwargs))
    except TypeError as error:
        name = getattr(local.node, "name", "a lambda")
        raise t.code.fail(f"{name}(): {error}") from None
    names = {**local.frame.names, **local.frame.env}
    if isinstance(local.node, ast.Lambda):
        made = ast.Return(local.node.body)
        body: list[ast.stmt] = [ast.copy_location(made, local.node.body)]
    else:
        body = local.node.body
    return _run(t, body, values, names, local.frame.file)


def _run(
    t: Translator,
    body: list[ast.stmt],
    values: dict[str, Value],
    names: Mapping[str, Any],
    file: str,
    line: int = 0,
) -> Value:
    if len(t.frames) > DEEPEST:
        raise t.code.fail("a function that calls itself")
    if any(frame.body is body for frame in t.frames):
        t.code.again += 1
        if t.code.again > MOST_AGAIN:
            raise t.code.fail("a function that calls itself, and so often that Python is quicker")
    dicts = [name for name, value in values.items() if isinstance(value, Fields)]
    if stored_by_key(t.frame.body) and any(hands_on(body, name) for name in dicts):
        raise t.code.fail("a dict that is stored into, and that a function gives back")
    frame = Frame({}, dict(names), file, Liveness([], frozenset()), body=body)
    body = single_exit(body, values, optional=t.code.optional, outside=names)
    frame.live = Liveness(body, frozenset((RETURNED,)))
    frame.line = line or t.frame.line
    frame.turn = (*t.frame.turn, id(t.frame.at))
    frame.rising = never_negative(body) - values.keys()
    origin, depth = t.code.origin, len(t.frames)
    t.frames.append(frame)
    frame.rest.append(body)
    try:
        for name, value in values.items():
            frame.env[name] = frame.given[name] = t.settled(name, value)
        frame.rest.pop()
        t.body(body)
        return frame.env.get(RETURNED, Thing(None))
    except LoweringError as error:
        if not error.file and not isinstance(error, AgainError):
            raise type(error)(error.what, error.line or t.code.origin, file) from None
        raise
    finally:
        del t.frames[depth:]
        t.code.origin = origin
