"""What operations make of intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from loopbook.interpreter import intervals
from loopbook.interpreter.intervals import ANYTHING, TRUTH, Interval, exactly
from loopbook.interpreter.spelling import is_real
from loopbook.program.dataflow import AccessNode, Block, Constant, Operation, Tasklet
from loopbook.program.types import Type

_SIGN = Interval(-1, 1)


def _quotient(a: Interval, b: Interval) -> Interval:
    if b.low <= 0 <= b.high or not (a.known and b.known):
        return ANYTHING
    ends = [x / y for x in a for y in b]
    return Interval(min(ends), max(ends))


def _common(a: Interval, b: Interval) -> Interval:
    """Bits that both have."""
    return Interval(0, min(a.high, b.high)) if min(a.low, b.low) >= 0 else ANYTHING


def _shifted(a: Interval, b: Interval) -> Interval:
    if not (b.low >= 0 and b.high < 63):
        return ANYTHING
    return intervals.times(a, Interval(2 ** int(b.low), 2 ** int(b.high)))


def _shifted_back(a: Interval, b: Interval) -> Interval:
    if not (b.low >= 0 and b.high < 63):
        return ANYTHING
    return intervals.divided(a, Interval(2 ** int(b.low), 2 ** int(b.high)))


def _each(function: Callable[[float], float]) -> Callable[[Interval], Interval]:
    """A function that never falls."""
    return lambda a: Interval(function(a.low), function(a.high)) if a.known else ANYTHING


_OPERATIONS: Mapping[str, Callable[..., Interval]] = {
    "assign": lambda a: a,
    "fp_neg": lambda a: intervals.minus(exactly(0), a),
    "fp_add": intervals.plus,
    "fp_sub": intervals.minus,
    "fp_mul": intervals.times,
    "fp_div": _quotient,
    "fp_fma": lambda a, b, c: intervals.plus(intervals.times(a, b), c),
    "int_add": intervals.plus,
    "int_sub": intervals.minus,
    "int_mul": intervals.times,
    "int_sdiv": intervals.divided,
    "int_udiv": intervals.divided,
    "int_srem": intervals.rest,
    "int_urem": intervals.rest,
    "int_and": _common,
    "int_shl": _shifted,
    "int_ashr": _shifted_back,
    "int_smin": intervals.least,
    "int_umin": intervals.least,
    "int_smax": intervals.greatest,
    "int_umax": intervals.greatest,
    "int_abs": intervals.absolute,
    "cmath:fabs": intervals.absolute,
    "cmath:fmin": intervals.least,
    "cmath:fmax": intervals.greatest,
    "cmath:min": intervals.least,
    "cmath:max": intervals.greatest,
    "cmath:floor": _each(math.floor),
    "cmath:ceil": _each(math.ceil),
    "cmath:trunc": _each(math.trunc),
    "cmath:round": _each(lambda x: math.floor(x + 0.5)),
    "cmath:sin": lambda a: _SIGN,
    "cmath:cos": lambda a: _SIGN,
    "cmath:tanh": lambda a: _SIGN,
}


def made(
    block: Block, place: int, known: Mapping[str, Interval], types: Mapping[str, Type]
) -> Interval:
    """What an operation of a block makes, where something is known of its inputs."""
    node = block.nodes[place]
    assert isinstance(node, Operation)
    inputs = {memlet.target_connector: memlet for memlet in block.inputs[place]}
    names = node.inputs if isinstance(node, Tasklet) else sorted(inputs)
    values: list[Interval] = []
    for name in names:
        source = block.nodes[inputs[name].source] if name in inputs else None
        if isinstance(source, Constant):
            values.append(_constant(source.text))
        elif isinstance(source, AccessNode):
            values.append(known.get(source.container, ANYTHING))
        else:
            return ANYTHING
    if isinstance(node, Tasklet) and node.code[-2:] in ("eq", "ne", "ge", "gt", "le", "lt"):
        return TRUTH
    does = _OPERATIONS.get(node.op)
    try:
        found = does(*values) if does is not None else ANYTHING
    except TypeError:  # another number of inputs than the operation has
        return ANYTHING
    if found.known and not _stays_real(block, place, types):
        return Interval(math.trunc(found.low), math.trunc(found.high))
    return found


def _stays_real(block: Block, place: int, types: Mapping[str, Type]) -> bool:
    """Whether what an operation makes is kept as a real number."""
    targets = [block.nodes[memlet.target] for memlet in block.outputs[place]]
    kinds = [types.get(one.container) for one in targets if isinstance(one, AccessNode)]
    return any(kind is not None and is_real(kind.element) for kind in kinds)


def _constant(text: str) -> Interval:
    try:
        return exactly(float({"true": "1", "false": "0"}.get(text, text.rstrip("fFlLuU"))))
    except ValueError:
        return ANYTHING
