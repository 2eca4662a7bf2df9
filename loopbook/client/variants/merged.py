"""The function as it is when the same array is passed for several of its arguments.

``kernel(A, B, C)`` called as ``kernel(x, y, x)`` becomes a function of ``A`` and ``B`` in which
every ``C`` is an ``A``. Whatever is found out about its dependences holds for that call then.
"""

from __future__ import annotations

import ast
import itertools
import linecache
from collections.abc import Callable, Collection, Mapping, Sequence
from types import FunctionType
from typing import Any

from loopbook.errors import SdfgError
from loopbook.sdfg.source import definition
from loopbook.syntax import mentioned

_numbers = itertools.count()

ASKED = ("shape", "size", "ndim")
"""Attributes of an array that say nothing about its elements."""


def merged(func: Callable[..., Any], first: Sequence[int], ranks: Mapping[int, int]) -> Any:
    """`func` without the arguments that repeat another one, and with that one in their place.

    Args:
        first: for each argument the position of the first one that is the same array.
        ranks: number of dimensions of each array among the arguments, by position.

    Raises:
        SdfgError: unless the function takes all its arrays element by element, in loops. NumPy
            evaluates a whole right-hand side before it stores anything, and docc does not always.
    """
    if not isinstance(func, FunctionType):
        raise SdfgError("an array is passed twice, and the function cannot be rewritten")
    try:
        tree = definition(func)
    except OSError as error:
        raise SdfgError(f"an array is passed twice, and there is no source: {error}") from None
    if tree.args.posonlyargs or tree.args.kwonlyargs:
        raise SdfgError(
            "an array is passed twice, and the function takes its arguments in odd ways"
        )
    names = [argument.arg for argument in tree.args.args]
    _check_elementwise(tree, {names[place]: rank for place, rank in ranks.items()})
    renamed = {names[n]: names[one] for n, one in enumerate(first) if n != one}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = renamed.get(node.id, node.id)
    tree.args.args = [argument for argument in tree.args.args if argument.arg not in renamed]
    tree.args.defaults = []
    tree.decorator_list = []
    tree.returns = None
    return _made(tree, func)


def _check_elementwise(tree: ast.FunctionDef, ranks: Mapping[str, int]) -> None:
    refused = SdfgError("an array is passed twice, and not only taken element by element")
    made = {
        name
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and not _is_scalar(node.value, ranks)
        for target in node.targets
        for name in mentioned(target)
    }
    whole = {*ranks, *made}
    known: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Lambda, ast.FunctionDef, ast.comprehension)) and node is not tree:
            raise refused
        if isinstance(node, (ast.Global, ast.Nonlocal, ast.Delete, ast.Starred, ast.With)):
            raise refused
        if isinstance(node, ast.Attribute) and node.attr in ASKED:
            known.add(node.value)
        if isinstance(node, ast.Subscript) and _name(node.value) in ranks:
            index = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            bare = {name for part in index for name in _bare(part)}
            if len(index) != ranks[_name(node.value)] or bare & whole:
                raise refused
            if any(isinstance(part, (ast.Slice, ast.Constant)) and _odd(part) for part in index):
                raise refused
            known.add(node.value)
        if isinstance(node, ast.Name) and node.id in ranks and node not in known:
            raise refused
        known.update(_asked(node))


def _is_scalar(value: ast.expr, ranks: Mapping[str, int]) -> bool:
    """Where arrays are only taken element by element."""
    if isinstance(value, ast.Subscript):
        return _name(value.value) in ranks
    return isinstance(value, (ast.Constant, ast.BinOp))


def _asked(node: ast.AST) -> Collection[ast.AST]:
    """``A`` in ``len(A)``."""
    return node.args if isinstance(node, ast.Call) and _name(node.func) == "len" else ()


def _odd(part: ast.expr) -> bool:
    return not (isinstance(part, ast.Constant) and type(part.value) is int)


def _bare(index: ast.AST) -> set[str]:
    """Names in an index that are not themselves indexed or asked for their sizes."""
    if isinstance(index, ast.Subscript):
        return _bare(index.slice)
    if isinstance(index, ast.Attribute):
        return set()
    if isinstance(index, ast.Name):
        return {index.id}
    return {name for child in ast.iter_child_nodes(index) for name in _bare(child)}


def _name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _made(tree: ast.FunctionDef, func: FunctionType) -> FunctionType:
    """A function of this syntax tree that sees what `func` sees. Its source can be read, as docc
    does, in a file of this process's own mind."""
    free = func.__code__.co_freevars
    source = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    if free:
        inner = "".join(f"    {line}\n" for line in source.splitlines())
        source = f"def outer({', '.join(free)}):\n{inner}    return {tree.name}\n"
    file = f"<merged {tree.name} {next(_numbers)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    scope: dict[str, Any] = {}
    exec(compile(source, file, "exec"), func.__globals__, scope)
    if free:
        cells = func.__closure__ or ()
        return scope["outer"](*(cell.cell_contents for cell in cells))
    return scope[tree.name]
