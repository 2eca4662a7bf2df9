"""Makes docc's OpenMP loops fit for clang: values of their own for threads, and balanced work.

clang moves the body of a parallel loop into a function, which reaches the variables around it by
reference. It must then take every store through a pointer for a change of sizes, scalars and the
pointers themselves: it loads them again in the innermost loops, and neither vectorises these nor
keeps sums in registers. Copies that are made in the body, what OpenMP calls ``firstprivate``, have
no address that anybody else could know. docc's OpenMP loops have no such clause. Loops that stay
with one thread suffer with them: in a function that tells another one where its variables are,
those are no longer its own.

A loop that holds no other one is cut into parts of some hundred iterations first, for each of which
copies are made once: ``(3 x + 2) x - 1 + sin(x) exp(-x x)`` of 1,000,000 numbers takes two threads
11.4 ms with docc's loop, and 0.45 in such parts; one thread takes 0.83 (AVX-512, 2026-11-27).

Loops of a constant length that begin at a tile of a parallel loop count from zero: clang does not
know there that ``tile + 16`` is no overflow.

docc deals iterations out in equal parts, of which one has three quarters of a triangle. And it lets
threads share the temporaries that another part of the program uses as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TypeVar

from loopbook.errors import SdfgError
from loopbook.program.accesses import accesses, counted, names, written
from loopbook.program.dataflow import AccessNode, Block, LibraryNode, Memlet
from loopbook.program.expr import Expr
from loopbook.program.rename import renamed
from loopbook.program.tree import VECTORISED, Loop, Node, Program, Sequence, While
from loopbook.program.types import Pointer, Scalar, on_stack
from loopbook.program.walk import Inner, Path, children, path_to, preorder, rebuilt, replaced
from loopbook.steps import Step
from loopbook.steps.editor import Editor, assignments

Code = TypeVar("Code", Loop, Sequence)

_GUIDED = "omp_schedule", "2"
"""docc's number for OpenMP's schedule(guided). Dealt out one by one, the rows of a small triangle
take up to six times as long."""

_PREFIX = "own_"

_PART = 512
"""Iterations that a thread gets at a time of a loop without others. Chosen: of a sum and a product
so many take a tenth of a microsecond, of what calls functions some microseconds."""


def improve_threads(program: Program) -> Program:
    """A scheduled program with copies of what its loops only read: of parallel ones in their
    bodies, of others before them.

    Scalars, and pointers to arrays, are copied where there is a loop in the body. Iterations of
    unequal length are dealt out in ever smaller portions. Loops keep docc's numbers.

    Returns:
        The program itself if it has no parallel loops.
    """
    editor = Editor(program, {}, {})
    shared = list(_outermost_parallel(program))
    if not shared:
        return program
    for loop in shared:
        if not _has_loop(loop):
            if (parts := _in_parts(editor, loop)) is None:
                continue
            loop = parts
        body = rebuilt(_separated(editor, loop), _from_zero)
        copies, body = _captured(editor, body, {loop.variable, *_own_arrays(body, editor)})
        body = replace(body, children=(*copies, *body.children))
        editor.put_at(_path(editor, loop), replace(_balanced(loop), body=body))
    for loop in list(_outermost_serial(editor.program)):
        copies, own = _captured(editor, loop, {loop.variable})
        editor.put_at(_path(editor, loop), *copies, own)
    return editor.program


def _path(editor: Editor, loop: Loop) -> Path:
    path = path_to(editor.program, loop)
    assert path is not None
    return path


def _outermost_parallel(node: Program | Inner) -> Iterator[Loop]:
    if isinstance(node, Loop) and node.schedule.is_shared:
        yield node
        return
    for child in children(node):
        yield from _outermost_parallel(child)


def _outermost_serial(node: Program | Inner) -> Iterator[Loop]:
    """Loops without threads, not in each other."""
    for child in children(node):
        if isinstance(child, Loop) and not any(_outermost_parallel(child)):
            yield child
        elif not (isinstance(child, Loop) and child.schedule.is_shared):
            yield from _outermost_serial(child)


def _has_loop(loop: Loop) -> bool:
    """Whether a copy for each iteration is outweighed by what the iteration does."""
    return any(isinstance(node, Loop | While) for node in preorder(loop.body))


def _in_parts(editor: Editor, loop: Loop) -> Loop | None:
    """A parallel loop over parts, each a loop in vectors; None if it is not that simple, or one
    iteration may take long."""
    blocks = (node for node in preorder(loop.body) if isinstance(node, Block))
    calls = any(isinstance(node, LibraryNode) for block in blocks for node in block.nodes)
    if loop.kind != "map" or loop.id is None or calls or _is_collapsed(loop):
        return None
    own = Editor(editor.program, {"L0": loop.id}, {})
    if own.tried(Step("tile", ("L0", _PART))) is not None:
        return None
    (number,) = own.made
    parts = own.at(number)
    (part,) = parts.body.children
    assert isinstance(part, Loop)
    parts = replace(parts, body=Sequence((replace(part, schedule=VECTORISED),)))
    own.put_at(own.path(number), parts)
    editor.program = own.program
    return parts


def _is_collapsed(loop: Loop) -> bool:
    """Whether docc has made it of loops in each other: its indices are quotients and remainders,
    of which there are no vectors."""
    indices = (index for access in accesses(loop.body) for index in access.subset)
    return any("idiv(" in i.text and loop.variable in i.symbols for i in indices)


def _balanced(loop: Loop) -> Loop:
    """The loop with iterations dealt out as threads get free, if one end of a loop inside moves
    with them.

    Both ends of a loop over the points of a tile move: it is as long in every iteration. One
    between two constants is cut off at the edges of an array alone.
    """
    if _GUIDED[0] in dict(loop.schedule.properties):
        return loop
    for inner in preorder(loop.body):
        if isinstance(inner, Loop):
            ends = [loop.variable in end.symbols for end in (inner.init, inner.condition)]
            if ends[0] != ends[1] and not _between_constants(inner):
                properties = (*loop.schedule.properties, _GUIDED)
                return replace(loop, schedule=replace(loop.schedule, properties=properties))
    return loop


def _between_constants(loop: Loop) -> bool:
    """Whether it begins at a constant, or later, and ends at one, or earlier."""
    try:
        bounds = loop.bounds
    except SdfgError:
        return False
    ends = bounds.lows, bounds.highs
    return all(any(bound.keys() <= {()} for bound in side) for side in ends)


def _from_zero(node: Inner) -> Inner:
    """A loop of constant length that begins elsewhere, from zero on; anything else as it is."""
    if not isinstance(node, Loop):
        return node
    try:
        bounds = node.bounds
    except SdfgError:
        return node
    if bounds.step != 1 or len(bounds.lows) != 1 or len(bounds.highs) != 1:
        return node
    width = bounds.width()
    used = any(access.container == node.variable for access in accesses(node.body))
    if width is None or bounds.lows[0].keys() <= {()} or used or len(bounds.room) != 1:
        return node
    body = renamed(node.body, {node.variable: f"({node.init} + {node.variable})"})
    condition = Expr(f"({node.variable} < {width})")
    return replace(node, init=Expr("0"), condition=condition, body=body)


def _separated(editor: Editor, loop: Loop) -> Sequence:
    """A loop's body with other names for scalars that are set in it and occur elsewhere too.

    docc makes those private to a thread that occur in no other place (seen with 0.8.1). The rest,
    which copies of a loop have in common say, all threads would share.
    """
    empty = replace(loop, body=replace(loop.body, children=()))
    elsewhere = names(replaced(editor.program, _path(editor, loop), empty))
    shared = sorted(_scalars(_set(loop.body), editor) & elsewhere)
    return renamed(loop.body, {name: editor.variable(_PREFIX + name, name) for name in shared})


def _own_arrays(body: Sequence, editor: Editor) -> set[str]:
    """Arrays on the stack of which docc gives each thread its own: a copied pointer would be to one
    that all of them write."""
    containers = editor.program.containers
    return {name for name in written(body) if name in containers and on_stack(containers[name])}


def _captured(editor: Editor, code: Code, own: set[str]) -> tuple[list[Node], Code]:
    """Blocks that copy what a loop or body only reads, and the code that reads the copies.

    Args:
        own: variables that change with it, and what is each iteration's own.
    """
    containers = editor.program.containers
    constant = names(code) & containers.keys() - own - _changed(code, editor)
    reached = _reached(code)
    copies: list[Node] = []
    symbols: list[tuple[str, str]] = []
    fresh: dict[str, str] = {}
    for name in sorted(constant):
        kind = containers[name]
        if isinstance(kind, Scalar):
            fresh[name] = editor.variable(_PREFIX + name, name)
            if kind.dtype.startswith(("int", "uint")):
                symbols.append((fresh[name], name))
            else:
                copies.append(editor.copy((name, ()), (fresh[name], ())))
        elif name in reached:
            fresh[name] = editor.pointer(_PREFIX + name, reached[name])
            copies.append(editor.address(name, fresh[name]))
    if symbols:
        copies.append(assignments(symbols))
    return copies, renamed(code, fresh)


def _scalars(found: Iterable[str], editor: Editor) -> set[str]:
    return {name for name in found if isinstance(editor.program.containers.get(name), Scalar)}


def _set(code: Loop | Sequence) -> frozenset[str]:
    """What the code itself gives values to: variables of loops, symbols, and what it stores."""
    return written(code) | counted(code)


def _changed(code: Loop | Sequence, editor: Editor) -> set[str]:
    """Scalars and pointers that the code itself sets, and all that its library nodes are given."""
    found = _scalars(_set(code), editor)
    for block, memlet in _memlets(code):
        ends = block.nodes[memlet.source], block.nodes[memlet.target]
        given = {end.container for end in ends if isinstance(end, AccessNode)}
        if any(isinstance(end, LibraryNode) for end in ends):
            found |= given
        elif isinstance(ends[1], AccessNode) and memlet.target_connector == "ref":
            found.add(ends[1].container)
    return found


def _reached(code: Loop | Sequence) -> dict[str, Pointer]:
    """Containers that the code reaches as pointers, and the type that it takes them for."""
    found: dict[str, Pointer] = {}
    for block, memlet in _memlets(code):
        if isinstance(memlet.type, Pointer) and memlet.type.to is not None:
            for place in (memlet.source, memlet.target):
                end = block.nodes[place]
                if isinstance(end, AccessNode):
                    found[end.container] = memlet.type
    return found


def _memlets(code: Loop | Sequence) -> Iterator[tuple[Block, Memlet]]:
    for node in preorder(code):
        if isinstance(node, Block):
            for memlet in node.memlets:
                yield node, memlet
