"""What programs use their arrays' elements for: as indices, divisors, ends of loops.

Elements are followed through scalars and local arrays, whatever the order of statements: more may
seem to be used so than is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

from loopbook.program import walk
from loopbook.program.dataflow import AccessNode, Block, MathsCall, Operation, Reference, Tasklet
from loopbook.program.tree import Assignments, Branch, Loop, Program

HARMLESS = frozenset(
    (
        *("asinh", "atan", "atan2", "cbrt", "ceil", "copysign", "cos", "erf", "erfc", "exp"),
        *("exp2", "expm1", "fabs", "fdim", "floor", "fma", "fmax", "fmin", "max", "min"),
        *("nearbyint", "nextafter", "rint", "round", "roundeven", "sin", "tanh", "trunc"),
    )
)
"""Functions of mathematics with a value for every moderate number."""

_DIVISIONS = frozenset({"fp_div", "fp_rem", "int_sdiv", "int_udiv", "int_srem", "int_urem"})

_SHIFTS = frozenset({"int_shl", "int_ashr", "int_lshr"})

_ORDERED = ("lt", "le", "gt", "ge")


@dataclass(frozen=True)
class Roles:
    """Containers by what their elements are used for.

    Attributes:
        indices: they come to indices or to bounds of loops.
        ordered: two of their elements bound one loop, as the rows of a sparse matrix do.
        divisors: something is divided by them.
        shifts: numbers are shifted by them.
        narrow: a function of mathematics is called with them that has no value for all numbers.
        compared: they are compared with something.
        tested: they are in the condition of a branch.
        origins: each container to those whose elements it may hold, itself among them.
    """

    indices: frozenset[str]
    ordered: frozenset[str]
    divisors: frozenset[str]
    shifts: frozenset[str]
    narrow: frozenset[str]
    compared: frozenset[str]
    tested: frozenset[str]
    origins: dict[str, frozenset[str]]


def roles(program: Program) -> Roles:
    """What a program uses its containers for."""
    flows = list(_flows(program))
    origins: dict[str, frozenset[str]] = {name: frozenset((name,)) for name in program.containers}
    changed = True
    while changed:
        changed = False
        for source, target in flows:
            found = origins.get(target, frozenset((target,))) | origins.get(source, frozenset())
            if found != origins.get(target):
                origins[target], changed = found, True

    def traced(names: Iterable[str]) -> frozenset[str]:
        return frozenset().union(*(origins.get(name, ()) for name in names))

    used: dict[str, set[str]] = defaultdict(set)
    ordered: set[str] = set()
    for node in walk.preorder(program):
        match node:
            case Loop():
                ends = (node.init.symbols | node.condition.symbols) - {node.variable}
                used["indices"] |= ends
                each = [traced([name]) - {name} for name in sorted(ends)]
                for some, others in combinations(each, 2):
                    ordered |= some & others
            case Branch():
                for case in node.cases:
                    used["compared"] |= case.condition.symbols
                    used["tested"] |= case.condition.symbols
            case Block():
                for kind, name in _uses(node):
                    used[kind].add(name)
                for memlet in node.memlets:
                    steps = getattr(memlet.type, "strides", ())
                    for index in (*memlet.subset, *steps):
                        used["indices"] |= index.symbols
    found = {kind: traced(names) for kind, names in used.items()}
    nothing: frozenset[str] = frozenset()
    return Roles(
        indices=found.get("indices", nothing),
        ordered=frozenset(ordered),
        divisors=found.get("divisors", nothing),
        shifts=found.get("shifts", nothing),
        narrow=found.get("narrow", nothing),
        compared=found.get("compared", nothing),
        tested=found.get("tested", nothing),
        origins=origins,
    )


def _flows(program: Program) -> Iterator[tuple[str, str]]:
    """From which containers numbers come to which."""
    for node in walk.preorder(program):
        match node:
            case Assignments():
                for one in node.assignments:
                    for name in one.expression.symbols & program.containers.keys():
                        yield name, one.symbol
            case Loop():
                for name in (node.init.symbols | node.update.symbols) & program.containers.keys():
                    yield name, node.variable
            case Reference():
                ends = [one.container for one in node.nodes if isinstance(one, AccessNode)]
                for source in ends:
                    for target in ends:
                        yield source, target
            case Block():
                for place, operation in enumerate(node.nodes):
                    if isinstance(operation, Operation):
                        sources = [node.nodes[memlet.source] for memlet in node.inputs[place]]
                        for memlet in node.outputs[place]:
                            target = node.nodes[memlet.target]
                            for source in sources:
                                if isinstance(source, AccessNode) and isinstance(
                                    target, AccessNode
                                ):
                                    yield source.container, target.container


def _uses(block: Block) -> Iterator[tuple[str, str]]:
    for place, node in enumerate(block.nodes):
        for memlet in block.inputs[place]:
            source = block.nodes[memlet.source]
            if not isinstance(source, AccessNode):
                continue
            match node:
                case MathsCall():
                    if node.function not in HARMLESS:
                        yield "narrow", source.container
                    if node.function in ("fmax", "fmin", "max", "min"):
                        yield "compared", source.container
                case Tasklet():
                    second = memlet.target_connector == node.inputs[-1]
                    if node.code in _DIVISIONS and second:
                        yield "divisors", source.container
                    elif node.code in _SHIFTS and second:
                        yield "shifts", source.container
                    elif node.code.endswith(_ORDERED):
                        yield "compared", source.container
