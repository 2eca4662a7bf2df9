"""Lists that grow and shrink: stacks and queues (see `loopbook.frontend.lists`).

Before::

    stack = [start]
    while stack:
        v = stack.pop()
        ...
            stack.append(w)

After::

    stack_0[0] = start
    n_0 = 1
    while n_0 > 0:
        n_0 = n_0 - 1
        v_0 = stack_0[n_0]
        ...
            stack_0[n_0] = w_0
            n_0 = n_0 + 1
"""

from __future__ import annotations

from collections import deque

from loopbook.frontend import arith, list_changes, lists
from loopbook.frontend.list_parts import reverse as turn_round
from loopbook.frontend.registry import lowers
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Listing, Scalar, Thing, Tup, Value


@lowers(method="append")
def append(t: Translator, owner: Value, item: Value) -> Value:
    """``items.append(item)``."""
    if isinstance(owner, Listing):
        lists.append(t, owner, item, lists.site(t), t.sure.get(owner.count, False))
        return Thing(None)
    frame = t.frame
    for name, held in frame.env.items():
        if frame.given.get(name) is owner:
            raise t.code.fail(f"append to {name}, a list of the caller's")
        if held is owner and type(owner) is Tup and len(frame.rest) == 1:
            frame.env[name] = t.settled(name, owner.of((*owner.items, t.fixed(item))))
            return Thing(None)
    raise t.code.fail("append to what is no list that this function makes")


@lowers(method="pop")
def pop(t: Translator, owner: Value, place: Value | None = None) -> Value:
    """``items.pop()`` and ``items.pop(0)``."""
    if not isinstance(owner, Listing):
        raise t.code.fail("pop of what is no list that grows")
    if isinstance(place, Scalar) and place.value not in (0, -1):
        return list_changes.pop_at(t, owner, place)
    return lists.pop(t, owner, first=place is not None and t.python(place) == 0)


@lowers(method="insert")
def insert(t: Translator, owner: Value, place: Value, item: Value) -> Value:
    """``items.insert(place, item)``."""
    growing = _growing(t, owner)
    sure = t.sure.get(growing.count, False)
    list_changes.insert(t, growing, t.number(place), item, sure)
    return Thing(None)


@lowers(method="remove")
def remove(t: Translator, owner: Value, value: Value) -> Value:
    """``items.remove(value)``."""
    list_changes.remove(t, _growing(t, owner), value)
    return Thing(None)


@lowers(method="index")
def index(t: Translator, owner: Value, value: Value) -> Value:
    """``items.index(value)``."""
    if type(owner) is Tup:
        return list_changes.place_among(t, owner, value)
    return list_changes.place_of(t, _growing(t, owner), value)


@lowers(method="count")
def count(t: Translator, owner: Value, value: Value) -> Value:
    """``items.count(value)``."""
    return list_changes.count_of(t, _growing(t, owner), value)


@lowers(method="clear")
def clear(t: Translator, owner: Value) -> Value:
    """``items.clear()``."""
    list_changes.clear(t, _growing(t, owner))
    return Thing(None)


def _growing(t: Translator, owner: Value) -> Listing:
    if not isinstance(owner, Listing):
        raise t.code.fail("changing or searching what is no list that grows")
    return owner


@lowers(method="popleft")
def popleft(t: Translator, owner: Value) -> Value:
    """``items.popleft()``."""
    return pop(t, owner, arith.constant(0))


@lowers(method="reverse")
def reverse(t: Translator, owner: Value) -> Value:
    """``items.reverse()``."""
    if not isinstance(owner, Listing):
        raise t.code.fail("reverse of what is no list that grows; use [::-1]")
    turn_round(t, owner)
    return Thing(None)


@lowers(deque)
def deque_(t: Translator, items: Value | None = None) -> Value:
    """A deque, as the list that it begins with."""
    if items is not None and not isinstance(items, Tup):
        raise t.code.fail("a deque of what is no list or tuple")
    return Tup(items.items if isinstance(items, Tup) else (), True)
