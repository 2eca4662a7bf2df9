"""Library calls: a nest that does nothing but add a matrix product to a matrix, as a call of BLAS.

``for r: for c: for k: C[r, c] += alpha * A[r, k] * B[k, c]``, its loops in any order and its
matrices stored either way, is ``gemm`` with ``beta = 1`` (Dongarra, Du Croz, Hammarling and Duff,
"A set of level 3 basic linear algebra subprograms", ACM TOMS 16(1), 1990).

docc has a library node for ``gemm``, which its frontend makes of ``A @ B``; this makes the same of
loops. Matrices must begin where their arrays do: docc's call ignores offsets (seen with 0.8.1).
Products with vectors stay loops: docc has no ``gemv``, and ``gemm`` with a matrix of one column is
slower than loops over rows (four times for 2000 by 2000, OpenBLAS 0.3.21).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from loopbook.errors import IllegalStepError
from loopbook.sdfg import expr
from loopbook.sdfg.document import Types
from loopbook.sdfg.expr import Polynomial
from loopbook.sdfg.nest import Loop, Nest
from loopbook.sdfg.rewrites.accumulation import Accumulation, Element, accumulation
from loopbook.sdfg.rewrites.document import (
    Draft,
    Json,
    elements,
    render,
    smallest,
    upper_bounds,
)
from loopbook.sdfg.rewrites.scalars import check_unused_outside

ROW_MAJOR, AS_STORED, TRANSPOSED = 101, 111, 112
"""CBLAS's numbers for the layout of a matrix and for what is done with it."""

PRECISIONS = {"double": ord("d"), "float": ord("s")}

ONE: Polynomial = {(): 1}


@dataclass(frozen=True)
class _Matrix:
    """How an array holds the matrix that a product needs.

    Attributes:
        transposed: it holds the transpose.
        leading: elements from one stored row to the next.
    """

    data: str
    transposed: bool
    leading: Polynomial


def library(draft: Draft, loops: Sequence[int], numbers: Sequence[int]) -> None:
    """Replace a whole nest by a call of ``gemm``.

    Its outermost loop stays, and runs once, or not at all where the product is empty.

    Args:
        loops: one of the nest's loops.

    Raises:
        IllegalStepError: the nest is no product, or not known to be one that ``gemm`` can compute.
    """
    nest, _ = draft.nest_with(loops[0])
    outermost = nest.loops[0]
    extents = _extents(nest)
    element = draft.element(outermost.element_id)
    found = accumulation(_only_block(element), frozenset(extents))
    dtype = _check_data(draft.document, nest, found)
    check_unused_outside(draft.document, element, set(found.scalars))

    row, column = _rows_and_columns(found.target, extents)
    summed = [name for name in extents if name not in (row, column)]
    sides = {frozenset(_strides(factor, extents)): factor for factor in found.factors}
    left, right = (sides.get(frozenset({side, *summed})) for side in (row, column))
    if len(summed) != 1 or left is None or right is None:
        raise IllegalStepError("the nest is no product of matrices")

    (inner,) = summed
    matrices = {
        "__A": _matrix(left, row, inner, extents),
        "__B": _matrix(right, inner, column, extents),
        "__C": _matrix(found.target, row, column, extents),
    }
    size = {name: render(extent) for name, extent in extents.items()}
    call = {
        "type": "library_node",
        "code": "GEMM",
        "implementation_type": "BLAS",
        "layout": ROW_MAJOR,
        "precision": PRECISIONS[dtype],
        "m": size[row],
        "n": size[column],
        "k": size[inner],
        "trans_a": TRANSPOSED if matrices["__A"].transposed else AS_STORED,
        "trans_b": TRANSPOSED if matrices["__B"].transposed else AS_STORED,
        **{f"ld{name[-1].lower()}": render(m.leading) for name, m in matrices.items()},
    }
    inputs = {name: matrix.data for name, matrix in matrices.items()}
    _put(draft, element, call, inputs, _factor(found))
    element["type"] = element["sub_type"] = "for"
    element.pop("reductions", None)
    once = smallest(["1", *size.values()])
    element["condition"] = f"({outermost.indvar} < {once})"


# -- what the nest is ------------------------------------------------------------------------------


def _extents(nest: Nest) -> dict[str, Polynomial]:
    """Loop variable to how often its loop runs, for loops from 0 that do not depend on each other.

    Raises:
        IllegalStepError: they are others.
    """
    names = {loop.indvar for loop in nest.loops}
    return {loop.indvar: _extent(loop, names) for loop in nest.loops}


def _extent(loop: Loop, names: set[str]) -> Polynomial:
    ends = upper_bounds(loop)
    if loop.step != 1 or expr.polynomial(loop.init) or len(ends) != 1:
        raise IllegalStepError(f"{loop.name} does not count from 0 to one bound by ones")
    if names & set(expr.symbols(render(ends[0]))):
        raise IllegalStepError(f"the bound of {loop.name} depends on other loops")
    return ends[0]


def _only_block(element: Json) -> Json:
    """The block that is all there is in the loops of a perfect nest.

    Raises:
        IllegalStepError: there is more.
    """
    while "indvar" in element:
        children = element["root"]["children"]
        if len(children) != 1:
            raise IllegalStepError("the loops are not perfectly nested")
        element = children[0]
    if element["type"] != "block":
        raise IllegalStepError(f"there is a {element['type']} in it")
    return element


