"""Places and ranges of places along a dimension, counted from its end where they are negative.

Before::

    A[i - 1, a:-1]          sieve[i * i :: i] = False

After (places)::

    j_0 = i - 1                             n_0 = (n - i * i + i - 1) // i
    if j_0 < 0: j_0 = j_0 + n               for i0 in range(n_0):
    A[j_0, i0 + a]                              sieve[i * i + i0 * i] = False
"""

from __future__ import annotations

from loopbook.frontend.code import Code, PlacesError, bare
from loopbook.frontend.symbols import ONE, ZERO, Int
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Scalar, Slice


def position(t: Translator, item: Scalar, size: Int) -> Int:
    """The place that an index means, which counts from the end if it is negative."""
    code = t.code
    if item.dtype.kind not in "iu":
        raise code.fail("an index that is not a whole number")
    place = t.integer(item)
    sure = code.facts.nonnegative(place)
    if code.checks_places and place.atoms and not _is_within(t, place):
        raise PlacesError(
            "a place that is computed, behind a check of what is; check before the call",
            code.origin,
        )
    if place.atoms and not code.facts.never_negative(place):
        code.differs = True
    if sure is None and item.dtype.kind == "i" and place.atoms:
        return _from_end(t, place, size)
    return place + size if sure is False else place


def suppose_within(code: Code, place: Int, size: Int) -> None:
    """Leave it to Python to raise where there may be nothing at a place, of a size that only the
    loops know: at one that is told from either end, as in ``np.flatnonzero(x > t)[0]``, and at any
    that is asked for once. In loops, indices are taken to be right."""
    facts = code.facts
    if size.constant is not None or facts.known(size) is not None:
        return
    from_ends = place.constant is not None or (size - place).constant is not None
    if not from_ends and not code.is_first:
        return
    for inside in (place, size - 1 - place):
        if inside.constant is not None or facts.nonnegative(inside, firm=False) is not None:
            continue
        key = ("within", inside)
        if code.remembered(key) is None:
            code.suppose(f"{inside.text} >= 0", or_leave=True)
            code.remember(key, inside, (inside,))


def _is_within(t: Translator, place: Int) -> bool:
    """Whether something says where a place is, whatever the data are."""
    ends = [t.code.facts.bound(place, upper) for upper in (True, False)]
    return all(end is not None and t.code.facts.known(end) is not None for end in ends)


def _from_end(t: Translator, place: Int, size: Int) -> Int:
    code = t.code
    key = ("place", place, size)
    if (known := code.remembered(key)) is not None:
        return known
    name = code.fresh("j_")
    code.emit(f"{name} = {place.text}")
    code.emit(f"if {name} < 0:")
    code.depth += 1
    code.emit(f"{name} = {name} + {size.operand}")
    code.depth -= 1
    suppose_within(code, Int.atom(name), size)
    code.facts.ranges[name] = (ZERO, size - 1)
    code.remember(key, Int.atom(name), (place, size))
    return Int.atom(name)


def bounds(t: Translator, item: Slice, size: Int) -> tuple[Int, Int, Int | int]:
    """First place, number of places, and step of a slice of a dimension."""
    code = t.code
    found = _by_steps(t, item, size)
    if found is not None:
        return found
    step = 1 if item.step is None else t.python(item.step)
    if not isinstance(step, int) or step == 0:
        raise code.fail("a slice's step that is not known")
    if step > 0:
        start = _clamped(t, item.start, size, ZERO, loose=step == 1)
        stop = _clamped(t, item.stop, size, size)
        span = stop - start
    else:
        start = _clamped(t, item.start, size, size - 1, last=True)
        stop = (
            Int.of(-1) if item.stop is None else _clamped(t, item.stop, size, size - 1, last=True)
        )
        span = start - stop
    if (sure := code.facts.nonnegative(span)) is False:
        return ZERO, ZERO, step
    if abs(step) == 1:
        return start, span if sure else code.raised_to_nought(span), step
    rounded = span + (abs(step) - 1)
    if rounded.constant is not None:
        return start, Int.of(rounded.constant // abs(step)), step
    text = f"({rounded.operand} // {abs(step)})"
    if code.facts.known(rounded) is None:
        name = code.fresh("n_")
        code.emit(f"{name} = {bare(text)}")
        code.facts.ranges[name] = (ZERO, size)
        return start, Int.atom(name), step
    return start, code.facts.derive(text, [rounded], lambda n: n // abs(step)), step


def _by_steps(t: Translator, item: Slice, size: Int) -> tuple[Int, Int, Int] | None:
    """The same for a step above nought that only the loops know; None for others."""
    code = t.code
    if item.step is None or item.step.value is not None or item.step.dtype.kind not in "iu":
        return None
    step = t.integer(item.step)
    if code.facts.known(step) is not None or code.facts.nonnegative(step - 1) is False:
        return None
    step = above_nought(code, step)
    start = _clamped(t, item.start, size, ZERO)
    stop = _clamped(t, item.stop, size, size)
    name = code.fresh("n_")
    code.emit(f"{name} = max({(stop - start).text}, 0)")
    code.emit(f"{name} = ({name} + {(step - 1).text}) // {step.operand}")
    code.facts.ranges[name] = (ZERO, size)
    return start, Int.atom(name), step


def above_nought(code: Code, step: Int) -> Int:
    """A step that is supposed to be so, if nothing says it: it is, but the call may be Python's."""
    if code.facts.nonnegative(step - 1) is True:
        return step
    code.suppose(f"{step.text} >= 1")
    name = code.fresh("step_")
    code.emit(f"{name} = max({step.text}, 1)")
    code.facts.ranges[name] = ONE, None
    return Int.atom(name)


def _clamped(
    t: Translator,
    end: Scalar | None,
    size: Int,
    default: Int,
    last: bool = False,
    loose: bool = False,
) -> Int:
    """An end of a slice, kept within the dimension.

    Args:
        last: the greatest place is ``size - 1`` and the least -1, as for negative steps.
        loose: a start behind the end may stay, where the slice then is empty by itself.
    """
    if end is None:
        return default
    code = t.code
    least, most = (Int.of(-1), size - 1) if last else (ZERO, size)
    place = t.integer(end)
    sure = code.facts.nonnegative(place)
    if sure is False:
        place = place + size
        below = code.facts.nonnegative(place - least)
        if below is False:
            return least
        if below is True:
            return code.without_greatest(place)
    fits = code.facts.nonnegative(most - place)
    if sure and fits is False:
        return most
    if sure and (fits or loose):
        return code.without_greatest(place)
    key = ("end", place, size, least)
    if (found := code.remembered(key)) is not None:
        return found
    name = code.fresh("e_")
    if sure:
        code.emit(f"{name} = min({place.text}, {most.text})")
    else:
        code.emit(f"{name} = {place.text}")
        if sure is None:
            code.emit(f"if {name} < 0:")
            code.depth += 1
            code.emit(f"{name} = {name} + {size.operand}")
            code.depth -= 1
        code.emit(f"{name} = max({name}, {least.text})")
        if sure is False and fits and not last:
            code.raised[name] = place
        else:
            code.emit(f"{name} = min({name}, {most.text})")
    code.facts.ranges[name] = (least, most)
    code.remember(key, Int.atom(name), (place, size))
    return Int.atom(name)
