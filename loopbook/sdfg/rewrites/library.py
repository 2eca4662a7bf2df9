"""How `library` is done: which loops are products of matrices, and the calls for them.

docc has a library node for ``gemm``, which its frontend makes of ``A @ B``; this makes the same of
loops. docc's call ignores offsets (seen with 0.8.1), so a matrix that does not begin where its
array does gets a pointer. Products with vectors stay loops: docc has no ``gemv``, and ``gemm`` with
a matrix of one column is slower than loops over rows (four times for 2000 by 2000, OpenBLAS
0.3.21).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from loopbook.errors import IllegalStepError
from loopbook.program import expr
from loopbook.program.expr import Polynomial
from loopbook.program.nest import Loop, Nest
from loopbook.sdfg.document import Types
from loopbook.sdfg.rewrites.accumulation import Accumulation, Element, accumulation
from loopbook.sdfg.rewrites.document import (
    Draft,
    Json,
    elements,
    lower_bounds,
    render,
    rewriting,
    smallest,
    upper_bounds,
)
from loopbook.sdfg.rewrites.scalars import check_unused_outside
from loopbook.steps.library import Library

ROW_MAJOR, AS_STORED, TRANSPOSED = 101, 111, 112
"""CBLAS's numbers for the layout of a matrix and for what is done with it."""

PRECISIONS = {"double": ord("d"), "float": ord("s")}

ONE: Polynomial = {(): 1}


@dataclass(frozen=True)
class _Axis:
    """Loops that together count one dimension of a product.

    Attributes:
        loops: variables, outermost first.
        extent: how often they run.
    """

    loops: tuple[str, ...]
    extent: Polynomial


@dataclass(frozen=True)
class _Strided:
    """An element, and how far it moves in memory.

    Attributes:
        along: loop variable to how far it moves with it; without those it does not move with.
    """

    element: Element
    along: Mapping[str, Polynomial]


@dataclass(frozen=True)
class _Matrix:
    """How an array holds the matrix that a product needs.

    Attributes:
        transposed: it holds the transpose.
        leading: elements from one stored row to the next.
        start: index of its first element, in which loops around the product may occur.
    """

    data: str
    transposed: bool
    leading: Polynomial
    start: Polynomial


@rewriting(Library)
def library(draft: Draft, loops: Sequence[int], numbers: Sequence[int]) -> None:
    """Replace a whole nest by a call of ``gemm``, or by loops around one.

    The outermost loop of the product stays, and runs once, or not at all where that is empty.

    Args:
        loops: one of the nest's loops.

    Raises:
        IllegalStepError: the nest is no product, or not known to be one that ``gemm`` can compute.
    """
    nest, _ = draft.nest_with(loops[0])
    element = draft.element(nest.loops[0].element_id)
    extents = {loop.indvar: _extent(loop, nest) for loop in nest.loops}
    found = accumulation(_only_block(element), frozenset(extents))
    dtype = _check_data(draft.document, nest, found)
    check_unused_outside(draft.document, element, set(found.scalars))

    target, *factors = (_strided(e, extents) for e in (found.target, *found.factors))
    left, right = _sides(target, factors)
    row = _axis((target, left), right, extents)
    column = _axis((target, right), left, extents)
    inner = _axis((left, right), target, extents)
    counted = {*row.loops, *column.loops, *inner.loops}
    begins = {loop.indvar: loop.init for loop in nest.loops if loop.indvar in counted}
    matrices = {
        "__A": _matrix(left, row, inner, begins),
        "__B": _matrix(right, inner, column, begins),
        "__C": _matrix(target, row, column, begins),
    }
    m, n, k = (render(axis.extent) for axis in (row, column, inner))
    call = {
        "type": "library_node",
        "code": "GEMM",
        "implementation_type": "BLAS",
        "layout": ROW_MAJOR,
        "precision": PRECISIONS[dtype],
        "m": m,
        "n": n,
        "k": k,
        "trans_a": TRANSPOSED if matrices["__A"].transposed else AS_STORED,
        "trans_b": TRANSPOSED if matrices["__B"].transposed else AS_STORED,
        **{f"ld{name[-1].lower()}": render(m.leading) for name, m in matrices.items()},
    }
    for loop in nest.loops[: len(nest.loops) - len(counted)]:
        if loop.indvar in counted:
            raise IllegalStepError(f"{loop.name} is not inside all loops around the product")
        _serial(element)  # its iterations share the pointers
        (element,) = element["root"]["children"]
    _put(draft, element, call, matrices, _factor(found))
    _serial(element)
    element["init"] = "0"
    element["condition"] = f"({element['indvar']} < {smallest(['1', m, n, k])})"


def _serial(loop: Json) -> None:
    loop["type"] = loop["sub_type"] = "for"
    loop.pop("reductions", None)


# -- what the nest is ------------------------------------------------------------------------------