def _check_data(document: Json, nest: Nest, found: Accumulation) -> str:
    """The type of all numbers, if they are of one type, and no two of the arrays overlap.

    Raises:
        IllegalStepError: this is not so.
    """
    types = Types(document["containers"])
    arrays = {found.target.data, *(factor.data for factor in found.factors)}
    if found.target.data in {factor.data for factor in found.factors}:
        raise IllegalStepError("the sums are factors too")
    used = {types.dtype(name) for name in (*arrays, *found.coefficients, *found.scalars)}
    if len(used) != 1 or not used <= PRECISIONS.keys():
        raise IllegalStepError("the numbers are not all double or all float")
    for name in arrays:
        if document["containers"][name]["type"] != "pointer":
            raise IllegalStepError(f"{name} is not in memory as one block")
    for element in elements(document["root"]):
        flow = element.get("dataflow", {"nodes": (), "edges": ()})
        data = {n["element_id"]: n["data"] for n in flow["nodes"] if n["type"] == "access_node"}
        for edge in flow["edges"]:
            if edge["src"] in data and data.get(edge["dst"]) in arrays:
                raise IllegalStepError(f"{data[edge['dst']]} may be a part of another array")
    bounds = {s for loop in nest.loops for s in expr.symbols(loop.condition)}
    if bounds & set(found.scalars):
        raise IllegalStepError("the bounds change")
    return used.pop()


# -- matrices --------------------------------------------------------------------------------------


def _strides(element: Element, extents: Mapping[str, Polynomial]) -> dict[str, Polynomial]:
    """Loop variable to how far the element moves with it; without those it does not move with.

    Raises:
        IllegalStepError: the index is not linear, or does not begin at 0.
    """
    found: dict[str, dict[tuple[str, ...], int]] = {}
    for monomial, factor in expr.polynomial(element.index).items():
        moving = [symbol for symbol in monomial if symbol in extents]
        rest = tuple(symbol for symbol in monomial if symbol not in extents)
        if len(moving) != 1:
            raise IllegalStepError(f"{element.data} is not indexed from its beginning, linearly")
        if set(extents) & {inner for symbol in rest for inner in expr.symbols(symbol)}:
            raise IllegalStepError(f"{element.data} is not indexed linearly")
        found.setdefault(moving[0], {})[rest] = factor
    return dict(found)


def _rows_and_columns(target: Element, extents: Mapping[str, Polynomial]) -> tuple[str, str]:
    """The variables of the rows and of the columns of what is added to."""
    strides = _strides(target, extents)
    match sorted(strides, key=lambda name: strides[name] == ONE):
        case [row, column] if strides[row] != ONE and strides[column] == ONE:
            return row, column
    raise IllegalStepError("what is added to is no matrix with neighbouring elements in rows")


def _matrix(element: Element, row: str, column: str, extents: Mapping[str, Polynomial]) -> _Matrix:
    """How `element`, a matrix with these variables for its rows and columns, is stored.

    Raises:
        IllegalStepError: rows are not apart, or not known to be.
    """
    strides = _strides(element, extents)
    for transposed, outer, inner in ((False, row, column), (True, column, row)):
        if strides[inner] == ONE and _at_least(strides[outer], extents[inner]):
            return _Matrix(element.data, transposed, strides[outer])
    raise IllegalStepError(f"{element.data} is not stored in rows that are apart")


def _at_least(a: Polynomial, b: Polynomial) -> bool:
    """Whether ``a >= b`` for any sizes, as far as is plain to see."""
    gap = {m: a.get(m, 0) - b.get(m, 0) for m in {*a, *b}}
    return all(not factor or (not m and factor > 0) for m, factor in gap.items())


# -- the call --------------------------------------------------------------------------------------


def _factor(found: Accumulation) -> str | float:
    """The number, or the scalar that holds it, by which the product is multiplied.

    Raises:
        IllegalStepError: it would have to be computed.
    """
    constant = math.prod(found.constants, start=1.0)
    if not found.coefficients:
        return constant
    if len(found.coefficients) == 1 and constant == 1:
        return found.coefficients[0]
    raise IllegalStepError("the product is multiplied by more than one number")


def _put(
    draft: Draft, loop: Json, call: Json, inputs: Mapping[str, str], factor: str | float
) -> None:
    """Make a library call all that is in a loop."""
    declared = draft.document["containers"]
    scalar = declared[inputs["__C"]]["pointee_type"]
    call["element_id"] = draft.fresh_id()
    nodes, edges = [call], []

    def element(content: Json) -> Json:
        return content | {"element_id": draft.fresh_id(), "debug_info": loop["debug_info"]}

    def constant(value: float) -> Json:
        return element({"type": "constant_node", "data": repr(value), "data_type": scalar})

    # docc allows one node for each array: a matrix may be multiplied by its own transpose.
    data = {name: element({"type": "access_node", "data": name}) for name in inputs.values()}
    sources = {connector: (data[name], declared[name]) for connector, name in inputs.items()}
    named = {"type": "access_node", "data": factor}
    sources["__alpha"] = (
        constant(factor) if isinstance(factor, float) else element(named),
        scalar,
    )
    sources["__beta"] = (constant(1.0), scalar)
    nodes += {node["element_id"]: node for node, _ in sources.values()}.values()
    for connector, (node, kind) in sources.items():
        ends = {"src": node["element_id"], "src_conn": "void", "dst": call["element_id"]}
        edges.append(element(ends | {"dst_conn": connector, "subset": [], "base_type": kind}))
    call["debug_info"] = loop["debug_info"]
    block = {
        "type": "block",
        "element_id": draft.fresh_id(),
        "debug_info": loop["debug_info"],
        "dataflow": {"type": "dataflow", "nodes": nodes, "edges": edges},
    }
    loop["root"] = draft.sequence([block])
