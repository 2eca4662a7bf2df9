"""Neighbouring nests that hand data to each other, as one: a region.

A nest is an outermost loop, so a region is made one, of a loop of one round. Before::

    for i: for j: T[i, j] = A[i, j] + A[i + 1, j]
    for i: for j: B[i, j] = T[i, j] * T[i + 1, j]

and after it::

    for region in 0 … 1:
        for i: for j: T[i, j] = A[i, j] + A[i + 1, j]
        for i: for j: B[i, j] = T[i, j] * T[i + 1, j]

Everything that there is for nests is for regions then: fingerprint, embedding, records, recipes,
whose steps speak of neighbouring loops inside of it, ports. What compiles the program does not see
the loop: `without_regions` takes it away again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from loopbook.errors import SdfgError
from loopbook.program import walk
from loopbook.program.accesses import accesses, names, written
from loopbook.program.dataflow import Allocation, Statement
from loopbook.program.element import like
from loopbook.program.expr import Expr
from loopbook.program.tree import Assignments, Loop, Node, Program
from loopbook.program.tree import Sequence as Body
from loopbook.program.types import Scalar

MOST_NESTS = 6
"""Of a region. Chosen: the more there are, the fewer programs have the same."""

_PREFIX = "_region_"


def is_region(loop: walk.Inner) -> bool:
    """Whether a loop is a region's, made here."""
    return isinstance(loop, Loop) and loop.variable.startswith(_PREFIX) and is_like_region(loop)


def is_like_region(loop: walk.Inner) -> bool:
    """Whether a loop may be a region's, whatever its variable is called now, as in records that
    strangers sent: it runs once, and nothing says how often. So may a loop of their own."""
    if not isinstance(loop, Loop) or loop.step != 1:
        return False
    try:
        trip = loop.bounds.trip()
    except SdfgError:  # a header that is no comparison
        return False
    return trip == 1 and all(loop.variable not in names(node) for node in loop.body.children)


def with_regions(
    program: Program, wanted: Callable[[Sequence[Loop]], bool] = lambda _: True
) -> Program:
    """The program with its regions as nests; itself if it has none.

    Args:
        program: with loops that count in signed numbers.
        wanted: whether so many nests, in their order, are to be one.
    """
    if sum(isinstance(node, Loop) for node in program.body.children) < 2:
        return program
    siblings = program.body.children
    made: list[Node] = []
    place = 0
    while place < len(siblings):
        run = _run(program, place)
        if run is None or not wanted(run.loops):
            made.append(siblings[place])
            place += 1
            continue
        program, region = _region(program, run.inside)
        made += [*run.before, region, *run.behind]
        place = run.end
    return walk.with_new(program, made)


def without_regions(program: Program) -> Program:
    """The program with the nests of regions side by side; itself if it has no region."""
    if not any(map(is_region, program.body.children)):
        return program
    return walk.with_children(
        program, [one for node in program.body.children for one in _bare(node)]
    )


def _bare(node: Node) -> Iterator[Node]:
    if not is_region(node):
        yield node
        return
    assert isinstance(node, Loop)
    yield from node.body.children


@dataclass
class _Run:
    """Siblings that make a region.

    Attributes:
        loops: the nests.
        inside: all that the region holds, in order.
        before, behind: memory that is allocated and freed in between.
        end: the place behind them.
    """

    loops: list[Loop]
    inside: list[Node]
    before: list[Node]
    behind: list[Node]
    end: int


def _run(program: Program, place: int) -> _Run | None:
    """The region that begins at a place; None if there is none."""
    first, *others = program.body.children[place:]
    if not isinstance(first, Loop) or is_region(first):
        return None
    run = _Run([first], [first], [], [], place + 1)
    waiting: list[Node] = []
    """What stands behind the last loop, and belongs to the region if another loop does."""
    for number, node in enumerate(others, place + 1):
        if not isinstance(node, Loop):
            if type(node) is not Statement and not isinstance(node, Assignments | Allocation):
                break
            waiting.append(node)
            continue
        if len(run.loops) == MOST_NESTS or not _takes(node, run.loops) or not _moved(run, waiting):
            break
        run.loops.append(node)
        run.inside.append(node)
        run.end = number + 1
        waiting = []
    return run if len(run.loops) > 1 else None


def _moved(run: _Run, waiting: Sequence[Node]) -> bool:
    """Let a region have what stands behind its last loop: memory is allocated before it and freed
    behind it. False, and nothing done, where that cannot be."""
    allocations = [node for node in waiting if isinstance(node, Allocation)]
    kept = [node for node in waiting if not isinstance(node, Allocation)]
    freed = [node for node in allocations if node.call.code == "Free"]
    allocated = [node for node in allocations if node.call.code != "Free"]
    sizes = [Expr(str(node.call.fields.value.get("size", ""))) for node in allocated]
    known = frozenset().union(*(size.symbols for size in sizes))
    changing = frozenset().union(*map(written, (*run.inside, *kept)))
    gone = frozenset().union(*map(names, (*run.behind, *freed)))
    if known & changing or any(gone & names(node) for node in (*kept, *allocated)):
        return False
    run.before += allocated
    run.behind += freed
    run.inside += kept
    return True


def _takes(loop: Loop, others: Sequence[Loop]) -> bool:
    """Whether a nest uses an array that one of some others has written."""
    arrays = {access.container for access in accesses(loop) if access.subset}
    return any(
        access.write and access.subset and access.container in arrays
        for other in others
        for access in accesses(other)
    )


def _region(program: Program, inside: Sequence[Node]) -> tuple[Program, Loop]:
    number = 0
    while (variable := f"{_PREFIX}{number}") in program.containers:
        number += 1
    program = program.declaring(**{variable: Scalar("int64")})
    program = like(program, counter=program.counter + 1)
    loop = Loop(
        variable,
        Expr("0"),
        Expr(f"({variable} < 1)"),
        Expr(f"1 + {variable}"),
        Body(tuple(inside)),
        kind="for",
        id=program.counter,
    )
    return program, loop