def _extent(loop: Loop, nest: Nest) -> Polynomial:
    """How often a loop runs that counts by ones, whatever the others do.

    Raises:
        IllegalStepError: it is another one.
    """
    begins, ends = lower_bounds(loop), upper_bounds(loop)
    if loop.step != 1 or len(begins) != 1 or len(ends) != 1:
        raise IllegalStepError(f"{loop.name} does not count to one bound by ones")
    begin, end = render(begins[0]), render(ends[0])
    if {other.indvar for other in nest.loops} & {*expr.symbols(begin), *expr.symbols(end)}:
        raise IllegalStepError(f"the bound of {loop.name} depends on other loops")
    return expr.polynomial(f"{end} - {begin}")


def _sides(target: _Strided, factors: Sequence[_Strided]) -> tuple[_Strided, _Strided]:
    """The factors: the one with the rows of what is added to, and the one with its columns.

    Raises:
        IllegalStepError: it has no neighbouring elements in rows, or they are no columns.
    """
    for left, right in (factors, factors[::-1]):
        columns = target.along.keys() & right.along.keys() - left.along.keys()
        if any(target.along[name] == ONE for name in columns):
            return left, right
    if ONE not in target.along.values():
        raise IllegalStepError("what is added to has no neighbouring elements in rows")
    raise IllegalStepError("the nest is no product of matrices")


def _axis(
    moving: tuple[_Strided, _Strided], still: _Strided, extents: Mapping[str, Polynomial]
) -> _Axis:
    """The loops that move two of the matrices, and not the third: of several those, from the
    innermost on, that lie in both like one.

    Raises:
        IllegalStepError: there are none.
    """
    first, second = moving
    names = [
        v for v in extents if v in first.along.keys() & second.along.keys() - still.along.keys()
    ]
    if not names:
        raise IllegalStepError("the nest is no product of matrices")
    last = names.pop()
    axis = _Axis((last,), extents[last])
    for name in reversed(names):
        if any(one.along[name] != _times(one.along[last], axis.extent) for one in moving):
            break
        axis = _Axis((name, *axis.loops), _times(extents[name], axis.extent))
    return axis


def _times(a: Polynomial, b: Polynomial) -> Polynomial:
    return expr.polynomial(f"{render(a)}*{render(b)}")


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


def _strided(element: Element, loops: Collection[str]) -> _Strided:
    """How an element moves.

    Raises:
        IllegalStepError: the index is not linear.
    """
    along: dict[str, dict[tuple[str, ...], int]] = {}
    for monomial, factor in expr.polynomial(element.index).items():
        moving = [symbol for symbol in monomial if symbol in loops]
        rest = tuple(symbol for symbol in monomial if symbol not in loops)
        if len(moving) > 1 or not set(loops).isdisjoint(s for r in rest for s in expr.symbols(r)):
            raise IllegalStepError(f"{element.data} is not indexed linearly")
        if moving:
            along.setdefault(moving[0], {})[rest] = factor
    return _Strided(element, along)


def _matrix(array: _Strided, row: _Axis, column: _Axis, begins: Mapping[str, str]) -> _Matrix:
    """How an array holds the matrix with these rows and columns.

    Args:
        begins: where the loops that count them begin.

    Raises:
        IllegalStepError: rows are not apart, or not known to be.
    """
    data, index = array.element.data, array.element.index
    start = expr.substitute(index, {name: f"({begin})" for name, begin in begins.items()})
    for transposed, outer, inner in ((False, row, column), (True, column, row)):
        leading = array.along[outer.loops[-1]]
        if array.along[inner.loops[-1]] == ONE and _at_least(leading, inner.extent):
            return _Matrix(data, transposed, leading, expr.polynomial(start))
    raise IllegalStepError(f"{data} is not stored in rows that are apart")


def _at_least(stride: Polynomial, extent: Polynomial) -> bool:
    """Whether ``stride >= extent``, as far as is plain to see. A stride is made of an array's
    sizes, which are at least 1: each further one in a term makes it no smaller."""
    left = {m: stride.get(m, 0) - extent.get(m, 0) for m in {*stride, *extent}}
    for monomial in sorted(extent, key=len, reverse=True):
        for larger in stride:
            if left[monomial] < 0 and not Counter(monomial) - Counter(larger):
                moved = min(-left[monomial], max(left[larger], 0))
                left[monomial] += moved
                left[larger] -= moved
    return all(not f or (f > 0 and (not m or m in stride)) for m, f in left.items())


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
    draft: Draft, loop: Json, call: Json, matrices: Mapping[str, _Matrix], factor: str | float
) -> None:
    """Make a library call, and the pointers that it needs, all that is in a loop."""
    declared = draft.document["containers"]
    inputs, blocks = {}, []
    for connector, matrix in matrices.items():
        inputs[connector] = matrix.data
        if matrix.start:
            pointer = draft.fresh_pointer(f"{matrix.data}_part", declared[matrix.data])
            blocks.append(draft.pointer_block(matrix.data, pointer, render(matrix.start)))
            inputs[connector] = pointer
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
    loop["root"] = draft.sequence([*blocks, block])
