"""Reads what blocks compute, if that is to add products to an element of an array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loopbook.errors import IllegalStepError
from loopbook.program import expr
from loopbook.program.dataflow import AccessNode, Block, Constant, Memlet, Node, Tasklet


@dataclass(frozen=True)
class Element:
    """An element of an array: `index` is docc's expression in its normal form."""

    data: str
    index: str


@dataclass(frozen=True)
class Term:
    """A product.

    Attributes:
        elements: of arrays.
        coefficients: scalars that stay the same.
    """

    elements: tuple[Element, ...] = ()
    coefficients: tuple[str, ...] = ()
    constants: tuple[float, ...] = ()

    def times(self, other: Term) -> Term:
        return Term(
            self.elements + other.elements,
            self.coefficients + other.coefficients,
            self.constants + other.constants,
        )


Sum = tuple[Term, ...]

MAX_TERMS, MAX_ELEMENTS = 8, 4
"""Of a sum, and of a product in it, on the way: more are no product of two elements anyway."""

_MINUS = Term(constants=(-1.0,))


@dataclass(frozen=True)
class Accumulation:
    """``target += sum of terms``, each a product of two elements.

    Attributes:
        scalars: that the block writes on its way.
    """

    target: Element
    terms: Sum
    scalars: tuple[str, ...]

    @property
    def factors(self) -> tuple[Element, ...]:
        return tuple(element for term in self.terms for element in term.elements)


def accumulation(blocks: Sequence[Block], variables: frozenset[str]) -> Accumulation:
    """What blocks that follow each other add to what.

    Args:
        variables: of the loops around them; they are no coefficients.

    Raises:
        IllegalStepError: they do something else, or more.
    """
    flow = _Flow(blocks, variables)
    target, block, place = flow.result()
    terms = list(flow.computed(block, place))
    own = Term((target,))
    if terms.count(own) != 1:
        raise IllegalStepError("the block does not add to what was there")
    terms.remove(own)
    if not terms or any(len(term.elements) != 2 for term in terms):
        raise IllegalStepError("what is added is no product of two elements")
    return Accumulation(target, tuple(terms), tuple(sorted(flow.scalars)))


class _Flow:
    """The dataflow of blocks, read backwards from their result.

    Attributes:
        scalars: that they write; each with where, as number of the block and place in it.
    """

    def __init__(self, blocks: Sequence[Block], variables: frozenset[str]) -> None:
        self._blocks = blocks
        self._variables = variables
        self._results: list[tuple[int, Memlet, AccessNode]] = []
        self.scalars: dict[str, list[tuple[int, int]]] = {}
        for number, block in enumerate(blocks):
            for memlet in block.memlets:
                node = block.nodes[memlet.target]
                if isinstance(node, AccessNode):
                    if memlet.subset:
                        self._results.append((number, memlet, node))
                    else:
                        places = self.scalars.setdefault(node.container, [])
                        places.append((number, memlet.source))

    def result(self) -> tuple[Element, int, int]:
        """The only element that is written, and where the node stands that computes it."""
        if len(self._results) != 1:
            raise IllegalStepError("more than one element is written")
        ((number, memlet, node),) = self._results
        return _element(memlet, node), number, memlet.source

    def computed(self, block: int, place: int) -> Sum:
        """What an instruction computes, multiplied out."""
        match self._operation(block, place):
            case "fp_add", [first, second]:
                return first + second
            case "fp_sub", [first, second]:
                return first + _product(second, (_MINUS,))
            case "fp_fma", [first, second, third]:
                return _product(first, second) + third
            case "fp_mul", [first, second]:
                return _product(first, second)
            case "fp_neg", [only]:
                return _product(only, (_MINUS,))
            case "assign", [only]:
                return only
            case code, _:
                raise IllegalStepError(f"what is added is not only a product: {code}")

    def _operation(self, block: int, place: int) -> tuple[str, list[Sum]]:
        """What an instruction does, and what it is done to."""
        task: Node = self._blocks[block].nodes[place]
        if not isinstance(task, Tasklet):
            raise IllegalStepError("more than arithmetic is done in it")
        incoming = {memlet.target_connector: memlet for memlet in self._blocks[block].inputs[place]}
        if set(incoming) != set(task.inputs):
            raise IllegalStepError(f"the inputs of {task.code} are not all known")
        return task.code, [self._value(block, incoming[connector]) for connector in task.inputs]

    def _value(self, block: int, memlet: Memlet) -> Sum:
        """What comes along a memlet."""
        node = self._blocks[block].nodes[memlet.source]
        if isinstance(node, Constant):
            return (Term(constants=(_number(node.text),)),)
        if not isinstance(node, AccessNode):
            raise IllegalStepError("an operation feeds another one directly")
        if memlet.subset:
            return (Term(elements=(_element(memlet, node),)),)
        into = self._blocks[block].inputs[memlet.source]
        if len(into) == 1:
            return self.computed(block, into[0].source)
        before = [at for at in self.scalars.get(node.container, ()) if at[0] < block]
        if not into and before:
            return self.computed(*before[-1])
        if into or node.container in self.scalars.keys() | self._variables:
            raise IllegalStepError(f"{node.container} is not the same in every iteration")
        return (Term(coefficients=(node.container,)),)


def _product(one: Sum, other: Sum) -> Sum:
    if len(one) * len(other) > MAX_TERMS:
        raise IllegalStepError("too many products are added")
    terms = tuple(a.times(b) for a in one for b in other)
    if any(len(term.elements) > MAX_ELEMENTS for term in terms):
        raise IllegalStepError("too many elements are multiplied")
    return terms


def _element(memlet: Memlet, node: AccessNode) -> Element:
    if len(memlet.subset) != 1:
        raise IllegalStepError("an array is not indexed as one block of memory")
    return Element(node.container, expr.normal_form(memlet.subset[0].text))


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise IllegalStepError(f"{text} is no number") from None
