"""``a[mask]``, read and assigned.

Before::

    y[y > 0] = x[y > 0] * 2           R = X[labels == k]

After::

    for i0 in range(n):               n_0 = 0
        if y[i0] > 0:                 for i0 in range(n):
            y[i0] = x[i0] * 2             if labels[i0] == k:
                                              for i1 in range(m): R[n_0, i1] = X[i0, i1]
                                              n_0 = n_0 + 1
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from loopbook.frontend import nests
from loopbook.frontend.code import Code, bare
from loopbook.frontend.fitting import cut
from loopbook.frontend.homes import Homes
from loopbook.frontend.symbols import ONE, ZERO, Int
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Array, Index, Scalar, looked_at, whole


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


def chosen(t: Translator, array: Array, mask: Array, axis: int) -> Array:
    """``array[mask]`` for a mask of some axes, from `axis` on: single elements wait for what is
    done with them, rows are copied."""
    array, mask = _fitting(t, array, mask, axis)
    if mask.rank == array.rank:
        buffers = array.buffers | mask.buffers
        return replace(array, view=None, mask=mask, buffers=buffers)
    return _behind_each_other(t, array, mask, axis)


def compressed(t: Homes, value: Array) -> Array:
    """The elements where the mask is true, one behind the other."""
    assert value.mask is not None
    return _behind_each_other(t, value, value.mask, 0)


def _fitting(t: Translator, array: Array, mask: Array, axis: int) -> tuple[Array, Array]:
    """The two of one shape, as they are supposed to be where only the loops know."""
    mask = t.array(mask)
    if mask.rank > array.rank - axis:
        raise t.code.fail("a mask of another shape")
    for place, size in enumerate(mask.shape):
        if not t.code.same(size, array.shape[axis + place]):
            agreed = t.code.agreed(array.shape[axis + place], size)
            if agreed is None:
                raise t.code.fail("a mask of another shape")
            array, mask = cut(array, axis + place, agreed), cut(mask, place, agreed)
    return array, mask


def _over(mask: Array, base: Array, axis: int) -> Array:
    """A mask of some axes for all elements."""
    if mask.rank == base.rank:
        return mask
    dims = tuple((ZERO, ((axis + n, ONE),)) for n in range(mask.rank))
    return looked_at(mask, base.shape, dims)


CHEAP = 2
"""What an element may cost at most that is computed whether a mask lets it through or not."""


@contextmanager
def each(
    code: Code, array: Array, mask: Array, axis: int, *, all_of_them: bool = False
) -> Iterator[tuple[Index, Int]]:
    """Loops over the elements that a mask lets through; gives their indices, and how many times
    it was true before.

    Args:
        all_of_them: what is done with an element is done with each: the next one's comes into its
            place if the mask does not let it through. Only the count depends on the mask then, and
            no processor has to guess.
    """
    count = code.fresh("n_")
    code.emit(f"{count} = 0")
    behind = axis + mask.rank
    with ExitStack() as stack:
        places = tuple(stack.enter_context(code.loop(ZERO, size)) for size in mask.shape)
        if all_of_them:
            yield places, Int.atom(count)
            with code.indented(f"if {bare(mask.element(places).text)}:"):
                code.emit(f"{count} = {count} + 1")
            return
        stack.enter_context(code.indented(f"if {bare(mask.element(places).text)}:"))
        with ExitStack() as inner:
            before = [_index(inner, code, n) for n in array.shape[:axis]]
            after = [_index(inner, code, n) for n in array.shape[behind:]]
            yield (*before, *places, *after), Int.atom(count)
        code.emit(f"{count} = {count} + 1")


def _index(stack: ExitStack, code: Code, size: Int) -> Int:
    """An index along an axis, from a loop that ends with `stack`; of one element there is none,
    since docc would do away with it, and be thought to have forgotten something."""
    return ZERO if size == ONE else stack.enter_context(code.loop(ZERO, size))


def _behind_each_other(t: Homes, array: Array, mask: Array, axis: int) -> Array:
    code = t.code
    most = ONE
    for size in mask.shape:
        most = most * size
    front, back = array.shape[:axis], array.shape[axis + mask.rank :]
    buffer = code.temporary((*front, most, *back), array.dtype)
    cheap = mask.rank == array.rank and array.cost <= CHEAP
    with each(code, array, mask, axis, all_of_them=cheap) as (own, count):
        target = (*own[:axis], count, *own[axis + mask.rank :])
        for line in nests.put(buffer, target, array.element(own), array.dtype):
            code.emit(line)
    code.facts.ranges[count.text] = (ZERO, most)
    return whole(buffer, (*front, count, *back))


def store_masked(t: Translator, base: Array, mask: Array, axis: int, value: Array | Scalar) -> None:
    """``base[mask] = value`` for a mask of some of the axes of `base`, from `axis` on."""
    code = t.code
    base, mask = _fitting(t, base, mask, axis)
    if isinstance(value, Array) and value.mask is not None:
        if mask.rank == base.rank and same_mask(t, mask, value.mask):
            nests.assign(code, base, replace(value, mask=None), mask)
            return
        value = compressed(t, value)
    if isinstance(value, Array):
        value = t.array(value)
    behind = base.rank - axis - mask.rank
    if isinstance(value, Scalar) or value.rank <= behind:
        nests.assign(code, base, value, _over(mask, base, axis))
        return
    along = value.rank - behind - 1  # its axis for what the mask lets through
    if code.is_one(value.shape[along]):
        dims = tuple(
            (ZERO, ((n if n < along else n + mask.rank - 1, ONE),) if n != along else ())
            for n in range(value.rank)
        )
        shape = (*value.shape[:along], *[ONE] * mask.rank, *value.shape[along + 1 :])
        nests.assign(code, base, looked_at(value, shape, dims), _over(mask, base, axis))
        return
    _in_order(t, base, mask, axis, value, along)


def _in_order(t: Translator, base: Array, mask: Array, axis: int, value: Array, along: int) -> None:
    """Rows of a value, one after the other, to the places where a mask is true."""
    code = t.code
    sizes = (*base.shape[:axis], value.shape[along], *base.shape[axis + mask.rank :])
    if value.rank > len(sizes):
        raise code.fail("rows assigned by a mask that have too many axes; use a loop")
    value = nests.fit(code, value, sizes)
    assert base.view is not None
    buffer = base.view.buffer
    if value.view is None or buffer in value.buffers:
        value = t.stored(value)
    if buffer in mask.buffers:
        mask = t.stored(mask)
    with each(code, base, mask, axis) as (own, count):
        element = value.element((*own[:axis], count, *own[axis + mask.rank :]))
        for line in nests.stores(base, own, element):
            code.emit(line)
