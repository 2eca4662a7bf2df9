"""Programs that ask how a sum was rounded.

``(s + y) - s`` is not ``y``, but what of ``y`` has found room in ``s``: compensated sums live on
the difference (Kahan, Neumaier, Knuth's and Dekker's sums and products without an error), others
choose a step by it, ``h = (x + h) - x``, or round with it, ``(x + 2**52) - 2**52``. A compiler that
may add in any order takes away what cancels out, and nothing is left of any of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from loopbook.program.accesses import written
from loopbook.program.dataflow import AccessNode, Block, Constant, Memlet, Tasklet, in_order
from loopbook.program.tree import Branch, Loop, Program, While
from loopbook.program.walk import Inner, children

MOST_TERMS = 256
"""Longer sums are taken for one unknown number."""

LITTLE = 2.0**-10
"""How little of two constants is left, compared with them, where they cancel out."""


@dataclass(frozen=True, slots=True)
class Sum:
    """Unknown numbers that are added, each as often as it says, and a constant."""

    terms: Mapping[object, int]
    constant: float = 0.0

    def times(self, sign: int) -> Sum:
        terms = self.terms if sign > 0 else {one: -count for one, count in self.terms.items()}
        return Sum(terms, sign * self.constant)

    def cancels(self, other: Sum) -> bool:
        """Whether something of one is lost when the other is added: not of a number and the same
        one with the other sign, of which nothing is left in any order."""
        if len(self.terms) == len(other.terms) == 1 and not (self.constant or other.constant):
            return False
        few, many = sorted((self.terms, other.terms), key=len)
        if any(count * many.get(one, 0) < 0 for one, count in few.items()):
            return True
        left = abs(self.constant + other.constant)
        return left < LITTLE * max(abs(self.constant), abs(other.constant))

    def plus(self, other: Sum) -> Sum:
        few, many = sorted((self.terms, other.terms), key=len)
        terms = dict(many)
        for one, count in few.items():
            terms[one] = terms.get(one, 0) + count
        return Sum(terms, self.constant + other.constant)


def _unknown() -> Sum:
    return Sum({object(): 1})


Elements = dict[tuple[str, ...], Sum]
"""What is known of a container: index to number."""


@dataclass(slots=True)
class _Known:
    """What containers hold in one place of the program."""

    kinds: Mapping[str, str]
    products: dict[object, Sum]
    elements: dict[str, Elements] = field(default_factory=dict)

    def product(self, code: str, sides: Sequence[Sum]) -> Sum:
        """The same unknown number for equal products, or quotients."""
        parts = [(frozenset(one.terms.items()), one.constant) for one in sides]
        key = (code, *parts) if code == "fp_div" else (code, frozenset(parts))
        return self.products.setdefault(key, _unknown())

    def read(self, container: str, index: tuple[str, ...]) -> Sum:
        return self.elements.setdefault(container, {}).setdefault(index, _unknown())

    def write(self, container: str, index: tuple[str, ...], value: Sum) -> None:
        """Other elements of the container may be the same one."""
        self.elements[container] = {index: value}
        if "int" in self.kinds.get(container, ""):
            self.moved(container)

    def forget(self, node: Inner) -> None:
        """Nothing is known any more of what a node may write."""
        for name in written(node):
            self.elements.pop(name, None)

    def moved(self, variable: str) -> None:
        """An index is another one now."""
        for elements in self.elements.values():
            for index in [one for one in elements if any(variable in part for part in one)]:
                del elements[index]

    def copy(self) -> _Known:
        elements = {name: dict(found) for name, found in self.elements.items()}
        return _Known(self.kinds, self.products, elements)


def cancels(program: Program) -> bool:
    """Whether it takes from a sum something that was added to it."""
    kinds = {name: kind.element for name, kind in program.containers.items()}
    return _in(program.body, _Known(kinds, {}))


def _in(node: Inner, known: _Known) -> bool:
    if isinstance(node, Block):
        return _in_block(node, known)
    if isinstance(node, Branch):
        found = any(_in(case, known.copy()) for case in node.cases)
        known.forget(node)
        return found
    if isinstance(node, Loop | While):
        known.forget(node)
        if isinstance(node, Loop):
            known.moved(node.variable)
        inside = known.copy()
        return any(_in(child, inside) for child in children(node))
    if not children(node):
        for name in written(node):  # indices, mostly
            known.forget(node)
            known.moved(name)
    return any(_in(child, known) for child in children(node))


def _in_block(block: Block, known: _Known) -> bool:
    values: dict[int, Sum] = {}
    for place in in_order(block):
        node = block.nodes[place]
        if isinstance(node, AccessNode):
            for memlet in block.inputs[place]:
                known.write(node.container, _index(memlet), values.get(memlet.source) or _unknown())
        elif isinstance(node, Tasklet):
            sides = {
                memlet.target_connector: _source(block, memlet, known)
                for memlet in block.inputs[place]
            }
            found = [sides[one] for one in node.inputs if one in sides]
            kinds = {one.type.element for one in (*block.inputs[place], *block.outputs[place])}
            if len(found) != len(node.inputs) or len(kinds) > 1:
                continue
            if node.code in ("fp_add", "fp_sub"):
                left, right = found[0], found[1].times(1 if node.code == "fp_add" else -1)
                if left.cancels(right):
                    return True
                if len(left.terms) + len(right.terms) <= MOST_TERMS:
                    values[place] = left.plus(right)
            elif node.code == "fp_fma":
                values[place] = known.product("fp_mul", found[:2]).plus(found[2])
            elif node.code in ("fp_mul", "fp_div"):
                values[place] = known.product(node.code, found)
            elif node.code in ("assign", "fp_neg"):
                values[place] = found[0].times(1 if node.code == "assign" else -1)
    return False


def _source(block: Block, memlet: Memlet, known: _Known) -> Sum:
    """What flows along a memlet."""
    node = block.nodes[memlet.source]
    if isinstance(node, AccessNode):
        return known.read(node.container, _index(memlet))
    if isinstance(node, Constant):
        try:
            return Sum({}, float(node.text.rstrip("fF")))
        except ValueError:
            return _unknown()
    return _unknown()


def _index(memlet: Memlet) -> tuple[str, ...]:
    return tuple(one.text for one in memlet.subset)
