"""Programs that make a number of itself again and again, so that the last place decides.

``x = r * x * (1 - x)`` doubles what ``x`` is off by about once in each step: after fifty steps
nothing is left of the digits that two compilers have in common. So do an orbit in the Lorenz
attractor and a point near the edge of the Mandelbrot set. Python's numbers are found only by those
who round each product and sum as Python does.

What counts is a product of two numbers, or a function of one, on a way from an element to the very
same element in the next iteration. What elements get from others, as in stencils, sums and products
of matrices, evens out such errors mostly, and is added up in another order anyway; quotients, as
elimination has them in each step, make errors smaller.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field

from loopbook.errors import SdfgError
from loopbook.program import expr
from loopbook.program.accesses import written
from loopbook.program.dataflow import (
    AccessNode,
    Block,
    MathsCall,
    Memlet,
    Tasklet,
    in_order,
)
from loopbook.program.expr import Expr
from loopbook.program.tree import Branch, Loop, Program, While
from loopbook.program.walk import Inner, children, preorder

_LINEAR = {"assign", "fp_neg", "fp_add", "fp_sub", "fp_fma", "fp_mul", "fp_div"}
_TAME = {"fabs", "floor", "ceil", "trunc", "rint", "round", "fmin", "fmax", "sqrt", "tanh"}
"""Functions that make no error much larger than it was, or have one that is cut off."""

MOST_STEPS = 4
"""So many iterations earlier a recurrence looks back at most."""

MOST_NODES = 2000
"""Of larger loops nobody is asked."""

Key = tuple[str, tuple[str, ...]]
"""A container, and which element of it: ``@0`` stands for the variable of the outermost of the
inner loops."""

Fixed = frozenset[tuple[expr.Monomial, int]]
"""A polynomial's terms."""

Place = tuple[str, tuple[Fixed, ...]]
"""A container, and an element's index in each dimension."""

_NUMBERED = re.compile(r"\d+")

_BESIDE = re.compile(r"(?<!\*)@\d+(?!\*)")
"""An index of neighbours: of which the next one is another's."""

Origin = tuple[Key, bool, frozenset[str]]
"""What a number was made of when the iteration began, whether by more than sums and multiples, and
the variables of inner loops that say which element it was."""

Origins = frozenset[Origin]
NONE: Origins = frozenset()


def amplifies(program: Program) -> bool:
    """Whether there is a loop that does."""
    floats = {n for n, kind in program.containers.items() if kind.element in ("float", "double")}
    loops = [node for node in preorder(program) if isinstance(node, Loop | While)]
    counts = {node.variable for node in loops if isinstance(node, Loop)}
    fixed = frozenset((*program.arguments, *counts))
    return any(
        _Loop(node, floats, fixed).amplifies()
        for node in loops
        if isinstance(node, While) or node.kind != "map"
    )


