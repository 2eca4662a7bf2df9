"""Places of numbers in sorted lines: searchsorted, digitize, interp.

Before::

    j = np.searchsorted(a, x)

After, for each element of x::

    low_0 = 0
    step_0 = size_1                       # the greatest power of two that is not above n
    for k0 in range(size_0):              # n.bit_length()
        middle_0 = min(low_0 + step_0, n) - 1
        if a[middle_0] < x[i0]: low_0 = low_0 + step_0
        step_0 = step_0 // 2
    j[i0] = min(low_0, n)
"""

from __future__ import annotations

import bisect
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace

import numpy as np

from loopbook.frontend import arith, nests
from loopbook.frontend.code import Code, bare
from loopbook.frontend.constructs.elementwise import cast
from loopbook.frontend.constructs.finite import isnan
from loopbook.frontend.inline import inline
from loopbook.frontend.operators import lift
from loopbook.frontend.registry import FUNCTIONS, lowers
from loopbook.frontend.symbols import ONE, ZERO, Int
from loopbook.frontend.translate import Translator
from loopbook.frontend.types import FLOAT, INT
from loopbook.frontend.values import Array, Pair, Scalar, Thing, Value, is_none, whole


@lowers(np.searchsorted, method="searchsorted")
def searchsorted(t: Translator, a: Value, v: Value, side: Value | None = None) -> Value:
    """Where numbers would have to be put in a sorted line; what is no number goes to its end."""
    chosen = "left" if side is None else t.python(side)
    if chosen not in ("left", "right"):
        raise t.code.fail(f"searchsorted with side {chosen!r}")
    line = t.array(a)
    _demand_order(t, line)
    return _places(t, line, t.array(v), chosen == "right")


@lowers(np.digitize)
def digitize(t: Translator, x: Value, bins: Value, right: Value | None = None) -> Value:
    """Bins between edges that grow."""
    code, line = t.code, t.array(bins)
    if not _demand_order(t, line):
        line = _in_memory(t, line)
        with code.loop(ONE, line.shape[0]) as i:  # which fall, are Python's
            edges = line.element((i,)).text, line.element((i - 1,)).text
            code.suppose(f"{edges[0]} >= {edges[1]}")
    return _places(t, line, t.array(x), right is None or not t.python(right))


@lowers(bisect.bisect_left)
def bisect_left(t: Translator, a: Value, x: Value) -> Value:
    """Where Python would have to put a number in a sorted line."""
    found = searchsorted(t, a, t.number(x), Thing("left"))
    return replace(found, weak=True) if isinstance(found, Scalar) else found


@lowers(bisect.bisect_right, bisect.bisect)
def bisect_right(t: Translator, a: Value, x: Value) -> Value:
    found = searchsorted(t, a, t.number(x), Thing("right"))
    return replace(found, weak=True) if isinstance(found, Scalar) else found


def _demand_order(t: Translator, line: Array) -> bool:
    """Take for granted that an argument's numbers grow: calls with others run as Python. False for
    what is computed."""
    if line.view is None or line.rank != 1:
        return False
    buffer = line.view.buffer.origin or line.view.buffer
    if buffer.place != "argument" or len(buffer.shape) != 1:
        return False
    t.code.facts.guards[f"({buffer.name}[1:] >= {buffer.name}[:-1]).all()"] = None
    t.code.looked_into.add(buffer.name)
    return True


def _places(t: Translator, line: Array, wanted: Array, behind: bool) -> Scalar | Array:
    """For each element of `wanted`, where it belongs in the line."""
    code = t.code
    line, wanted = _in_memory(t, line), _in_memory(t, wanted)
    result = whole(code.temporary(wanted.shape, INT), wanted.shape) if wanted.rank else None
    with ExitStack() as stack:
        own = tuple(stack.enter_context(code.loop(ZERO, size)) for size in wanted.shape)
        place = _place(t, line, code.let(wanted.element(own), "x"), behind)
        if result is None:
            return place
        for text in nests.stores(result, own, place):
            code.emit(text)
    return result


def _in_memory(t: Translator, array: Array) -> Array:
    if array.dtype.kind == "c":
        raise t.code.fail("searching for complex numbers")
    return array if array.view is not None or not array.rank else t.stored(array)


