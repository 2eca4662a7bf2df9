"""The source of a Python function, if it is what runs."""

from __future__ import annotations

import ast
import dis
import inspect
import textwrap
from bisect import bisect_left
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any

from loopbook.errors import SdfgError

FUTURE = 0x1FF0000
"""Bits of a code object's flags that say which ``__future__`` features it was compiled with."""


MOST_KNOWN = 256

_sources: dict[tuple[str, CodeType], tuple[str, int]] = {}
"""Texts of functions: finding one and comparing it with what runs takes longer than parsing it."""


def definition(func: Callable[..., Any]) -> ast.FunctionDef:
    """The syntax tree of a function.

    Raises:
        OSError: if there is no source.
        SdfgError: if it is no function that was written with ``def``, or the source is of another
            one: the file has changed since it was read, or a decorator has put a function of its
            own in the place of the one that it says is `__wrapped__`.
    """
    return _parsed(_source(func)[0])


def first_line(func: Callable[..., Any]) -> int:
    """The line of its file that a function's `definition` begins with. Raises as that."""
    return _source(func)[1]


def _source(func: Callable[..., Any]) -> tuple[str, int]:
    """A function's text and where it begins, once it is known to be what runs."""
    if not isinstance(func, FunctionType):
        raise SdfgError("only functions written with def can be compiled")
    code = func.__code__
    key = code.co_filename, code
    known = _sources.get(key)
    if known is None:
        lines, first = inspect.getsourcelines(func)
        text = textwrap.dedent("".join(lines))
        found = _compiled(_parsed(text), code)
        if found is None or not _same(found, code):
            raise SdfgError(
                "its source is not what runs: it has changed, or a decorator is between"
            )
        if len(_sources) >= MOST_KNOWN:
            _sources.clear()
        known = _sources[key] = text, first
    return known


def _parsed(text: str) -> ast.FunctionDef:
    tree = ast.parse(text).body[0]
    if not isinstance(tree, ast.FunctionDef):
        raise SdfgError("only functions written with def can be compiled")
    return tree


def returned_parameters(tree: ast.FunctionDef) -> list[str | None]:
    """For each value that the function returns the argument that it always is, if it is one."""
    found: list[str | None] | None = None
    rebound = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and _is_stored(n)}
    parameters = {argument.arg for argument in tree.args.args} - rebound
    for node in returns(tree):
        values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
        names = [v.id if isinstance(v, ast.Name) and v.id in parameters else None for v in values]
        if found is None:
            found = list(names)
        elif len(found) != len(names):
            return []
        found = [one if one == other else None for one, other in zip(found, names, strict=True)]
    return found or []


def returns(tree: ast.FunctionDef) -> Iterator[ast.Return]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Return))


def _is_stored(node: ast.Name) -> bool:
    return not isinstance(node.ctx, ast.Load)


def _compiled(tree: ast.FunctionDef, code: CodeType) -> CodeType | None:
    """The tree's own code; inside a function, if it reads variables of one around it."""
    bare = ast.FunctionDef(
        name=tree.name, args=_bare(tree.args), body=tree.body, decorator_list=[], lineno=1
    )
    if hasattr(tree, "type_params"):
        bare.type_params = []  # type: ignore[attr-defined]
    outer = ast.parse(f"def outer({', '.join(code.co_freevars)}): pass").body[0]
    assert isinstance(outer, ast.FunctionDef)
    outer.body = [bare]
    module = ast.Module([outer if code.co_freevars else bare], [])
    made = compile(
        ast.fix_missing_locations(module), "<source>", "exec", code.co_flags & FUTURE, True
    )
    for name in (["outer"] if code.co_freevars else []) + [tree.name]:
        inside = [c for c in made.co_consts if isinstance(c, CodeType) and c.co_name == name]
        if not inside:
            return None
        made = inside[0]
    return made


def _bare(args: ast.arguments) -> ast.arguments:
    """The arguments without defaults and annotations, which belong to who defines the function."""
    return ast.arguments(
        posonlyargs=[ast.arg(a.arg) for a in args.posonlyargs],
        args=[ast.arg(a.arg) for a in args.args],
        vararg=ast.arg(args.vararg.arg) if args.vararg else None,
        kwonlyargs=[ast.arg(a.arg) for a in args.kwonlyargs],
        kw_defaults=[None] * len(args.kwonlyargs),
        kwarg=ast.arg(args.kwarg.arg) if args.kwarg else None,
        defaults=[],
    )


def _same(one: CodeType, other: CodeType) -> bool:
    """Whether two pieces of code do the same, wherever they were written."""
    return one.co_varnames == other.co_varnames and _instructions(one) == _instructions(other)


CALLING = {"LOAD_METHOD": "LOAD_ATTR", "CALL_METHOD": "CALL"}
"""Calls of what a module has are compiled in one way where the module is seen to be imported, and
in another where it is not."""

SILENT = ("PUSH_NULL", "PRECALL", "CACHE", "NOP")


def _instructions(code: CodeType) -> list[tuple[str, Any]]:
    kept = [i for i in dis.get_instructions(code) if i.opname not in SILENT]
    offsets = [instruction.offset for instruction in kept]
    found: list[tuple[str, Any]] = []
    for instruction in kept:
        value = instruction.argval
        if instruction.opcode in dis.hasjrel or instruction.opcode in dis.hasjabs:
            value = bisect_left(offsets, value)
        elif isinstance(value, CodeType):
            value = _instructions(value)
        elif instruction.opcode in dis.hasconst:
            value = repr(value)
        found.append((CALLING.get(instruction.opname, instruction.opname), value))
    return found
