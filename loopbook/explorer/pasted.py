"""Pasted Python as an SDFG: parsed, never run.

Of the text only functions are made, without decorators, defaults and annotations, and whatever is
written there; no statement of it is executed, no module but NumPy and `math` is imported. Types of
arguments come from annotations (as for ``loopbook lint``), sizes from a literal ``PARAMETERS``, and
the rest from how the function uses them (`guesses`).
"""

from __future__ import annotations

import ast
import copy
import hashlib
import linecache
import math
from collections.abc import Iterator
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np

from loopbook.errors import InputError, LoweringError
from loopbook.explorer.guesses import guess
from loopbook.frontend import Lowered, lower
from loopbook.frontend.lint import ABOUT_SIZES, kernels, literals, sizes_of
from loopbook.frontend.samples import Samples
from loopbook.sdfg import frontend
from loopbook.sdfg.local import with_local

MOST_TEXT = 64 << 10
MOST_NODES = 20_000
MOST_FUNCTIONS = 4
LARGEST_EXPONENT = 1000

_MODULES = {"numpy": np, "math": math}


@dataclass(frozen=True)
class Pasted:
    """One function as docc's front end makes it.

    Attributes:
        text: its SDFG as JSON text.
        lowered: it was turned into loops first.
        sizes: of the SDFG's symbols; None where they were made up.
    """

    name: str
    text: str
    lowered: bool
    sizes: dict[str, int] | None