def _halve(t: Translator, line: Array, low: str, before: Callable[[Scalar], Scalar]) -> None:
    """Add to `low`, which is nought, how many numbers of a sorted line are `before` something.

    No way through depends on the numbers: processors cannot foretell those.
    """
    code, n = t.code, line.shape[0]
    step, middle = code.fresh("step_"), code.fresh("middle_")
    with ExitStack() as stack:
        if code.facts.known(n) is not None:
            bits = code.facts.derive(f"({n.text}).bit_length()", [n], int.bit_length)
            first = code.facts.derive(
                f"1 << (({n.text}).bit_length() - 1)", [n], lambda n: 1 << (n.bit_length() - 1)
            )
            code.emit(f"{step} = {first.text}")
            stack.enter_context(code.loop(ZERO, bits, hint="k"))
        else:
            code.emit(f"{step} = 1")
            with code.indented(f"while {step} <= {n.text}:"):
                code.emit(f"{step} = {step} * 2")
            code.emit(f"{step} = {step} // 2")  # 0 for no numbers
            stack.enter_context(code.indented(f"while {step} > 0:"))
        code.emit(f"{middle} = min({low} + {step}, {n.text}) - 1")
        test = before(code.let(line.element((Int.atom(middle),)), "x"))
        with code.indented(f"if {bare(test.text)}:"):
            code.emit(f"{low} = {low} + {step}")
        code.emit(f"{step} = {step} // 2")
    code.emit(f"{low} = min({low}, {n.text})")


def _place(t: Translator, line: Array, x: Scalar, behind: bool, guess: str = "") -> Scalar:
    """How many numbers of a sorted line are before `x`; of the same ones, all if `behind`.

    Args:
        guess: a variable with what that was for the number before this one: it often is as many
            now, or one more.
    """
    code = t.code
    if line.rank != 1:
        raise code.fail("searchsorted in what is no line of numbers")
    n = line.shape[0]
    low = code.fresh("low_")
    code.emit(f"{low} = 0")
    if code.is_empty(n):
        return Scalar(low, INT, whole=ZERO)
    with ExitStack() as stack:
        if guess and behind:
            near = _near(code, line, x, low, guess)
            stack.enter_context(code.indented(f"if {near} == 0:"))
        symbol = "<=" if behind else "<"
        _halve(t, line, low, lambda here: arith.compare(code, symbol, here, x))
        if x.dtype.kind == "f":  # what is no number goes to the end
            with code.indented(f"if {bare(isnan(code, x).text)}:"):
                code.emit(f"{low} = {0 if not behind and line.dtype.kind == 'f' else n.text}")
                if not behind and line.dtype.kind == "f":
                    _halve(t, line, low, lambda here: arith.unary(code, "not", isnan(code, here)))
    if guess:
        code.emit(f"{guess} = {low}")
    code.facts.ranges[low] = (ZERO, n)
    return Scalar(low, INT, whole=Int.atom(low))


def _near(code: Code, line: Array, x: Scalar, low: str, guess: str) -> str:
    """Set `low` if it is what was guessed, or one more; gives the name of what is 1 then."""
    near, n = code.fresh("near_"), line.shape[0]
    before, here, after = (line.element((Int.atom(guess) + k,)).text for k in (-1, 0, 1))
    code.emit(f"{near} = 0")
    with ExitStack() as stack:
        for test in (f"{guess} > 0", f"{guess} < {n.text}", f"{before} <= {x.text}"):
            stack.enter_context(code.indented(f"if {test}:"))
        with code.indented(f"if {x.text} < {here}:"):
            code.emit(f"{low} = {guess}")
            code.emit(f"{near} = 1")
        for test in ("else:", f"if {guess} + 1 < {n.text}:", f"if {x.text} < {after}:"):
            stack.enter_context(code.indented(test))
        code.emit(f"{low} = {guess} + 1")
        code.emit(f"{near} = 1")
    return near


