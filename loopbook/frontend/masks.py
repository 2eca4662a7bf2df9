"""``a[mask]``, read and assigned.

Before::

    y[y > 0] = x[y > 0] * 2

After::

    for i0 in range(n):
        if y[i0] > 0:
            y[i0] = x[i0] * 2
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace

from loopbook.frontend import nests
from loopbook.frontend.code import bare
from loopbook.frontend.homes import Homes
from loopbook.frontend.symbols import ONE, ZERO, Int
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Array, Scalar, view_of


def same_mask(t: Translator, left: Array, right: Array) -> bool:
    """Whether two masks are the same expression."""
    own = tuple(Int.atom(f"?{axis}") for axis in range(left.rank))
    if left.rank != right.rank:
        return False
    with t.code.captured() as first:
        one = left.element(own).text
    with t.code.captured() as second:
        other = right.element(own).text
    return one == other and not first and not second


def store_masked(t: Translator, base: Array, mask: Array, value: Array | Scalar) -> None:
    """``base[mask] = value``."""
    if isinstance(value, Array) and value.mask is not None:
        if same_mask(t, mask, value.mask):
            nests.assign(t.code, base, replace(value, mask=None), mask)
            return
        value = compressed(t, value)
    if isinstance(value, Array):
        value = t.array(value)
    if isinstance(value, Scalar) or not value.rank or t.code.is_one(value.shape[-1]):
        nests.assign(t.code, base, value, mask)
        return
    if value.rank > 1:
        raise t.code.fail("rows assigned by a mask; use np.where or a loop")
    assert base.view is not None
    buffer, code = base.view.buffer, t.code
    if value.view is None or buffer in value.buffers:
        value = t.stored(value)
    if buffer in mask.buffers:
        mask = t.stored(mask)
    count = code.fresh("n_")
    code.emit(f"{count} = 0")
    with ExitStack() as stack:
        own = tuple(stack.enter_context(code.loop(ZERO, size)) for size in base.shape)
        test = mask.element(own)
        stack.enter_context(code.indented(f"if {bare(test.text)}:"))
        element = value.element((Int.atom(count),))
        for line in nests.stores(base, own, element):
            code.emit(line)
        code.emit(f"{count} = {count} + 1")


def compressed(t: Homes, value: Array) -> Array:
    """The elements where the mask is true, one behind the other."""
    code = t.code
    assert value.mask is not None
    most = ONE
    for size in value.shape:
        most = most * size
    buffer = code.temporary((most,), value.dtype)
    count = code.fresh("n_")
    code.emit(f"{count} = 0")
    with ExitStack() as stack:
        own = tuple(stack.enter_context(code.loop(ZERO, size)) for size in value.shape)
        test = value.mask.element(own)
        stack.enter_context(code.indented(f"if {bare(test.text)}:"))
        element = value.element(own)
        for line in nests.put(buffer, (Int.atom(count),), element, value.dtype):
            code.emit(line)
        code.emit(f"{count} = {count} + 1")
    code.facts.ranges[count] = (ZERO, most)
    return view_of(buffer, (Int.atom(count),), ((ZERO, ((0, ONE),)),), value.dtype)