@dataclass
class _Loop:
    """What one loop carries from one iteration to the next."""

    loop: Loop | While
    floats: Set[str]
    fixed: frozenset[str]
    known: dict[Key, Origins] = field(default_factory=dict)
    inner: list[str] = field(default_factory=list)

    @property
    def variable(self) -> str:
        return self.loop.variable if isinstance(self.loop, Loop) else ""

    def amplifies(self) -> bool:
        nodes = [*preorder(self.loop)]
        blocks = [node for node in nodes if isinstance(node, Block)]
        if sum(len(block.nodes) for block in blocks) > MOST_NODES or not any(map(_grows, blocks)):
            return False
        self.floats = self.floats & set(written(self.loop))  # others stay what they are
        for node in children(self.loop):
            self.run(node)
        return _has_growing_cycle(self.edges())

    def edges(self) -> Iterator[tuple[Key, Key, bool]]:
        """Which elements follow from which in an iteration, and how."""
        apart = self.coupled()
        for key, origins in self.known.items():
            for source, grows, _ in origins:
                if not {source[0], key[0]} & apart:
                    yield source, key, grows
        # What is stored at t + 1 is read at t, what a loop stores at places that are numbers.
        alike: defaultdict[Place | None, list[Key]] = defaultdict(list)
        for key in self.known:
            alike[_place(key)].append(key)
        for place, keys in alike.items():
            for other in () if place is None else _steps_from(place, self.variable):
                yield from ((one, two, False) for one in keys for two in alike.get(other, ()))
        for key in self.known:
            if _NUMBERED.fullmatch("".join(key[1])):
                for other in self.known:
                    if other[0] == key[0] and other != key:
                        yield key, other, False
                        yield other, key, False

    def coupled(self) -> set[str]:
        """Arrays of which neighbours are read, too."""
        shifts: dict[str, set[tuple[str, ...]]] = {}
        for name, parts in self.known:
            shifted = tuple(part for part in parts if _BESIDE.search(part))
            if shifted:
                shifts.setdefault(name, set()).add(shifted)
        return {name for name, found in shifts.items() if len(found) > 1}

    def run(self, node: Inner) -> None:
        if isinstance(node, Block):
            self.block(node)
        elif isinstance(node, Branch):
            before, ends = self.known, []
            for case in node.cases:
                self.known = dict(before)
                self.run(case)
                ends.append(self.known)
            self.known = _either([before, *ends])
        elif isinstance(node, Loop):
            before = dict(self.known)
            self.inner.append(node.variable)
            for child in children(node):
                self.run(child)
            self.inner.pop()
            self.known = {key: self.seen(found) for key, found in self.known.items()}
            for key in before.keys() - self.known.keys():
                self.known[key] = before[key]
        else:
            for child in children(node):
                self.run(child)

    def seen(self, origins: Origins) -> Origins:
        """Those that are of the element at hand: not of one of a loop that is over."""
        return frozenset(one for one in origins if one[2] <= set(self.inner))

    def key(self, container: str, subset: tuple[Expr, ...]) -> tuple[Key, frozenset[str]] | None:
        """Which element an index names; None where nobody knows."""
        parts, found = [], []
        for index in subset:
            if not index.symbols <= self.fixed:
                return None
            text = index.text
            for depth, name in enumerate(self.inner):
                if name in index.symbols:
                    text = re.sub(rf"\b{name}\b", f"@{depth}", text)
                    found.append(name)
            parts.append(text)
        return (container, tuple(parts)), frozenset(found)

    def read(self, container: str, memlet: Memlet) -> Origins:
        at = self.key(container, memlet.subset)
        if at is None or container not in self.floats:
            return NONE
        key, own = at
        found = self.known.setdefault(key, frozenset({(key, False, frozenset[str]())}))
        if not own:
            return self.seen(found)
        return frozenset((source, grows, own) for source, grows, _ in found)

    def write(self, container: str, memlet: Memlet, value: Origins) -> None:
        at = self.key(container, memlet.subset)
        if at is None or container not in self.floats:
            return
        key, own = at
        if key[1] and own != set(self.inner):  # all iterations of a loop add to it
            value = NONE
        elif own:
            value = frozenset((s, grows, frozenset[str]()) for s, grows, of in value if of <= own)
        self.known[key] = value

    def block(self, block: Block) -> None:
        values: dict[int, Origins] = {}
        for place in in_order(block):
            node = block.nodes[place]
            given = [
                self.read(source.container, memlet)
                if isinstance(source := block.nodes[memlet.source], AccessNode)
                else values.get(memlet.source, NONE)
                for memlet in block.inputs[place]
            ]
            together = frozenset[Origin]().union(*given)
            if isinstance(node, AccessNode):
                for memlet in block.inputs[place]:
                    self.write(node.container, memlet, together)
            elif isinstance(node, MathsCall):
                values[place] = together if node.function in _TAME else _grown(together)
            elif isinstance(node, Tasklet) and node.code in _LINEAR:
                wild = node.code in ("fp_mul", "fp_fma") and len([one for one in given if one]) > 1
                values[place] = _grown(together) if wild else together


def _grows(block: Block) -> bool:
    """Whether something in a block may be more than sums and multiples."""
    return any(
        isinstance(node, MathsCall)
        or (isinstance(node, Tasklet) and node.code in ("fp_mul", "fp_fma"))
        for node in block.nodes
    )


def _grown(origins: Origins) -> Origins:
    return frozenset((source, True, own) for source, _, own in origins)


def _either(states: list[dict[Key, Origins]]) -> dict[Key, Origins]:
    """What may be known after one of several ways."""
    keys = {key for state in states for key in state}
    start = {key: frozenset({(key, False, frozenset[str]())}) for key in keys}
    return {
        key: frozenset[Origin]().union(*(state.get(key, start[key]) for state in states))
        for key in keys
    }


def _place(key: Key) -> Place | None:
    """Where an element is, however its index is written; None where nobody can read it."""
    name, parts = key
    try:
        return name, tuple(Fixed(expr.polynomial(p.replace("@", "inner_")).items()) for p in parts)
    except SdfgError:
        return None


def _steps_from(place: Place, variable: str) -> Iterator[Place]:
    """Where an element is some iterations later or earlier, if it is another one then."""
    name, parts = place
    moves = [(dict(part), expr.growth(dict(part), variable)) for part in parts]
    if any(each for _, each in moves):
        for steps in range(1, MOST_STEPS + 1):
            for n in (steps, -steps):
                yield name, tuple(Fixed(expr.plus(at, each, n).items()) for at, each in moves)


def _has_growing_cycle(edges: Iterator[tuple[Key, Key, bool]]) -> bool:
    after: dict[Key, set[Key]] = {}
    growing: list[tuple[Key, Key]] = []
    for source, target, grows in edges:
        after.setdefault(source, set()).add(target)
        if grows:
            growing.append((source, target))
    return any(_leads(after, target, source) for source, target in growing)


def _leads(after: Mapping[Key, Set[Key]], start: Key, end: Key) -> bool:
    seen, waiting = {start}, [start]
    while waiting:
        one = waiting.pop()
        if one == end:
            return True
        more = after.get(one, set()) - seen
        seen |= more
        waiting += more
    return False


__all__ = ["amplifies"]
