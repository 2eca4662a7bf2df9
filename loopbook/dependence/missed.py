"""Dependences that docc overlooks.

docc 0.8 takes a loop for parallel although one iteration reads what a later one overwrites
(``B[i] = B[i + 1]``), or although all iterations add to the same elements (``s[j] += …`` in a loop
over ``i`` that computes something else as well). Its threads race then. `missed` finds such loops
by a rough look at their indices, so that they are not run in parallel. That test knows no bounds,
and nothing of indices that differ: of a factorisation it suspects that ``A[1 + i + k, k]`` may be
``A[k, k]``. `confirmed` does; the loops that it leaves may be reordered. (In ``for i: for j:
A[i + 1, j] += A[i, j + 1]`` the inner loop is parallel, but better a suspect too: docc lets what it
calls a map change places with the loop around it.)

It also takes ``s += s * a[i]; t += s`` for two sums, whose iterations may be added in any order,
and ``c[i] += b[j]; f[j] = c[j]`` in a loop over ``j`` for a sum, although ``c[j]`` may be the
element that grows. And it overlooks the same in loops of sums as in others: ``s += a[i]; b[i] =
b[i + 1]``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence, Set
from dataclasses import replace

from loopbook.dependence.arrays import loops_in, read_arrays
from loopbook.dependence.body import LoopNode, Statement, read_header, statements
from loopbook.dependence.places import carries_nothing, keep_apart, suspects
from loopbook.dependence.touches import touches
from loopbook.errors import IllegalStepError, SdfgError
from loopbook.program import expr, tree
from loopbook.program.accesses import own_accesses, own_symbols
from loopbook.program.nest import Loop, Nest
from loopbook.program.walk import Inner, preorder, rebuilt


def missed(nest: Nest) -> frozenset[int]:
    """Indices of the loops that docc calls maps, but whose iterations may depend on their order,
    and of those that it calls reductions, but which are more."""
    maps = [loop for loop in nest.loops if loop.kind == "map"]
    early = frozenset(loop.index for loop in maps if is_left_early(nest, loop))
    return early | _suspects(nest, maps) | _no_reductions(nest) | _ordered_reductions(nest)


def suspected(
    loop: tree.Loop | tree.While,
    arrays: Set[str],
    scalars: Collection[str],
    asked: Collection[int] | None = None,
) -> frozenset[int]:
    """Places, in preorder, of those of a loop and the loops in it of which two iterations may touch
    one element of an array, one of them writing: the rough test of `missed`.

    Args:
        scalars: that are written in it.
        asked: places of the loops to look at; all, if not given.
    """
    root = read_arrays(loop, arrays, bounded=False)
    inside = dict(enumerate(loops_in(root)))
    wanted = inside if asked is None else {place: inside[place] for place in asked}
    found = suspects(root, list(wanted.values()), scalars)
    return frozenset(place for place, node in wanted.items() if node in found)


def confirmed(nest: Nest, found: Iterable[int]) -> frozenset[int]:
    """Those of some `missed` of which the loops' bounds do not show either that all iterations
    touch different elements."""
    return frozenset(
        index
        for index in found
        if nest.loops[index].kind == "reduce"
        or is_left_early(nest, nest.loops[index])
        or not _is_independent(nest, nest.loops[index])
    )


def unordered(nest: Nest) -> frozenset[int]:
    """Indices of the loops that docc wrongly takes for parallel: the `missed` that are
    `confirmed`; looked for once."""
    if "unordered" not in nest.notes:
        nest.notes["unordered"] = confirmed(nest, missed(nest))
    return nest.notes["unordered"]


def serialised(program: tree.Program, wrong: Set[int]) -> tree.Program:
    """The program with loops in their own order that docc takes for parallel.

    Args:
        wrong: docc's numbers for them.
    """

    def serial(node: Inner) -> Inner:
        if isinstance(node, tree.Loop) and node.id in wrong:
            return replace(node, kind="for", reductions=None)
        return node

    return rebuilt(program, serial) if wrong else program


def _no_reductions(nest: Nest) -> frozenset[int]:
    """Indices of reductions to something that is used for something else, too, as it grows."""
    scalars = {container.data for container in nest.containers if not container.is_array}
    return frozenset(
        index
        for index, node in _reductions(nest).items()
        if any(
            _is_read_apart(node, one.container)
            and (one.container in scalars or _is_met(nest, node, one.container))
            for one in node.reductions or ()
        )
    )


def _reductions(nest: Nest) -> dict[int, tree.Loop]:
    """Index of each reduction to the loop."""
    numbers = {loop.element_id: loop.index for loop in nest.loops if loop.kind == "reduce"}
    return {
        numbers[node.id]: node
        for node in (preorder(nest.loop) if numbers else ())
        if isinstance(node, tree.Loop) and node.id in numbers
    }


def _ordered_reductions(nest: Nest) -> frozenset[int]:
    """Indices of reductions whose iterations depend on their order by what else they do."""
    found: set[int] = set()
    grown = {
        index: frozenset(one.container for one in node.reductions or ())
        for index, node in _reductions(nest).items()
    }
    for own in {*grown.values()}:
        asked = [nest.loops[index] for index in grown if grown[index] == own]
        rough = _suspects(nest, asked, own)
        found.update(i for i in rough if not _is_independent(nest, nest.loops[i], own))
    return frozenset(found)


def _is_met(nest: Nest, loop: tree.Loop, array: str) -> bool:
    """Whether what a loop reads of an array may be an element that it writes to, besides what each
    write itself begins with."""
    assert loop.id is not None
    try:
        node, around = _in_place(nest, loop.id, set())
    except (IllegalStepError, SdfgError):
        return True
    uses = Counter[tuple[tuple[str, ...], bool]]()
    for statement, _ in statements(node):
        uses.update((t.place, t.write) for t in statement.touches if t.container == array)
    stores = [place for place, write in uses if write]
    return any(
        uses[place, False] > uses[place, True]
        if place in stores
        else not all(keep_apart(node, around, array, place, store) for store in stores)
        for place in {place for place, _ in uses}
    )


def _is_read_apart(loop: tree.Loop, scalar: str) -> bool:
    """Whether a loop reads a scalar, or an array, oftener than it writes it."""
    reads = 0
    for node in preorder(loop):
        own = [access for access in own_accesses(node) if access.container == scalar]
        reads += sum(1 if not access.write else -1 for access in own)
        if isinstance(node, tree.Assignments):
            texts = (one.expression.text for one in node.assignments)
            reads += sum(expr.symbols(text).count(scalar) for text in texts)
        else:
            reads += scalar in own_symbols(node)
    return reads > 0


def _is_independent(nest: Nest, loop: Loop, grown: Set[str] = frozenset()) -> bool:
    """Whether iterations touch different elements, besides those that all of them add to."""
    indices = {name for access in nest.accesses for text in access.subset for name in _names(text)}
    for other in nest.loops:
        indices |= _names(other.init) | _names(other.condition)
    try:
        node, around = _in_place(nest, loop.element_id, indices)
        for statement, _ in statements(node) if grown else ():
            statement.touches[:] = [t for t in statement.touches if t.container not in grown]
        return carries_nothing(node, around)
    except (IllegalStepError, SdfgError):
        return False


def _in_place(nest: Nest, number: int, indices: set[str]) -> tuple[LoopNode, list[LoopNode]]:
    """A loop as `_read` has it, and the loops around it.

    Raises:
        IllegalStepError: it stands in a branch, or is not understood.
        SdfgError: a bound cannot be read.
    """
    path = _path(nest.loop, number)
    if not path:
        raise IllegalStepError("the loop stands in a branch")
    around: list[LoopNode] = []
    for outer in path[:-1]:
        around.append(read_header(outer, _variables(around)))
    return _read(path[-1], around, indices), around


def _names(text: str) -> set[str]:
    return set(expr.symbols(text))


def _variables(loops: Sequence[LoopNode]) -> frozenset[str]:
    return frozenset(loop.variable for loop in loops)


def _path(root: tree.Loop | tree.While, number: int) -> tuple[tree.Loop | tree.While, ...]:
    """The loop with docc's number behind those around it; nothing if it stands in a branch."""
    if root.id == number:
        return (root,)
    for child in root.body.children:
        if isinstance(child, tree.Loop) and (found := _path(child, number)):
            return (root, *found)
    return ()


