"""Scalars that a loop carries from one iteration to the next, and docc loses."""

from __future__ import annotations

import ast
import contextlib
import json
import math
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
from docc.sdfg import StructuredSDFG, TargetOptions

from loopbook import dependence
from loopbook.errors import KernelError, LoopbookError
from loopbook.program import expr
from loopbook.program.accesses import names as all_names
from loopbook.program.dataflow import AccessNode, Block, Constant
from loopbook.program.extent_names import SHORT, extent_names
from loopbook.program.read import read as read_program
from loopbook.program.rename import renamed
from loopbook.program.tree import Case, Loop, Program, While
from loopbook.program.walk import Inner, children, with_children
from loopbook.program.write import write
from loopbook.sdfg.known_wrong.kinds import FLOAT, INT, Kind, Kinds, of_value
from loopbook.sdfg.known_wrong.source import Source, expression
from loopbook.sdfg.lost import separated
from loopbook.sdfg.pieces import LARGE, pairs
from loopbook.sdfg.unsolved import kept_apart
from loopbook.syntax import mentioned, walk
from loopbook.toolchain.one_child import run_shared
from loopbook.toolchain.sandbox import TRIES

Outer = TypeVar("Outer", bound=Program | Inner)

SECONDS = 30.0
"""How long docc may take over a function."""

_LOSES = "docc loses what '{}' had in the iteration before"


def mend(source: Source, text: str, args: Sequence[Any]) -> None:
    """Write the first values of what docc loses so that it cannot put them in.

    Before: ``s = 0.0``, ``t = 0.0``, and in a loop ``a = s + x[i]``, ``b = t + x[i]``, ``s = a``,
    ``t = b``. docc's simplification: ``s = 0.0 + x[i]``. After: ``s = float(x.shape[0]) * 0.0``, of
    which docc does not know the value. Which variables it loses is seen in what it makes of them:
    loops write the variable, and no longer read it, or read it less often than before and its first
    value too.

    Args:
        text: the function's SDFG, as docc's front end makes it.
        args: what the function is called with.

    Raises:
        MistranslationError: a variable does not begin with a number.
    """
    carried = dict(_carried(source.body))
    if not carried:
        return
    given = list(numbers(source))
    firsts = {(name, number) for name, _, number in given if name in carried}
    lost, gone = _lost(text, frozenset(carried), frozenset(firsts), _short_sizes(args))
    if not lost and not gone:
        return
    kinds = Kinds(source, dict(zip(source.parameters, map(of_value, args), strict=True)))
    for name in gone:
        if kinds.of(ast.Name(name, ast.Load())).what == FLOAT:  # whole numbers become symbols
            hide(kinds, [n for other, n, _ in given if other == name], _LOSES.format(name))
    for name in lost:
        what = _LOSES.format(name)
        first = [node for other, node, _ in given if other == name]
        if not first or not hide(kinds, first, what):
            source.refuse(carried[name], what.removeprefix("docc "), "sum in a loop of its own")


def hide(kinds: Kinds, given: Iterable[ast.Assign], why: str) -> bool:
    """Write numbers that variables are given so that docc does not know them; whether that can be
    done, for which there must be some number that docc does not know."""
    unknown = _size(kinds.parameters)
    if unknown is None:
        return False
    for node in given:
        whole = kinds.of(node.value).what == INT
        nought = f"int(float({unknown}) * 0.0)" if whole else f"float({unknown}) * 0.0"
        node.value = expression(f"{nought} + value", node, value=node.value)
        kinds.source.mend(node, why)
    return True


