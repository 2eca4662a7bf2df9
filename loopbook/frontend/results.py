"""Return values: text of what the function around the kernel gives back.

Before::

    return A[1:], x.sum(), n          (A an argument)

After::

    return A[1:A.shape[0]], result_0[0], n
"""

from __future__ import annotations

import numpy as np

from loopbook.frontend import arith, lists, nests, sorts, types
from loopbook.frontend.code import bare
from loopbook.frontend.lowered import tuple_text
from loopbook.frontend.records import Fields
from loopbook.frontend.symbols import ONE, ZERO
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Array, Buffer, Listing, Scalar, Thing, Tup, Value, whole

MOST_PARTS = 128
"""Numbers that a result may consist of. Each is stored by itself: 10 ms or more of clang."""

AS_MANY = 4
"""An array has a nest of its own, which is planned besides."""


def returned(t: Translator, value: Value) -> tuple[str, set[str]]:
    """Text of the result over arguments and temporaries, and the names in it.

    Raises:
        LoweringError: for what cannot be returned.
    """
    if _parts(value) > MOST_PARTS:
        raise t.code.fail("returning many numbers or arrays, each by itself; return an array")
    text = _text(t, value)
    return ("" if text == "None" else text), set()


def _parts(value: Value) -> int:
    """How many numbers, with an array for `AS_MANY` of them."""
    if isinstance(value, Tup):
        return sum(map(_parts, value.items))
    return AS_MANY if isinstance(value, Array) and value.rank else 1


def _text(t: Translator, value: Value) -> str:
    if isinstance(value, Tup):
        parts = [_text(t, item) for item in value.items]
        if isinstance(value, Fields):
            return _record(t, value, parts)
        return f"[{', '.join(parts)}]" if value.listed else tuple_text(parts)
    if isinstance(value, Thing):
        if value.value is None or isinstance(value.value, str):
            return repr(value.value)
        if isinstance(value.value, bool | int | float | np.generic):
            return _number(t, t.number(value))
        raise t.code.fail(f"returning {value.value!r}")
    if isinstance(value, Listing):
        if value.columns:
            return _tuples(t, value)
        text = _array(t, lists.as_array(t, value))
        if value.mixed:
            raise t.code.fail("returning a list of numbers of Python's and of NumPy's")
        return f"{text}.tolist()" if value.kind[1] else f"list({text})"
    if isinstance(value, Array):
        if value.mask is not None:
            value = t.stored(value)
        forced = nests.force(t.code, value, "result")
        if isinstance(forced, Array):
            text = _array(t, forced)
            return f"{text}.tolist()" if forced.weak and forced.rank else text
        value = forced
    if isinstance(value, Scalar):
        return _number(t, value)
    raise t.code.fail("returning what is neither an array nor a number")


def _tuples(t: Translator, value: Listing) -> str:
    """A list of tuples of numbers."""
    arrays = [_array(t, part) for part in lists.columns(t, value)]
    if value.mixed:
        raise t.code.fail("returning a list of numbers of Python's and of NumPy's")
    kinds = zip(arrays, value.columns, strict=True)
    sides = ", ".join(f"{text}.tolist()" if weak else text for text, (_, weak) in kinds)
    if isinstance(value.like, Fields):
        return f"list(map({t.code.thing(value.like.kind)}, {sides}))"
    return f"list(map(list, zip({sides})))" if value.like.listed else f"list(zip({sides}))"


def _record(t: Translator, value: Fields, parts: list[str]) -> str:
    kind = value.kind.__name__
    if issubclass(value.kind, tuple):
        return f"{t.code.thing(value.kind)}({', '.join(parts)})"
    if value.given:
        raise t.code.fail(f"returning a {kind} that the caller has; return what is in it")
    if value.kind is not dict:
        raise t.code.fail(f"returning a {kind}; return a tuple or a dict")
    named = zip(value.names, parts, strict=True)
    return f"{{{', '.join(f'{name!r}: {part}' for name, part in named)}}}"


def _number(t: Translator, value: Scalar) -> str:
    code = t.code
    told = sorts.returned(code, value)
    if told is None and value.value is not None and value.weak:
        text = repr(value.value)
        return text if value.dtype.kind != "f" or np.isfinite(value.value) else f'float("{text}")'
    sized = value.whole is not None and code.facts.known(value.whole) is not None
    if told is None and sized and value.weak and value.whole is not None:
        return bare(value.whole.text)
    dtype = value.dtype
    buffer = code.temporary((ONE,), dtype, "result")
    for line in nests.put(buffer, (ZERO,), value, dtype):
        code.emit(line)
    if told is not None:
        return f"{told}({buffer.name}[0])"
    if not value.weak:
        return f"{buffer.name}.reshape(())" if value.boxed else f"{buffer.name}[0]"
    return (
        f"{ {'b': 'bool', 'f': 'float', 'c': 'complex'}.get(dtype.kind, 'int') }({buffer.name}[0])"
    )


