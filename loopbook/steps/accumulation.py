"""Reads what a block computes, if that is to add a product to an element of an array."""

from __future__ import annotations

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
class Accumulation:
    """``target += product of constants, coefficients and factors``.

    Attributes:
        factors: the two elements that are multiplied.
        coefficients: scalars that stay the same.
        scalars: that the block writes on its way.
    """

    target: Element
    factors: tuple[Element, Element]
    coefficients: tuple[str, ...]
    constants: tuple[float, ...]
    scalars: tuple[str, ...]


@dataclass(frozen=True)
class _Product:
    elements: tuple[Element, ...] = ()
    coefficients: tuple[str, ...] = ()
    constants: tuple[float, ...] = ()

    def times(self, other: _Product) -> _Product:
        return _Product(
            self.elements + other.elements,
            self.coefficients + other.coefficients,
            self.constants + other.constants,
        )


_MINUS = _Product(constants=(-1.0,))


def accumulation(block: Block, variables: frozenset[str]) -> Accumulation:
    """What a block adds to what.

    Args:
        variables: of the loops around it; they are no coefficients.

    Raises:
        IllegalStepError: it does something else, or more.
    """
    flow = _Flow(block, variables)
    target, node = flow.result()
    product = flow.added(node, target)
    if len(product.elements) != 2:
        raise IllegalStepError("what is added is no product of two elements")
    return Accumulation(
        target,
        (product.elements[0], product.elements[1]),
        product.coefficients,
        product.constants,
        tuple(sorted(flow.scalars)),
    )


class _Flow:
    """The dataflow of one block, read backwards from its result."""

    def __init__(self, block: Block, variables: frozenset[str]) -> None:
        self._block = block
        self._variables = variables
        self._results: list[tuple[Memlet, AccessNode]] = []
        self.scalars: set[str] = set()
        for memlet in block.memlets:
            node = block.nodes[memlet.target]
            if isinstance(node, AccessNode):
                if memlet.subset:
                    self._results.append((memlet, node))
                else:
                    self.scalars.add(node.container)

    def result(self) -> tuple[Element, int]:
        """The only element that the block writes, and the place of the node that computes it."""
        if len(self._results) != 1:
            raise IllegalStepError("more than one element is written")
        ((memlet, node),) = self._results
        return _element(memlet, node), memlet.source

    def added(self, place: int, target: Element) -> _Product:
        """The product that a node adds to `target`."""
        same = _Product(elements=(target,))
        match self._operation(place):
            case "fp_add", [first, second] if first == same:
                return second
            case "fp_add", [first, second] if second == same:
                return first
            case "fp_sub", [first, second] if first == same:
                return second.times(_MINUS)
            case "fp_fma", [first, second, third] if third == same:
                return first.times(second)
        raise IllegalStepError("the block does not add to what was there")

    def _operation(self, place: int) -> tuple[str, list[_Product]]:
        """What an instruction does, and what it is done to."""
        task: Node = self._block.nodes[place]
        if not isinstance(task, Tasklet):
            raise IllegalStepError("more than arithmetic is done in it")
        incoming = {memlet.target_connector: memlet for memlet in self._block.inputs[place]}
        if set(incoming) != set(task.inputs):
            raise IllegalStepError(f"the inputs of {task.code} are not all known")
        return task.code, [self._value(incoming[connector]) for connector in task.inputs]

    def _value(self, memlet: Memlet) -> _Product:
        """What comes along a memlet."""
        node = self._block.nodes[memlet.source]
        if isinstance(node, Constant):
            return _Product(constants=(_number(node.text),))
        if not isinstance(node, AccessNode):
            raise IllegalStepError("an operation feeds another one directly")
        if memlet.subset:
            return _Product(elements=(_element(memlet, node),))
        into = self._block.inputs[memlet.source]
        if len(into) == 1:
            return self._computed(into[0].source)
        if into or node.container in self.scalars | self._variables:
            raise IllegalStepError(f"{node.container} is not the same in every iteration")
        return _Product(coefficients=(node.container,))

    def _computed(self, place: int) -> _Product:
        match self._operation(place):
            case "fp_mul", [first, second]:
                return first.times(second)
            case "fp_neg", [only]:
                return only.times(_MINUS)
            case "assign", [only]:
                return only
            case code, _:
                raise IllegalStepError(f"what is added is not only a product: {code}")


def _element(memlet: Memlet, node: AccessNode) -> Element:
    if len(memlet.subset) != 1:
        raise IllegalStepError("an array is not indexed as one block of memory")
    return Element(node.container, expr.normal_form(memlet.subset[0].text))


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise IllegalStepError(f"{text} is no number") from None
