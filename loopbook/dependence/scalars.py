"""Which scalars carry values: to another statement, to another iteration, out of a loop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field

from loopbook.errors import IllegalStepError
from loopbook.program import tree
from loopbook.program.accesses import (
    Part,
    counted,
    names,
    own_accesses,
    own_names,
    own_symbols,
    symbols,
    written,
)
from loopbook.program.conditions import covers_all
from loopbook.program.dataflow import AccessNode, Block, LibraryNode
from loopbook.program.element import remembered
from loopbook.program.standing import loops
from loopbook.program.tree import Assignments, Branch, Case, Loop, Opaque, Program, While
from loopbook.program.types import Type, type_of
from loopbook.program.walk import at, children, preorder, way


@dataclass
class _Uses:
    """Attributes:
    exposed: what is read that nothing before it in its statement has written.
    written: what gets a value.
    across: whether what is written is seen in the loops behind it; else they count as statements
        of their own.
    left: a loop whose own uses do not count: what it writes counts as not written then, behind it
        and, from the second iteration on, in the loops `around` it.
    """

    exposed: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)
    across: bool = False
    left: Loop | None = None
    around: frozenset[object] = frozenset()


def private_scalars(program: Program) -> frozenset[str]:
    """Scalars that carry no value from one statement to another one, anywhere in the program."""
    uses = _Uses(exposed=set(program.public))
    _sequence(program.body, uses)
    return frozenset(uses.written - uses.exposed)


def private_to_iterations(program: Program, loop: Loop) -> frozenset[str]:
    """Scalars that every iteration of a loop writes before it reads them, and nothing else needs.

    As long as the loop's body stays whole, they stand in the way of no order of its iterations.
    What the loop's own header reads is none of them: the next iteration's test needs it.
    """
    types = program.containers
    own = frozenset(
        name
        for name in written(loop) - upward_exposed(loop.body) - own_symbols(loop)
        if name not in types or not types[name].is_array
    )
    return own - live_out(program, loop) if own else own


def _sequence(sequence: tree.Sequence, uses: _Uses) -> None:
    """Note what the statements of a sequence do, and the loops between them."""
    defined: set[str] = set()
    for node in sequence.children:
        if _is_statement(node):
            _scan(node, defined, uses)
            continue
        defined = set()
        found = _inside(node)
        uses.exposed |= found.exposed
        uses.written |= found.written


def _is_statement(node: tree.Node) -> bool:
    """Whether a node is part of a statement: it has no loops in it."""
    if isinstance(node, Branch):
        return all(_is_statement(child) for case in node.cases for child in case.body.children)
    return isinstance(node, Block | Assignments)


@remembered
def _inside(node: tree.Node) -> _Uses:
    """What a loop does, or anything else that is no statement."""
    uses = _Uses(exposed=set(own_symbols(node)))
    match node:
        case Loop():
            uses.exposed.add(node.variable)
            uses.exposed.update(one.container for one in node.reductions or ())
            _sequence(node.body, uses)
        case While():
            _sequence(node.body, uses)
        case Branch():
            for branch in node.cases:
                uses.exposed |= branch.condition.symbols
                _sequence(branch.body, uses)
        case tree.Sequence():
            _sequence(node, uses)
        case Opaque():
            pass
    return uses


@remembered
def upward_exposed(body: tree.Sequence) -> frozenset[str]:
    """Scalars that a run of a loop's body may read before it writes them."""
    uses = _Uses(across=True)
    _scan(body, set(), uses)
    return frozenset(uses.exposed)


@remembered
def surely_written(body: tree.Sequence) -> frozenset[str]:
    """What a run of a loop's body writes whichever way it goes."""
    defined: set[str] = set()
    _scan(body, defined, _Uses(across=True))
    return frozenset(defined)


def live_out(program: Program, loop: Loop) -> frozenset[str]:
    """Scalars that a loop writes and of which something else may read what it leaves in them."""
    places = (one.path for one in loops(program) if one.id == loop.id)
    path = next((path for path in places if at(program, path) is loop), None)
    around = () if path is None else way(program.body, path)
    uses = _Uses(across=True, left=loop, around=frozenset(around))
    _scan(program.body, set(), uses)
    return written(loop) & (uses.exposed | program.public)


def _scan(node: tree.Node, defined: set[str], uses: _Uses) -> None:
    """Note which scalars a node reads that nothing before it has written."""
    if uses.left is None or node not in uses.around:
        _scan_whole(node, defined, uses)
        return
    defined -= written(uses.left)
    if node is not uses.left:
        _scan_whole(node, defined, uses)
        defined -= written(uses.left)


def _scan_whole(node: tree.Node, defined: set[str], uses: _Uses) -> None:
    match node:
        case Branch():
            _scan_branch(node, defined, uses)
        case Assignments():
            for assignment in node.assignments:
                uses.exposed |= assignment.expression.symbols - defined
                defined.add(assignment.symbol)
                uses.written.add(assignment.symbol)
        case Block():
            _scan_block(node, defined, uses)
        case tree.Sequence() if uses.across:
            for child in node.children:
                _scan(child, defined, uses)
        case Loop() | While() if uses.across:
            if uses.left is None or _names_any(node, written(uses.left)):
                _scan_loop(node, set(defined), uses)
        case _:
            uses.exposed |= names(node)


