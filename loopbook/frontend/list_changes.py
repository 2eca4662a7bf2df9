"""Numbers put into lists that grow, taken out and looked for, wherever they are.

Before::                                 After::

    v = alive.pop(i)                         v_0 = alive_0[i]
                                             n_0 = n_0 - 1
                                             for i0 in range(n_0 - i):
                                                 alive_0[i + i0] = alive_0[i + i0 + 1]

Where Python raises, since there is no such item, the call is Python's.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from loopbook.frontend import arith, lists, nests
from loopbook.frontend.symbols import ZERO, Int
from loopbook.frontend.types import BOOL
from loopbook.frontend.values import Array, Listing, Scalar, Tup, Value

if TYPE_CHECKING:
    from loopbook.frontend.translate import Translator


def pop_at(t: Translator, owner: Listing, place: Scalar) -> Value:
    """``items.pop(place)``."""
    line = _line(t, owner)
    at = _counted(t, place, line.shape[0])
    t.code.suppose(f"{at.text} >= 0 and {at.text} < {line.shape[0].text}", or_leave=True)
    taken = replace(t.code.let(line.element((at,))), weak=owner.kind[1])
    _close(t, owner, line, at)
    return taken


def remove(t: Translator, owner: Listing, value: Value) -> None:
    """``items.remove(value)``."""
    line = _asked(t, owner, value)
    _close(t, owner, line, _found(t, line, value))


def insert(t: Translator, owner: Listing, place: Scalar, item: Value, sure: bool) -> None:
    """``items.insert(place, item)``, whose place is at an end if it is behind it."""
    code, item = t.code, _now(t, item)
    lists.append(t, owner, item, lists.site(t), sure)
    line = _line(t, owner)
    last = code.fresh("last_")
    code.emit(f"{last} = {(line.shape[0] - 1).text}")
    at = _counted(t, place, Int.atom(last))
    code.emit(f"{at.text} = min(max({at.text}, 0), {last})")
    steps = _steps(t, Int.atom(last) - at)
    with code.loop(ZERO, steps) as k:
        to = Int.atom(last) - k
        _put(t, owner, to, line.element((to - 1,)))
    _put(t, owner, at, item)


def clear(t: Translator, owner: Listing) -> None:
    """``items.clear()``."""
    for variable in filter(None, (owner.count, owner.head)):
        t.code.emit(f"{variable} = 0")
    owner.sites["pop"] = None


def place_of(t: Translator, owner: Listing, value: Value) -> Scalar:
    """``items.index(value)``."""
    return replace(arith.whole(_found(t, _asked(t, owner, value), value)), weak=True)


def count_of(t: Translator, owner: Listing, value: Value) -> Scalar:
    """``items.count(value)``."""
    code, line = t.code, _asked(t, owner, value)
    number, total = _now(t, value), code.fresh("count_")
    code.emit(f"{total} = 0")
    code.mutable.add(total)
    with code.loop(ZERO, line.shape[0]) as k:
        same = arith.compare(code, "==", line.element((k,)), number)
        with code.indented(f"if {same.text}:"):
            code.emit(f"{total} = {total} + 1")
    return replace(arith.whole(Int.atom(total)), weak=True)


def place_among(t: Translator, items: Tup, value: Value) -> Scalar:
    """``(a, b, c).index(value)``, of numbers."""
    code, wanted = t.code, _now(t, value)
    if wanted.dtype.kind == "f":
        code.suppose(f"math.fabs({wanted.text}) >= 0.0")
    numbers = [_now(t, item) for item in items.items]
    place = code.fresh("place_")
    code.emit(f"{place} = -1")
    code.mutable.add(place)
    for k, number in reversed([*enumerate(numbers)]):
        with code.indented(f"if {arith.compare(code, '==', number, wanted).text}:"):
            code.emit(f"{place} = {k}")
    code.suppose(f"{place} >= 0")
    return code.let(replace(arith.whole(Int.atom(place)), weak=True), "place")


def is_in(t: Translator, among: Listing | Array, value: Value) -> Scalar:
    """Whether a number is in a list, or in an array of one dimension."""
    line = _asked(t, among, value) if isinstance(among, Listing) else t.array(among)
    if line.rank != 1:
        raise t.code.fail("what is in an array of several dimensions; use np.any")
    found = t.code.fresh("found_")
    t.code.emit(f"{found} = False")
    number = _now(t, value)
    with t.code.loop(ZERO, line.shape[0]) as k:
        same = arith.compare(t.code, "==", line.element((k,)), number)
        with t.code.indented(f"if {same.text}:"):
            t.code.emit(f"{found} = True")
    t.code.mutable.add(found)
    return t.code.let(Scalar(found, BOOL, True))


def _asked(t: Translator, owner: Listing, value: Value) -> Array:
    """The items, where they are asked for a number: of NaN Python asks whether it is the same."""
    line = _line(t, owner)
    if line.dtype.kind == "f" and t.number(value).dtype.kind == "f":
        t.code.suppose(f"math.fabs({_now(t, value).text}) >= 0.0")
    return line


def _now(t: Translator, item: Value) -> Scalar:
    """A number as it is now."""
    return t.code.let(t.number(item))


def _line(t: Translator, owner: Listing) -> Array:
    """The numbers that there are now."""
    lists.ensure(t, owner)
    if owner.columns or owner.shape:
        raise t.code.fail(f"changing {owner.name} in the middle, which holds no numbers")
    return lists.as_array(t, owner)


def _counted(t: Translator, place: Scalar, total: Int) -> Int:
    """A place counted from the beginning."""
    code = t.code
    if place.dtype.kind not in "iu":
        raise code.fail("a place in a list that is no whole number")
    name = code.fresh("at_")
    code.mutable.add(name)
    if place.value is not None:
        start = total if place.value < 0 else ZERO
        code.emit(f"{name} = {(start + int(place.value)).text}")
        return Int.atom(name)
    code.emit(f"{name} = {place.text}")
    with code.indented(f"if {name} < 0:"):
        code.emit(f"{name} = {name} + {total.text}")
    return Int.atom(name)


def _found(t: Translator, line: Array, value: Value) -> Int:
    """The first place of a number."""
    code, at, total = t.code, t.code.fresh("at_"), line.shape[0]
    number = _now(t, value)
    code.emit(f"{at} = {total.text}")
    code.mutable.add(at)
    with code.loop(ZERO, total) as k:
        same = arith.compare(code, "==", line.element((k,)), number)
        with code.indented(f"if {at} == {total.text} and {same.text}:"):
            code.emit(f"{at} = {k.text}")
    code.suppose(f"{at} < {total.text}", or_leave=True)
    return Int.atom(at)


def _close(t: Translator, owner: Listing, line: Array, at: Int) -> None:
    """Move all items behind a place one place down."""
    t.code.emit(f"{owner.count} = {owner.count} - 1")
    owner.sites["pop"] = None
    with t.code.loop(ZERO, _steps(t, line.shape[0] - 1 - at)) as k:
        _put(t, owner, at + k, line.element((at + k + 1,)))


def _steps(t: Translator, count: Int) -> Int:
    """How often a loop runs, as a variable of its own."""
    name = t.code.fresh("n_")
    t.code.emit(f"{name} = {count.text}")
    return Int.atom(name)


def _put(t: Translator, owner: Listing, place: Int, value: Scalar) -> None:
    assert owner.buffer is not None
    at = place + Int.atom(owner.head) if owner.head else place
    for line in nests.put(owner.buffer, (at,), value, owner.buffer.dtype):
        t.code.emit(line)
