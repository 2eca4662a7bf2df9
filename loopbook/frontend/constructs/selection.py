"""Single numbers of a line as they would be in order, without sorting it.

Hoare's algorithm FIND (1961): what is less than a number from the line goes before what is greater,
then the part that the place is in is looked through in the same way. The number is drawn, so that
no order of the line is a bad one::

    while left_0 < right_0:
        pivot_0 = a[left_0 + draw_0 % (right_0 - left_0 + 1)]
        i_0 = left_0; j_0 = right_0
        while i_0 <= j_0:
            while a[i_0] < pivot_0: i_0 = i_0 + 1
            while a[j_0] > pivot_0: j_0 = j_0 - 1
            if i_0 <= j_0: ...                  # the two change places
        if j_0 < k: left_0 = i_0
        if i_0 > k: right_0 = j_0
"""

from __future__ import annotations

from loopbook.frontend.code import Code
from loopbook.frontend.constructs.sorting import Line
from loopbook.frontend.symbols import Int
from loopbook.frontend.values import Scalar

MULTIPLIER, INCREMENT, MODULUS = 1103515245, 12345, 1 << 31
"""Of the generator that draws: C's own."""


def bring(code: Code, line: Line, place: Int) -> Scalar:
    """The number that belongs at a place; what is before it is no greater then, and what is behind
    it no less."""
    names = ("left_", "right_", "draw_", "pivot_", "i", "j", "kept_", "k")
    left, right, draw, pivot, i, j, kept, k = map(code.fresh, names)
    a = line.numbers.name
    for text in (f"{left} = 0", f"{right} = {line.known.text} - 1", f"{draw} = {INCREMENT}"):
        code.emit(text)
    code.emit(f"{k} = {place.text}")
    with code.indented(f"while {left} < {right}:"):
        code.emit(f"{draw} = ({draw} * {MULTIPLIER} + {INCREMENT}) % {MODULUS}")
        code.emit(f"{pivot} = {a}[{left} + {draw} % ({right} - {left} + 1)]")
        code.emit(f"{i} = {left}")
        code.emit(f"{j} = {right}")
        with code.indented(f"while {i} <= {j}:"):
            for at, stops, step in ((i, ">=", "+"), (j, "<=", "-")):
                with code.indented("while True:"):
                    with code.indented(f"if {a}[{at}] {stops} {pivot}:"):
                        code.emit("break")
                    code.emit(f"{at} = {at} {step} 1")
            with code.indented(f"if {i} <= {j}:"):
                code.emit(f"{kept} = {a}[{i}]")
                code.emit(f"{a}[{i}] = {a}[{j}]")
                code.emit(f"{a}[{j}] = {kept}")
                code.emit(f"{i} = {i} + 1")
                code.emit(f"{j} = {j} - 1")
        with code.indented(f"if {j} < {k}:"):
            code.emit(f"{left} = {i}")
        with code.indented(f"if {i} > {k}:"):
            code.emit(f"{right} = {j}")
    return code.let(line.at(place), "x")


def next_below(code: Code, line: Line, place: Int) -> Scalar:
    """The number in front of one that was brought to its place: the greatest one there."""
    return _extreme(code, line, Int.of(0), place, ">")


def next_above(code: Code, line: Line, place: Int) -> Scalar:
    """The number behind one that was brought to its place: the least one there, or that one if it
    is the last."""
    return _extreme(code, line, place + 1, line.known, "<", line.at(place))


def _extreme(
    code: Code, line: Line, start: Int, stop: Int, symbol: str, otherwise: Scalar | None = None
) -> Scalar:
    found = code.fresh("x_")
    code.emit(f"{found} = {(otherwise or line.at(start)).text}")
    if otherwise is not None:
        with code.indented(f"if {start.text} < {stop.text}:"):
            code.emit(f"{found} = {line.at(start).text}")
    with code.loop(start, stop) as i:
        here = line.at(i).text
        with code.indented(f"if {here} {symbol} {found}:"):
            code.emit(f"{found} = {here}")
    return Scalar(found, line.numbers.dtype)
