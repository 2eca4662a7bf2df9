"""Counts of whole numbers: bincount.

Before::

    c = np.bincount(i, weights=w, minlength=m)

After, where i is an argument that nothing is stored into::

    size_0 = max(int(i.max()) + 1, m)            # before the loops, with the memory for c
    for i0 in range(size_0): c[i0] = 0.0
    for i0 in range(n):
        c[i[i0]] = c[i[i0]] + w[i0]
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace

import numpy as np

from loopbook.frontend import arith, nests
from loopbook.frontend.code import bare
from loopbook.frontend.registry import lowers
from loopbook.frontend.symbols import ZERO, Int
from loopbook.frontend.translate import Translator
from loopbook.frontend.types import FLOAT, INT
from loopbook.frontend.values import Array, Thing, Value, argument_of, held, whole


@lowers(np.bincount)
def bincount(
    t: Translator, x: Value, weights: Value | None = None, minlength: Value | None = None
) -> Value:
    """How often each whole number occurs, or the sum of the weights where it does."""
    code, array = t.code, t.array(x)
    if array.rank != 1 or array.dtype.kind not in "iub":
        raise code.fail("bincount of what is no line of whole numbers; use ravel, or astype(int)")
    least = ZERO if minlength is None else _least(t, t.integer(minlength))
    if array.view is None:
        array = t.stored(array)
    count = _length(t, array, least)
    given = None
    if weights is not None and not (isinstance(weights, Thing) and weights.value is None):
        given = t.array(weights)
        if given.rank == 1:  # as many, where only the loops know how many there are
            array = replace(array, shape=nests.agreed(code, array.shape, given.shape))
        size = array.shape[0]
        if given.rank != 1 or not (
            code.same(given.shape[0], size) or code.is_agreed(given.shape[0], size)
        ):
            raise code.fail("bincount with more or fewer weights than numbers")
        if given.dtype.kind == "c":
            raise code.fail("bincount with complex weights; count both parts")
    none = code.is_empty(array.shape[0])
    if none:  # NumPy looks at no weights then
        given = None
    kind = INT if given is None else FLOAT
    result = whole(code.temporary((count,), kind), (count,))
    assert result.view is not None
    nests.assign(code, result, arith.constant(kind.type(0)))
    if none:
        return result
    known = argument_of(array) is not None
    with ExitStack() as stack:
        i = stack.enter_context(code.loop(ZERO, array.shape[0]))
        place = t.integer(arith.convert(code, code.let(array.element((i,))), INT))
        if not known:  # nothing is stored outside, whatever was supposed
            stack.enter_context(code.indented(f"if {place.text} >= 0:"))
            stack.enter_context(code.indented(f"if {place.text} < {count.text}:"))
        weight = arith.constant(1) if given is None else given.element((i,))
        so_far = held(result.view.buffer, (place,), kind)
        found = arith.binary(code, "+", so_far, arith.convert(code, weight, kind))
        for line in nests.put(result.view.buffer, (place,), found, kind):
            code.emit(line)
    return result


def _least(t: Translator, least: Int) -> Int:
    """A length that is not negative; one that is computed is supposed to be so."""
    code = t.code
    sure = code.facts.nonnegative(least)
    if sure is False:
        raise code.fail("bincount with a negative minlength")
    if sure:
        return code.bounded(least)
    code.suppose(f"{least.text} >= 0")
    name = code.fresh("n_")
    code.emit(f"{name} = max({least.text}, 0)")
    return code.bounded(Int.atom(name))


def _found(t: Translator, array: Array, least: Int) -> Int:
    """The length for numbers that are computed: `least`, which they are supposed to be below, or
    one more than the loops find the greatest to be."""
    code = t.code
    top, low = code.fresh("top_"), code.fresh("low_")
    code.emit(f"{top} = 0")
    code.emit(f"{low} = 0")
    with code.loop(ZERO, array.shape[0]) as i:
        number = arith.convert(code, code.let(array.element((i,))), INT).text
        code.emit(f"{top} = max({top}, {number} + 1)")
        code.emit(f"{low} = min({low}, {bare(number)})")
    code.suppose(f"{low} == 0")
    if not code.is_empty(least):
        code.suppose(f"{top} <= {least.text}")
        return least
    return code.bounded(Int.atom(top))


def _length(t: Translator, array: Array, least: Int) -> Int:
    """The length of the result: `least`, or one more than the greatest number.

    Raises:
        LoweringError: if only the loops could find that out.
    """
    code = t.code
    if array.dtype.kind == "b" or (array.dtype.itemsize == 1 and array.dtype.kind == "u"):
        most = 1 if array.dtype.kind == "b" else 255
        if code.facts.nonnegative(least - (most + 1)):
            return least
    argument = argument_of(array)
    if argument is None or code.facts.known(least) is None:
        return _found(t, array, least)
    name, values = argument.name, code.elements[argument.name]
    if array.dtype.kind == "i":
        code.demand_places(name)
    code.looked_into.add(name)
    top = int(values.max()) + 1 if values.size else 0
    text = f"max(int({name}.max()) + 1 if {name}.size else 0, {least.text})"
    return code.facts.derive(text, [least], lambda n: max(top, n))