@lowers(np.interp)
def interp(
    t: Translator,
    x: Value,
    xp: Value,
    fp: Value,
    left: Value | None = None,
    right: Value | None = None,
    period: Value | None = None,
) -> Value:
    """Values on straight lines between points, whose places grow."""
    code = t.code
    if period is not None and not is_none(period):
        x, xp = (cast(t, v, FLOAT) for v in (x, xp))  # whose remainders NumPy takes in 64 bits
        return inline(t, _interp_around, [x, xp, fp, period], {}, code.origin)
    if t.array(fp).dtype.kind == "c":
        if not (is_none(left) and is_none(right)):
            raise code.fail("interp of complex numbers with other ends")
        parts = (interp(t, x, xp, FUNCTIONS[part](t, fp)) for part in (np.real, np.imag))
        return lift(t, lambda a, b: Pair((a.text, b.text), np.dtype(complex)), *parts)
    _demand_order(t, t.array(xp))
    wanted, places, values = (
        _in_memory(t, t.array(cast(t, t.array(v), FLOAT))) for v in (x, xp, fp)
    )
    n = places.shape[0] if places.rank == 1 else ZERO
    agreed = code.agreed(n, values.shape[0]) if values.rank == 1 else None
    if agreed is None or code.is_empty(n):
        raise code.fail("interp of points that are no two lines of the same length, or of none")
    n = agreed
    places = replace(places, shape=(n,))
    final = n - 1
    if code.facts.known(n) is None:
        code.suppose(f"{n.text} > 0")  # NumPy raises
        final = Int.atom(code.fresh("n_"))
        code.emit(f"{final.text} = max({n.text} - 1, 0)")
    ends = [
        code.let(
            t.number(cast(t, values.element((place,)) if v is None or is_none(v) else v, FLOAT))
        )
        for v, place in ((left, ZERO), (right, final))
    ]
    first, last = ends
    result = whole(code.temporary(wanted.shape, FLOAT), wanted.shape) if wanted.rank else None
    guess = ""
    if wanted.rank and not code.is_one(wanted.shape[0]):
        guess = code.fresh("guess_")
        code.emit(f"{guess} = 0")
    with ExitStack() as stack:
        own = tuple(stack.enter_context(code.loop(ZERO, size)) for size in wanted.shape)
        at = code.let(wanted.element(own), "x")
        found = _between(t, places, values, at, (first, last), guess)
        if result is None:
            return found
        for text in nests.stores(result, own, found):
            code.emit(text)
    return result


def _interp_around(x, xp, fp, period):
    """The points lie on a circle, so the last one is in front of the first one as well."""
    period = abs(period)
    places = xp % period
    order = np.argsort(places)
    places, values = places[order], fp[order]
    places = np.concatenate((places[-1:] - period, places, places[:1] + period))
    values = np.concatenate((values[-1:], values, values[:1]))
    return np.interp(x % period, places, values)


def _between(
    t: Translator,
    places: Array,
    values: Array,
    x: Scalar,
    ends: tuple[Scalar, Scalar],
    guess: str,
) -> Scalar:
    (first, last), code, n = ends, t.code, places.shape[0]
    behind = _place(t, places, x, True, guess)
    found = Scalar(code.fresh("y_"), FLOAT)
    slope = Scalar(code.fresh("slope_"), FLOAT)
    high = Int.atom(behind.text)

    def on_line(place: Int) -> str:
        way = f"({x.text} - {places.element((place,)).text})"
        return f"{slope.text} * {way} + {values.element((place,)).text}"

    def missing(value: Scalar) -> str:
        return f"if {bare(isnan(code, value).text)}:"

    with code.indented(f"if {behind.text} == 0:"):
        code.emit(f"{found.text} = {first.text}")
    with code.indented("else:"):
        code.emit(f"{found.text} = {values.element((high - 1,)).text}")
        after = f"{x.text} > {places.element((n - 1,)).text}"
        with code.indented(f"if {behind.text} == {n.text}:"), code.indented(f"if {after}:"):
            code.emit(f"{found.text} = {last.text}")
        # A point itself has its own value, whatever the next one is.
        after = f"{x.text} > {places.element((high - 1,)).text}"
        with code.indented(f"if {behind.text} < {n.text}:"), code.indented(f"if {after}:"):
            low_value, high_value = (values.element((i,)).text for i in (high - 1, high))
            run = f"{places.element((high,)).text} - {places.element((high - 1,)).text}"
            code.emit(f"{slope.text} = ({high_value} - {low_value}) / ({run})")
            code.emit(f"{found.text} = {on_line(high - 1)}")
            with code.indented(missing(found)):  # infinite points, as NumPy takes them
                code.emit(f"{found.text} = {on_line(high)}")
                same = code.indented(f"if {low_value} == {high_value}:")
                with code.indented(missing(found)), same:
                    code.emit(f"{found.text} = {low_value}")
    with code.indented(missing(x)):
        code.emit(f"{found.text} = {x.text}")
    return found
