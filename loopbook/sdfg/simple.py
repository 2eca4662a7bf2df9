"""Programs of which docc has nothing left to simplify, and the kinds of their loops.

What docc's client sends has been simplified. Simplified again, since its loops have variables of
their own now, it stays as it is but for the kinds of loops: with a variable that nothing else uses,
more of them are maps. Those we know from our own test, in a tenth of the time. `simple` says
whether a program is of this sort: each statement is one block that stores into arrays which callers
see, and no two neighbouring nests are such as docc makes one of.

Where docc's kinds would be wrong (`loopbook.dependence.missed`) it is asked nevertheless: that its
own compile loses the order then is to be known.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Set
from dataclasses import dataclass, replace

from loopbook.dependence.missed import suspected
from loopbook.errors import SdfgError
from loopbook.program import expr
from loopbook.program.accesses import accesses, written
from loopbook.program.dataflow import AccessNode, Block, Statement, Tasklet
from loopbook.program.expr import Expr
from loopbook.program.tree import Loop, Program, Sequence
from loopbook.program.walk import Inner, preorder, rebuilt

Subset = tuple[Expr, ...]

DAMAGED = (LookupError, TypeError, ValueError, AttributeError, RecursionError)
"""What reading a document raises that nobody has looked through."""


def simple(program: Program) -> Program | None:
    """The program with its loops of those kinds that docc's simplification would give them; None
    if that may do more.

    Args:
        program: its loops have variables of their own.
    """
    try:
        if not _Simple(program).is_simple():
            return None
        told = _with_kinds(program)
        loops = [node for node in preorder(told.body) if isinstance(node, Loop)]
        if any(loop.kind == "for" and _is_mistaken(loop) for loop in loops):
            return None
        return None if _fuses(told.body) else told
    except (SdfgError, *DAMAGED):  # a bound that cannot be read, or more: docc says what it is
        return None


class _Simple:
    """Whether statements and headers of loops stay as they are."""

    def __init__(self, program: Program) -> None:
        self._program = program
        types = program.containers
        self._arrays = frozenset(name for name, type_ in types.items() if type_.is_array)
        self._fixed = frozenset(program.arguments) - written(program)
        """Names that mean the same everywhere."""
        self._stored: set[str] = set()
        """Scalars that some block has written."""

    def is_simple(self) -> bool:
        statements = self._program.body.children
        return bool(statements) and all(
            isinstance(node, Loop) and self._loop(node, self._fixed) for node in statements
        )

    def _loop(self, loop: Loop, known: frozenset[str]) -> bool:
        bounds = loop.bounds
        if loop.variable in self._program.public or loop.init.text != "0" or bounds.step != 1:
            return False
        if len(bounds.highs) != 1 or len(bounds.room) != 1 or bounds.trip() in (0, 1):
            return False
        if not loop.condition.symbols <= known | {loop.variable}:
            return False
        return self._sequence(loop.body, known | {loop.variable})

    def _sequence(self, body: Sequence, known: frozenset[str]) -> bool:
        after_statement = False
        for node in body.children:
            if isinstance(node, Statement):
                if after_statement or not self._statement(node, known):
                    return False
            elif not isinstance(node, Loop) or not self._loop(node, known):
                return False
            after_statement = isinstance(node, Statement)
        return bool(body.children)

    def _statement(self, block: Statement, known: frozenset[str]) -> bool:
        """Nothing in it is for nothing, forwarded, or read elsewhere."""
        for place, node in enumerate(block.nodes):
            if isinstance(node, Tasklet) and node.code == "assign":
                ends = [block.nodes[memlet.target] for memlet in block.outputs[place]]
                if not all(isinstance(n, AccessNode) and n.container in self._arrays for n in ends):
                    return False
            if isinstance(node, AccessNode) and not self._is_needed(block, place, node, known):
                return False
        return all(index.symbols <= known for memlet in block.memlets for index in memlet.subset)

    def _is_needed(self, block: Block, place: int, node: AccessNode, known: frozenset[str]) -> bool:
        """Whether a container is an element of an array, or a scalar that is given, or one that
        passes a value on in this block only."""
        name = node.container
        ins, outs = len(block.inputs[place]), len(block.outputs[place])
        if name in self._arrays:
            return name in self._program.public and not (ins and outs) and ins < 2
        if name in self._fixed:
            return not ins
        if name in self._program.public or name in known or name in self._stored:
            return False
        self._stored.add(name)
        return ins == 1 and outs > 0


def _with_kinds(program: Program) -> Program:
    """The program with loops as maps unless two iterations may touch one element; docc's sums stay
    sums."""
    arrays = {name for name, type_ in program.containers.items() if type_.is_array}
    ordered: set[str] = set()
    for nest in program.body.children:
        if isinstance(nest, Loop):
            found = suspected(nest, arrays, written(nest) - arrays)
            loops = (node for node in preorder(nest) if isinstance(node, Loop))
            ordered.update(loop.variable for n, loop in enumerate(loops) if n in found)

    def told(node: Inner) -> Inner:
        if not isinstance(node, Loop) or node.kind == "reduce":
            return node
        kind = "for" if node.variable in ordered else "map"
        return node if node.kind == kind else replace(node, kind=kind)

    return rebuilt(program, told)


def _is_mistaken(loop: Loop) -> bool:
    """Whether docc may take a loop for parallel, or for a sum, whose order matters.

    It sees that an iteration reads what an earlier one wrote, but not what a later one overwrites;
    and a sum in the innermost loop, or beside something else.
    """
    stores: defaultdict[str, set[Subset]] = defaultdict(set)
    loads: defaultdict[str, set[Subset]] = defaultdict(set)
    for access in accesses(loop):
        if access.subset:
            (stores if access.write else loads)[access.container].add(access.subset)
    if any(len(subsets) > 1 for subsets in stores.values()):
        return True
    innermost = not any(isinstance(node, Loop) for node in loop.body.children)
    for name, subsets in stores.items():
        (store,) = subsets
        for load in loads[name]:
            if load != store:
                if not _is_earlier(load, store):
                    return True
            elif not any(loop.variable in index.symbols for index in store) and (
                innermost or len(stores) > 1
            ):
                return True
    return False


def _is_earlier(load: Subset, store: Subset) -> bool:
    """Whether a load's element lies in front of a store's by a sum of sizes and numbers."""
    gaps = [expr.plus(b.polynomial, a.polynomial, -1) for a, b in zip(load, store, strict=True)]
    return all(factor > 0 for gap in gaps for factor in gap.values())


@dataclass(frozen=True)
class _Uses:
    """What a nest of maps stores into, and how many different elements it loads in an iteration."""

    stored: Set[str]
    loaded: Mapping[str, int]


def _fuses(body: Sequence) -> bool:
    """Whether docc may make one of two neighbouring nests, or compute what the first one stores
    again where the second one loads it: both of maps alone, and only one element is loaded."""
    before: _Uses | None = None
    for node in body.children:
        if not isinstance(node, Loop):
            before = None
            continue
        if _fuses(node.body):
            return True
        uses = _uses(node)
        if before and uses and any(uses.loaded.get(name) == 1 for name in before.stored):
            return True
        before = uses
    return False


def _uses(nest: Loop) -> _Uses | None:
    """Those of a nest; None if it is not of maps alone."""
    if any(isinstance(node, Loop) and node.kind != "map" for node in preorder(nest)):
        return None
    loads = {(a.container, a.subset) for a in accesses(nest) if not a.write and a.subset}
    return _Uses(written(nest), Counter(name for name, _ in loads))