def programs(text: str) -> tuple[list[Pasted], list[str]]:
    """The SDFGs of the text's kernels, and what could not be known or done, one line each.

    Raises:
        InputError: it is too long, no Python, or holds no function.
    """
    if len(text) > MOST_TEXT:
        raise InputError(f"that is more than {MOST_TEXT >> 10} KiB of Python; paste one kernel")
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise InputError(f"line {error.lineno or 1}: that is no Python: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise InputError(f"that is no Python: {type(error).__name__}") from None
    if sum(1 for _ in ast.walk(tree)) > MOST_NODES:
        raise InputError("that is too much Python; paste one kernel")
    _refuse_bombs(tree)
    nodes = {one.name: one for one in tree.body if isinstance(one, ast.FunctionDef)}
    chosen = kernels(nodes)
    if not chosen:
        raise InputError("there is no function in it: paste a whole one, from its 'def' on")
    sizes = sizes_of(tree)
    names = _functions(text, tree)
    problems: list[str] = []
    if len(chosen) > MOST_FUNCTIONS:
        left = ", ".join(one.name for one in chosen[MOST_FUNCTIONS:])
        problems.append(f"only the first {MOST_FUNCTIONS} functions are looked up, without {left}")
    found = []
    for node in chosen[:MOST_FUNCTIONS]:
        try:
            found.append(_pasted(node, names[node.name], sizes, problems))
        except LoweringError as error:
            problems.append(f"line {error.line or node.lineno}: {node.name}: {error.what}")
        except InputError as error:
            problems.append(f"line {node.lineno}: {node.name}: {error}")
    return found, problems


def _refuse_bombs(tree: ast.Module) -> None:
    """Refuse numbers that would fill the memory of whoever works them out.

    Raises:
        InputError: there is one.
    """
    for node in ast.walk(tree):
        match node:
            case ast.BinOp(op=ast.Pow() | ast.LShift(), right=right):
                inner = [*ast.walk(right)]
                large = any(
                    isinstance(one, ast.Constant)
                    and isinstance(one.value, int | float)
                    and one.value > LARGEST_EXPONENT
                    for one in inner
                )
                if large or any(isinstance(one, ast.Pow | ast.LShift) for one in inner):
                    raise InputError(f"line {node.lineno}: a power with so large an exponent")


def _pasted(
    node: ast.FunctionDef, function: FunctionType, sizes: dict[str, Any], problems: list[str]
) -> Pasted:
    arguments, made_up, lowered, refused = _lowered(node, function, sizes)
    kernel: Any = function
    if lowered is not None:
        kernel, arguments = lowered.kernel, [*lowered.prepare(*arguments)]
    problems += refused
    text = frontend.trace(kernel, arguments)
    if lowered is not None:
        text = with_local(text, lowered, arguments)
    symbols = None if made_up else frontend.size_symbols(kernel, arguments)
    return Pasted(node.name, text, lowered is not None, symbols)


def _lowered(
    node: ast.FunctionDef, function: FunctionType, sizes: dict[str, Any]
) -> tuple[list[Any], bool, Lowered | None, list[str]]:
    """Arguments, whether their sizes were made up, the function as loops, and what was not known.

    Where the shapes that were guessed do not fit, others are tried.
    """
    first: tuple[list[Any], bool, Lowered | None, list[str]] | None = None
    for rank in (None, 2, 1):
        notes: list[str] = []
        arguments, made_up, sure = _arguments(node, sizes, rank, notes)
        try:
            return arguments, made_up, lower(function, arguments), notes
        except LoweringError as error:
            told = (
                f"line {error.line or node.lineno}: {error.what}: this has no form in loops, and"
                " docc's own front end is asked"
            )
            first = first or (arguments, made_up, None, [*notes, told])
            if sure or not error.what.startswith(ABOUT_SIZES):
                break
    assert first is not None
    return first


def _arguments(
    node: ast.FunctionDef, sizes: dict[str, Any], rank: int | None, notes: list[str]
) -> tuple[list[Any], bool, bool]:
    """Values for a function's arguments, whether their sizes were made up, and whether all ranks
    are sure.

    Args:
        rank: of arrays of which nothing is known.
    """
    given = node.args
    if given.vararg or given.kwarg or given.kwonlyargs:
        raise InputError("it takes any number of arguments, or such that go by name only")
    samples = Samples(sizes)
    parameters = [*given.posonlyargs, *given.args]
    values = {one.arg: samples.of(one.arg, one.annotation) for one in parameters}
    unknown = [name for name, value in values.items() if value is None]
    guessed = guess(node, unknown, sizes, rank)
    values |= guessed.values
    place = f"line {node.lineno}: {node.name}"
    if guessed.notes:
        notes.append(f"{place}: {'; '.join(guessed.notes)}; annotate them to be sure")
    made_up = bool(samples.named) or samples.loose or bool(guessed.notes)
    if made_up:
        notes.append(f"{place}: its sizes are not known, so a recipe has to hold at all sizes")
    return [*values.values()], made_up, guessed.sure


def _functions(text: str, tree: ast.Module) -> dict[str, Any]:
    """What the names of the text stand for: NumPy, `math`, literals, and functions that nothing
    has been done for but to make them."""
    file = f"<pasted {hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:16]}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict[str, Any] = {"np": np, "numpy": np, "math": math}
    for node in tree.body:
        names.update(_imported(node))
        names.update(literals(node))
    bare: list[ast.stmt] = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            bare.append(_stripped(node))
    # Of these, to execute a definition evaluates nothing: see `_stripped`.
    module = ast.Module(bare, [])
    exec(compile(module, file, "exec", dont_inherit=True), names)
    return names


def _stripped(node: ast.FunctionDef) -> ast.FunctionDef:
    """The function without all that Python evaluates when it comes to a definition."""
    node = copy.deepcopy(node)
    node.decorator_list = []
    node.returns = None
    vars(node)["type_params"] = []  # from Python 3.12 on
    given = node.args
    given.defaults = []
    given.kw_defaults = [None] * len(given.kwonlyargs)
    for one in (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg):
        if one is not None:
            one.annotation = None
    return node


def _imported(node: ast.stmt) -> Iterator[tuple[str, Any]]:
    match node:
        case ast.Import():
            for alias in node.names:
                if alias.name in _MODULES:
                    yield alias.asname or alias.name, _MODULES[alias.name]
        case ast.ImportFrom(module=module, level=0) if module in _MODULES:
            for alias in node.names:
                found = getattr(_MODULES[module], alias.name, None)
                if found is not None:
                    yield alias.asname or alias.name, found