@lru_cache(maxsize=256)
def _lost(
    text: str,
    names: frozenset[str],
    firsts: frozenset[tuple[str, float | None]],
    sizes: tuple[tuple[str, str], ...],
) -> tuple[list[str], list[str]]:
    """Which of these variables loops read and write, and after docc's simplification only write,
    or read as their first values, which `firsts` names; and which neither read nor write, which may
    be for nothing.

    Args:
        sizes: that are numbers wherever docc cannot simplify a program with their names
            (`loopbook.sdfg.program`).
    """
    given = read_program(json.loads(text))
    program = kept_apart(_shortened(given, names) if pairs(given) >= LARGE else given)
    if program is not given:
        text = json.dumps(write(program))
    before = Counter(_accesses(program))
    suspects = {
        (loop, name)
        for loop, name, read in before
        if name in names and read and (loop, name, False) in before
    }
    if not suspects:
        return [], []
    try:
        simple = _simple(text, program, dict(sizes))
        after = Counter(_accesses(read_program(json.loads(simple))))
    except LoopbookError:  # it refuses; whoever goes on with it says so
        return [], []
    written = {(loop, name) for loop, name in suspects if (loop, name, False) in after}
    lost = {name for loop, name in written if (loop, name, True) not in after}
    for name, first in firsts:
        for loop in (loop for loop, other in suspects if other == name):
            read, value = (loop, name, True), (loop, first, True)
            # Others may use the same number, and stop doing so: it is enough that it is there.
            if after[read] < before[read] and after[value]:
                lost.add(name)
    left = {name for loop, name, _ in after if loop is None}
    return sorted(lost), sorted({name for loop, name in suspects if loop is None} - left)


def _shortened(node: Outer, names: frozenset[str]) -> Outer:
    """A node with only the first statement in each loop that has nothing to do with `names`: docc
    compares all that is in a loop with each other, which takes it long in a large one."""
    if isinstance(node, Loop | While) and names.isdisjoint(all_names(node)):
        return _with_first(node)
    return with_children(node, [_shortened(child, names) for child in children(node)])


def _with_first(node: Outer) -> Outer:
    if not isinstance(node, Loop | While):
        return node
    return with_children(node, [_with_first(child) for child in children(node)[:1]])


def _short_sizes(args: Sequence[Any]) -> tuple[tuple[str, str], ...]:
    """docc's names of the sizes of a call's arrays that loops are written for
    (`loopbook.frontend.lower`), and their values."""
    extents = extent_names(value.shape for value in args if isinstance(value, np.ndarray))
    return tuple((name, str(size)) for size, name in extents.items() if 1 < size <= SHORT)


def _simple(text: str, program: Program, sizes: Mapping[str, str]) -> str:
    """What docc's simplification makes of an SDFG; of one with its loops kept apart where it
    crashes, as it is compiled then (`loopbook.sdfg.program.prepare_apart`)."""
    limits: dict[str, Any] = {"seconds": SECONDS, "what": "docc"}
    dependence.load()  # for the next job of the same child
    try:
        return run_shared(_simplified, text, sizes, **limits, tries=TRIES)
    except KernelError:
        if (apart := separated(program)) is None:
            raise
        return run_shared(_simplified, json.dumps(write(apart)), sizes, False, **limits)


def _simplified(text: str, sizes: Mapping[str, str], inline: bool = True) -> str:
    """What docc's simplification makes of an SDFG, or of one with numbers for some sizes where it
    refuses; it may crash."""
    try:
        return _once(text, inline)
    except RuntimeError:
        program = read_program(json.loads(text))
        told = [renamed(node, sizes) for node in program.body.children]
        return _once(json.dumps(write(with_children(program, told))), inline)


def _once(text: str, inline: bool) -> str:
    sdfg = StructuredSDFG.parse(text)
    options = TargetOptions("none", "server")
    options.enable_fusion_in_normalize = False
    options.use_new_fusion_in_simplify = inline
    sdfg.expand(options)
    sdfg.simplify(options)
    return sdfg.to_json()


def _size(parameters: Mapping[str, Kind]) -> str | None:
    """Text of some whole number that docc does not know the value of."""
    for name, kind in parameters.items():
        if kind.rank > 0:
            return f"{name}.shape[0]"
        if kind.scalar and kind.what == INT:
            return name
    return None


def numbers(source: Source) -> Iterator[tuple[str, ast.Assign, float | None]]:
    """Where variables are given numbers that docc knows, also by way of other variables, and which:
    None where that depends on which way was taken."""
    given = [
        (node.targets[0].id, node)
        for node in source.walk()
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    ]
    often = Counter(name for name, _ in given)
    known: dict[str, float | None] = {}
    for _ in range(4):  # as many copies of copies
        for name, node in given:
            with contextlib.suppress(ValueError):
                value = _number(node.value, known)
                known[name] = value if often[name] == 1 else None
    for name, node in given:
        with contextlib.suppress(ValueError):
            yield name, node, _number(node.value, known)


