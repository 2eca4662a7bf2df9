"""Loads before the stores that they must not see, and stores of one element in their order.

docc merges statements that follow each other into one block, a graph of what flows where, in which
nothing says that an old value is loaded before a new one is stored; it writes the block's code in
any order that the graph allows (seen with 0.8.1). Where a load has no place before a store of the
same element, the block is cut in two::

    v[i] = w[i] - c[i]                           v[i] = w[i] - c[i]
    c[i] = 2 * c[i]      (one block)     →       ---- another block
                                                 c[i] = 2 * c[i]

What is loaded from a node that nothing flows into was there before the block: a load behind a store
has the store's own node, or that of a later one (of what may be another element: ``v[6 * n + i]``,
then ``v[7 * n + i]``). Of two stores of one element (``v[i] = a[i]``, then ``v[i] = 0.5``) the
graph says nothing at all; their lines in the source do. What these leave open, docc has lost: such
a program is refused.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations

from loopbook.errors import SdfgError
from loopbook.program import expr
from loopbook.program.dataflow import AccessNode, Block, Memlet, Operation, oldest_first, part
from loopbook.program.element import Position
from loopbook.program.expr import Expr, Polynomial
from loopbook.program.tree import Program
from loopbook.program.walk import Inner, spread

Places = set[int]
"""Of nodes of a block."""


def in_memory_order(program: Program) -> Program:
    """The program with blocks cut where a load or store has to come before a store; itself if
    there are no such places.

    Raises:
        SdfgError: a load needs an old value and comes behind the store of a new one.
    """

    def cut(node: Inner) -> list[Inner]:
        return [*_ordered(node)] if isinstance(node, Block) else [node]

    return spread(program, cut)


def _ordered(whole: Block) -> list[Block]:
    ahead = _ahead(whole)
    if not ahead:
        return [whole]
    parts: list[Places] = [set()]
    for place in _sequence(whole, ahead):
        if ahead[place] & parts[-1]:
            parts.append(set())
        parts[-1].add(place)
    return [
        part(whole, [m for m in whole.memlets if m.target in own or m.source in own])
        for own in parts
    ]


def _ahead(whole: Block) -> defaultdict[int, Places]:
    """Operations that have to come before each operation, but that nothing flows from."""
    stores = [m for m in whole.memlets if isinstance(whole.nodes[m.target], AccessNode)]
    loads = [m for m in whole.memlets if isinstance(whole.nodes[m.source], AccessNode)]
    found: defaultdict[int, Places] = defaultdict(set)
    reached: dict[int, Places] = {}
    told = [*_in_turn(whole, stores)]
    for store in stores:
        later = {last.target for first, last in told if first is store}
        for load in loads:
            if load.source == store.target or not _is_same(whole, load, store):
                continue
            behind = reached.setdefault(store.target, _reached(whole, store.target))
            if load.source in behind or load.source in later or load.target == store.source:
                continue
            if store.source not in reached.setdefault(load.target, _reached(whole, load.target)):
                if _was_stored(whole, load.source):
                    raise SdfgError("docc loses which store of an element is read")
                found[store.source].add(load.target)
    if _has_lost_a_store(whole, stores):
        raise SdfgError("docc loses the last store of an element")
    for first, last in told:
        behind = reached.setdefault(first.target, _reached(whole, first.target))
        before = reached.setdefault(last.target, _reached(whole, last.target))
        if last.source not in behind and first.source not in before:
            found[last.source].add(first.source)
    for one, other in combinations(stores, 2):
        if (one, other) in told or (other, one) in told or not _is_surely_same(whole, one, other):
            continue
        ends = reached.setdefault(one.target, _reached(whole, one.target))
        if other.source in ends or one.source in _reached(whole, other.target):
            continue
        raise SdfgError("docc loses which of two stores of an element is the last")
    return found


def _is_surely_same(whole: Block, one: Memlet, other: Memlet) -> bool:
    """Whether two stores are of one element, of which something is known."""
    nodes = whole.nodes[one.target], whole.nodes[other.target]
    assert isinstance(nodes[0], AccessNode)
    assert isinstance(nodes[1], AccessNode)
    if nodes[0].container != nodes[1].container or not one.subset:
        return False
    return len(one.subset) == len(other.subset) and all(
        _apart(a, b) == {} for a, b in zip(one.subset, other.subset, strict=True)
    )


def _was_stored(whole: Block, place: int) -> bool:
    """Whether a node that is loaded from was a store's once: docc says of stores where they come
    from. Where it drops one that is overwritten, it leaves the node, and who reads what has
    overwritten it may hang there (seen with 0.8.1)."""
    return not whole.inputs[place] and whole.nodes[place].position.known


def _has_lost_a_store(whole: Block, stores: Sequence[Memlet]) -> bool:
    """Whether a store's node is left that nothing flows into any more, of an array that the source
    stores into before as well: the earlier store is then the one that is to be seen."""
    left = [
        node
        for place, node in enumerate(whole.nodes)
        if isinstance(node, AccessNode) and not whole.inputs[place] and not whole.outputs[place]
    ]
    for store in stores if left else ():
        one = whole.nodes[store.target]
        assert isinstance(one, AccessNode)
        for node in left:
            known = node.position.known and one.position.known
            later = known and node.position.start > one.position.start
            if later and node.container == one.container:
                return True
    return False


def _in_turn(whole: Block, stores: Sequence[Memlet]) -> Iterator[tuple[Memlet, Memlet]]:
    """Pairs of stores that may be of one element, the one that the source has first in front.
    Copies that unrolling makes of a store are on one line, which tells nothing then."""
    nodes = [(store, whole.nodes[store.target]) for store in stores]
    times = Counter((node.position.file, node.position.start) for _, node in nodes)
    sure = [
        (store, node.position)
        for store, node in nodes
        if node.position.known and times[node.position.file, node.position.start] == 1
    ]
    for first, here in sure:
        for last, there in sure:
            if _is_before(here, there) and _is_same(whole, first, last, first.target):
                yield first, last


GRAPHS = "__docc_"
"""What docc-ai calls the file of a graph begins so: the text of one function in MLIR."""


def _is_before(here: Position, there: Position) -> bool:
    """Whether the source has one position before the other in one function.

    Positions in a graph of docc-ai name an operation, such as ``linalg.add``, in a function's
    place. The graph's function is one block of operations that run in the order of their lines;
    where docc has joined positions to a range, nothing is said of what overlaps it.
    """
    if here.file != there.file:
        return False
    if here.file.startswith(GRAPHS) and "." in here.function and "." in there.function:
        return here.end < there.start
    return here.function == there.function and here.start < there.start


def _is_same(whole: Block, load: Memlet, store: Memlet, place: int = -1) -> bool:
    """Whether a load and a store may be of one element.

    Args:
        place: of the node that is accessed, if it is not loaded from.
    """
    one, other = whole.nodes[load.source if place < 0 else place], whole.nodes[store.target]
    assert isinstance(one, AccessNode)
    assert isinstance(other, AccessNode)
    if one.container != other.container:
        return False
    if len(load.subset) != len(store.subset):
        return True
    return not any(_differ(a, b) for a, b in zip(load.subset, store.subset, strict=True))


def _differ(one: Expr, other: Expr) -> bool:
    apart = _apart(one, other)
    return apart is not None and set(apart) == {()} and apart[()] != 0


def _apart(one: Expr, other: Expr) -> Polynomial | None:
    """How far two indices are from each other, where that can be told."""
    try:
        found = expr.polynomial(f"({one}) - ({other})")
    except SdfgError:
        return None
    return {term: factor for term, factor in found.items() if factor}


def _reached(whole: Block, place: int) -> Places:
    """Nodes that what a node gives flows into."""
    found: Places = set()
    waiting = [place]
    while waiting:
        new = {memlet.target for memlet in whole.outputs[waiting.pop()]} - found
        found |= new
        waiting.extend(new)
    return found


def _sequence(whole: Block, ahead: defaultdict[int, Places]) -> Sequence[int]:
    """The block's operations, the oldest first of those that may come next.

    Raises:
        SdfgError: if there is no such order.
    """
    operations = [n for n, node in enumerate(whole.nodes) if isinstance(node, Operation)]
    needs = {place: set(ahead[place]) if place in ahead else set() for place in operations}
    for memlet in whole.memlets:
        if memlet.target in needs:
            needs[memlet.target].update(m.source for m in whole.inputs[memlet.source])
    found = oldest_first(whole, needs)
    if len(found) < len(operations):
        raise SdfgError("docc needs the old value of an element behind the store of a new one")
    return found