def _array(t: Translator, value: Array) -> str:
    code = t.code
    if value.view is None or value.view.buffer.copied:
        value = nests.materialise(code, value, "result")
    view = value.view
    assert view is not None
    own = whole(view.buffer)
    if view == own.view and value.rank == own.rank and all(map(code.same, value.shape, own.shape)):
        return _in_shape(view.buffer)
    if any(code.facts.known(size) is None for size in value.shape):
        return _counted(t, value)
    text = _view_text(t, value)
    if text is not None:
        return text
    return _array(t, nests.materialise(code, value, "result"))


def _counted(t: Translator, value: Array) -> str:
    """The first part of a buffer, of sizes that only the loops find out: rows with gaps in between
    are put side by side, as NumPy's are."""
    code, view = t.code, value.view
    assert view is not None
    own = whole(view.buffer).view
    if own is None or view.dims != own.dims or value.rank != len(view.buffer.sizes):
        return _counted(t, nests.materialise(code, value, "result"))
    parts = []
    for size, room in zip(value.shape, view.buffer.sizes, strict=True):
        if code.facts.known(size) is not None:
            parts.append(":" if size == room else f": {size.text}")
            continue
        count = code.temporary((ONE,), types.INT, "count")
        code.emit(f"{count.name}[0] = {size.text}")
        parts.append(f": {count.name}[0]")
    gaps = ".copy()" if any(part != ":" for part in parts[1:]) else ""
    return f"{_in_shape(view.buffer)}[{', '.join(parts)}]{gaps}"


def _in_shape(buffer: Buffer) -> str:
    """Text of all that a buffer holds, in its own shape."""
    if not buffer.rows or buffer.place == "argument":
        return buffer.name
    return f"{buffer.name}.reshape({', '.join(size.text for size in buffer.rows)})"


def _view_text(t: Translator, value: Array) -> str | None:
    """A view with slices and a transpose of its buffer; None where it is none."""
    view, code = value.view, t.code
    assert view is not None
    parts, order, flipped = [], [], set[int]()
    rank = len(view.buffer.shape)
    for offset, factors in view.dims[:rank]:
        if code.facts.known(offset) is None:
            return None
        if not factors:
            parts.append(offset.text)
            continue
        if len(factors) != 1 or factors[0][1].constant is None:
            return None
        axis, step = factors[0][0], int(factors[0][1].constant)
        size = value.shape[axis]
        end = offset + size * step
        if axis in order or code.facts.known(size) is None or step == 0:
            return None
        if code.is_empty(size):
            parts.append("0:0")
        elif step == -1:  # the end may be in front of the first one, which no slice says
            parts.append(f"{(end + 1).text}:{(offset + 1).text}")
            flipped.add(axis)
        elif step < 0:
            stop = end.text
            if code.facts.nonnegative(end) is not True:  # in front of the first one, as above
                stop = f"{end.text} if {end.text} >= 0 else None"
            parts.append(f"{offset.text}:{stop}:{step}")
        else:
            parts.append(f"{offset.text}:{end.text}" + (f":{step}" if step != 1 else ""))
        order.append(axis)
    missing = [axis for axis in range(value.rank) if axis not in order]
    if any(value.shape[axis].constant != 1 for axis in missing):
        return None
    if missing and not order:  # a number would be no view
        parts[-1] += f":{(view.dims[rank - 1][0] + 1).text}"
        order.append(missing.pop(0))
    line = f"{view.buffer.name}.reshape(-1)" if view.buffer.rows else view.buffer.name
    text = f"{line}[{', '.join(parts)}]"
    if flipped:
        text += f"[{', '.join('::-1' if axis in flipped else ':' for axis in order)}]"
    if len(view.dims) > rank:
        text += ".imag" if view.dims[rank][0].constant else ".real"
    if order != sorted(order):
        ranks = [sorted(order).index(axis) for axis in order]
        text += f".transpose({', '.join(str(ranks.index(n)) for n in range(len(ranks)))})"
    if missing:
        text += f"[{', '.join('None' if axis in missing else ':' for axis in range(value.rank))}]"
    return text


__all__ = ["ZERO", "arith", "np", "returned", "types"]