def _read(loop: tree.Loop | tree.While, around: Sequence[LoopNode], indices: set[str]) -> LoopNode:
    """The loop with what it does to arrays, and to scalars that index them; docc has looked at what
    it does to other scalars.

    Raises:
        IllegalStepError: it is not understood.
    """
    node = read_header(loop, _variables(around))
    path = [*around, node]
    for child in loop.body.children:
        if isinstance(child, tree.Loop):
            node.children.append(_read(child, path, indices))
            continue
        counted = _variables(path)
        found = [
            touch
            for touch in touches(child)
            if touch.subset or (touch.container in indices and touch.container not in counted)
        ]
        node.children.append(Statement([child], found))
    return node


def is_left_early(nest: Nest, loop: Loop) -> bool:
    """Whether something inside jumps out, so that which iterations run depends on the others."""
    jumps = [one for one in nest.operations if one.op in ("break", "return")]
    parents = [(one.op, nest.blocks[one.block].parent) for one in jumps]
    return any(
        parent == loop.index if op == "break" else loop in nest.ancestry(parent)
        for op, parent in parents
    )


def _suspects(nest: Nest, loops: Sequence[Loop], grown: Set[str] = frozenset()) -> frozenset[int]:
    """Those of which two iterations may touch one element of an array, one of them writing; but for
    those that are `grown`."""
    if not loops:
        return frozenset()
    scalars = [c.data for c in nest.containers if c.written and not c.is_array]
    arrays = {array.data for array in nest.arrays} - grown
    return suspected(nest.loop, arrays, scalars, [loop.index for loop in loops])