def _names_any(loop: Loop | While, wanted: frozenset[str]) -> bool:
    """Whether a loop reads or writes one of some scalars: other nests have scalars of their own."""
    found = _inside(loop)
    return not (wanted.isdisjoint(found.exposed) and wanted.isdisjoint(found.written))


def _scan_loop(loop: Loop | While, defined: set[str], uses: _Uses) -> None:
    if isinstance(loop, Loop):
        uses.exposed |= loop.init.symbols - defined
        defined.add(loop.variable)
        uses.exposed |= (loop.condition.symbols | loop.update.symbols) - defined
        uses.exposed |= {one.container for one in loop.reductions or ()} - defined
    _scan(loop.body, defined, uses)


def _scan_branch(branch: Branch, defined: set[str], uses: _Uses) -> None:
    ends = []
    for case in branch.cases:
        uses.exposed |= case.condition.symbols - defined
        inside = set(defined)
        for child in case.body.children:
            _scan(child, inside, uses)
        ends.append(inside)
    if len(ends) > 1 and covers_all([case.condition for case in branch.cases]):
        defined |= set.intersection(*ends)


def _scan_block(block: Block, defined: set[str], uses: _Uses) -> None:
    uses.exposed |= _read(block) - defined
    uses.exposed |= _handed_on(block)
    defined |= written(block)
    uses.written |= written(block)


@remembered
def _read(block: Block) -> frozenset[str]:
    """What a block reads, indices included, but for what it hands to libraries."""
    indices = (index.symbols for memlet in block.memlets for index in memlet.subset)
    data = (
        node.container
        for place, node in enumerate(block.nodes)
        if isinstance(node, AccessNode) and not block.inputs[place]
    )
    return frozenset(data).union(*indices)


@remembered
def _handed_on(block: Block) -> frozenset[str]:
    """What may be a name in a block's calls of libraries, written before or not."""
    calls = (node.fields.symbols for node in block.nodes if isinstance(node, LibraryNode))
    return frozenset().union(*calls)


Loops = tuple[Loop | While, ...]


def homes(node: tree.Node, containers: Mapping[str, Type]) -> dict[str, Loops]:
    """For each scalar that is written below a node: the loops, from the node on, of which every
    iteration has a value of its own of it, since it writes the scalar before it reads it.

    None of them if no such loops are known: then the scalar may carry a value between iterations.
    What indices and bounds mention is not looked at.

    Args:
        containers: the types of all that the program declares.
    """
    stored = written(node)
    return {name: own for name, own in _homes(node, containers).items() if name in stored}


def _homes(node: tree.Node, containers: Mapping[str, Type]) -> dict[str, Loops]:
    """`homes` of the scalars that are only read as well, which have none."""
    found: dict[str, Loops] = {}
    for name, write, around, guarded in _in_order(node, (), False):
        if name not in found:
            found[name] = around if write and not guarded else ()
        elif found[name] != around[: len(found[name])]:
            found[name] = ()
    return {n: own for n, own in found.items() if not type_of(n, containers).is_array}


def _in_order(node: Part, around: Loops, guarded: bool) -> Iterator[tuple[str, bool, Loops, bool]]:
    """What is read and written below a node, in program order: the container, whether it is
    written, the loops around, and whether a branch in the innermost of them may leave it out."""
    if isinstance(node, Case | Assignments):
        for name in own_symbols(node):
            yield name, False, around, guarded
    if isinstance(node, Block):  # what it reads it may read before it writes it
        for place, end in enumerate(node.nodes):
            if isinstance(end, AccessNode) and not node.inputs[place]:
                yield end.container, False, around, guarded
    for access in own_accesses(node):
        if access.write:
            yield access.container, True, around, guarded
    if isinstance(node, Loop | While):
        around, guarded = (*around, node), False
    for child in children(node):
        yield from _in_order(child, around, guarded or isinstance(node, Branch))


def check_unused_outside(program: Program, loop: Loop, names: Set[str]) -> None:
    """Refuse if the program may use what a loop leaves in one of the scalars `names`.

    Other nests may use the same scalars if each of their iterations writes them before it reads;
    so may all statements, if each of them does.

    Raises:
        IllegalStepError: if so.
    """
    if not (names := names - private_scalars(program)):
        return
    used = set(program.public)
    for child in program.body.children:
        used |= _used_outside(child, loop, program.containers)
    if escaping := sorted(used & names):
        raise IllegalStepError(f"the program uses {escaping[0]} outside of the loop")


def _used_outside(node: Part, loop: Loop, containers: Mapping[str, Type]) -> set[str]:
    """What the nodes from `node` on may take from others, or hand on to them, but a loop."""
    if node is loop:
        return set()
    if isinstance(node, Loop | While) and not any(inner is loop for inner in preorder(node)):
        taken = {name for name, own in _homes(node, containers).items() if not own}
        return taken | counted(node) | symbols(node)
    found = set(own_names(node))
    for child in children(node):
        found |= _used_outside(child, loop, containers)
    return found