def _carried(body: list[ast.stmt]) -> Iterator[tuple[str, ast.AST]]:
    """Variables that a loop may read before it writes them, and where it writes them."""
    for statement in body:
        if isinstance(statement, ast.For | ast.While):
            stored = dict(_stored(statement.body))
            for name in sorted(stored.keys() & reads_first(statement)[0]):
                yield name, stored[name]
        for block in ("body", "orelse"):
            yield from _carried(getattr(statement, block, []))


def _stored(body: list[ast.stmt]) -> Iterator[tuple[str, ast.AST]]:
    for statement in body:
        for node in walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id, statement


def reads_first(statement: ast.stmt) -> tuple[set[str], set[str]]:
    """Variables that a statement may read before it writes them, and what it surely writes."""
    match statement:
        case ast.Assign(targets=targets, value=value):
            stored = {t.id for t in targets if isinstance(t, ast.Name)}
            return _read(value, *targets), stored
        case ast.AugAssign(target=ast.Name(id=name), value=value):
            return {name, *_read(value)}, {name}
        case ast.For(target=target, iter=counted, body=body):
            own = mentioned(target)
            return _read(counted) | (block_reads(body)[0] - own), set()
        case ast.While(test=test, body=body):
            return _read(test) | block_reads(body)[0], set()
        case ast.If(test=test, body=body, orelse=orelse):
            (read, written), (other, also) = block_reads(body), block_reads(orelse)
            return _read(test) | read | other, written & also
    return _read(statement), set()


def block_reads(body: list[ast.stmt]) -> tuple[set[str], set[str]]:
    """`_read_first` of statements one after the other."""
    read: set[str] = set()
    written: set[str] = set()
    for statement in body:
        more, stored = reads_first(statement)
        read |= more - written
        written |= stored
    return read, written


def _read(*nodes: ast.AST) -> set[str]:
    """Variables that are read anywhere in syntax trees."""
    names = (n for node in nodes for n in walk(node) if isinstance(n, ast.Name))
    return {n.id for n in names if not isinstance(getattr(n, "ctx", None), ast.Store)}


def _accesses(
    node: Program | Inner, loops: tuple[int | None, ...] = ()
) -> Iterator[tuple[int | None, Any, bool]]:
    """Containers and constants that loops (by docc's number) read (true) or write (false); and all
    of them together (None), since docc gives some loops that it simplifies new numbers."""
    for value, read in _own_accesses(node):
        yield from ((loop, value, read) for loop in loops)
    if isinstance(node, Loop | While):
        loops = (*(loops or (None,)), node.id)
    for child in children(node):
        yield from _accesses(child, loops)


def _own_accesses(node: Program | Inner) -> Iterator[tuple[Any, bool]]:
    match node:
        case Block():
            for memlet in node.memlets:
                for place, read in ((memlet.source, True), (memlet.target, False)):
                    end = node.nodes[place]
                    if isinstance(end, AccessNode):
                        yield end.container, read
                    elif isinstance(end, Constant):
                        yield _parsed(end.text), read
        case Loop():
            for header in (node.condition, node.init, node.update):
                yield from ((word, True) for word in expr.symbols(header.text))
        case Case():
            yield from ((word, True) for word in expr.symbols(node.condition.text))


def _parsed(text: str) -> float | None:
    """A constant's value; infinities as docc writes them."""
    try:
        return float(text.replace("INFINITY", "inf"))
    except ValueError:
        return None


def _number(node: ast.expr, known: Mapping[str, float | None]) -> float | None:
    """The value of an expression of numbers alone.

    Raises:
        ValueError: it is none.
    """
    match node:
        case ast.Constant(value=value) if type(value) in (int, float):
            return float(value)  # type: ignore[arg-type]
        case ast.Attribute(attr=attr) if attr in _CONSTANTS:
            return _CONSTANTS[attr]
        case ast.Name(id=name) if name in known:
            return known[name]
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            value = _number(operand, known)
            return -value if value is not None and isinstance(node.op, ast.USub) else value
        case ast.BinOp(left=left, right=right):
            one, other = _number(left, known), _number(right, known)
            compute = _OPERATIONS.get(type(node.op))
            if compute is not None and one is not None and other is not None:
                with contextlib.suppress(ArithmeticError):
                    return compute(one, other)
    raise ValueError("not of numbers alone")


_CONSTANTS = {name: getattr(math, name) for name in ("inf", "nan", "pi", "e")}

_OPERATIONS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
