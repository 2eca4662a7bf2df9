"""Reads what a block computes, if that is to add a product to an element of an array."""

from __future__ import annotations

from dataclasses import dataclass

from loopbook.errors import IllegalStepError
from loopbook.program import expr
from loopbook.sdfg.document import opcode, subset
from loopbook.sdfg.rewrites.document import Json


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


def accumulation(block: Json, variables: frozenset[str]) -> Accumulation:
    """What a block adds to what.

    Args:
        variables: of the loops around it; they are no coefficients.

    Raises:
        IllegalStepError: it does something else, or more.
    """
    flow = _Flow(block["dataflow"], variables)
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

    def __init__(self, flow: Json, variables: frozenset[str]) -> None:
        self._nodes = {node["element_id"]: node for node in flow["nodes"]}
        self._edges = flow["edges"]
        self._variables = variables
        written = [edge for edge in self._edges if "data" in self._nodes[edge["dst"]]]
        self._results = [edge for edge in written if subset(edge)]
        self.scalars = {self._nodes[edge["dst"]]["data"] for edge in written if not subset(edge)}

    def result(self) -> tuple[Element, Json]:
        """The only element that the block writes, and the node that computes it."""
        if len(self._results) != 1:
            raise IllegalStepError("more than one element is written")
        (edge,) = self._results
        return self._element(edge, edge["dst"]), self._nodes[edge["src"]]

    def added(self, node: Json, target: Element) -> _Product:
        """The product that `node` adds to `target`."""
        same = _Product(elements=(target,))
        match opcode(node), self._inputs(node):
            case "fp_add", [first, second] if first == same:
                return second
            case "fp_add", [first, second] if second == same:
                return first
            case "fp_sub", [first, second] if first == same:
                return second.times(_MINUS)
            case "fp_fma", [first, second, third] if third == same:
                return first.times(second)
        raise IllegalStepError("the block does not add to what was there")

    def _inputs(self, node: Json) -> list[_Product]:
        incoming = {e["dst_conn"]: e for e in self._edges if e["dst"] == node["element_id"]}
        connectors = node.get("inputs", ())
        if set(incoming) != set(connectors):
            raise IllegalStepError(f"the inputs of {opcode(node)} are not all known")
        return [self._value(incoming[connector]) for connector in connectors]

    def _value(self, edge: Json) -> _Product:
        """What comes along an edge."""
        node = self._nodes[edge["src"]]
        if "data_type" in node:
            return _Product(constants=(_number(node["data"]),))
        if "data" not in node:
            raise IllegalStepError("an operation feeds another one directly")
        if subset(edge):
            return _Product(elements=(self._element(edge, edge["src"]),))
        source = [e for e in self._edges if e["dst"] == edge["src"]]
        if len(source) == 1:
            return self._computed(self._nodes[source[0]["src"]])
        if source or node["data"] in self.scalars | self._variables:
            raise IllegalStepError(f"{node['data']} is not the same in every iteration")
        return _Product(coefficients=(node["data"],))

    def _computed(self, node: Json) -> _Product:
        if node["type"] != "tasklet":
            raise IllegalStepError("more than arithmetic is done in it")
        match opcode(node), self._inputs(node):
            case "fp_mul", [first, second]:
                return first.times(second)
            case "fp_neg", [only]:
                return only.times(_MINUS)
            case "assign", [only]:
                return only
        raise IllegalStepError(f"what is added is not only a product: {opcode(node)}")

    def _element(self, edge: Json, node: int) -> Element:
        indices = subset(edge)
        if len(indices) != 1:
            raise IllegalStepError("an array is not indexed as one block of memory")
        return Element(self._nodes[node]["data"], expr.normal_form(indices[0]))


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise IllegalStepError(f"{text} is no number") from None
