"""Lists that names are given anew in loops and branches: items move into the first one's memory.

Before::

    while frontier:
        found = []
        for u in frontier:
            ...
                found.append(v)
        frontier = found

After::

    while n_0 > 0:
        n_1 = 0
        for i0 in range(n_0):
            ...
                found_0[n_1] = v_0
                n_1 = n_1 + 1
        n_0 = 0
        for i1 in range(n_1):
            frontier_0[n_0] = found_0[i1]
            n_0 = n_0 + 1

What is one list in Python may be two here, so none of the two may be changed under both names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from loopbook.frontend.liveness import stores
from loopbook.frontend.symbols import ZERO
from loopbook.frontend.values import Array, Listing, Scalar, Tup, Value

if TYPE_CHECKING:
    from loopbook.frontend.home import Home
    from loopbook.frontend.translate import Translator

MOVED = "moved"
"""Where a list notes that items moved in, how many of them only the loops know."""


def is_list(value: Value | None) -> bool:
    return isinstance(value, Listing) or (type(value) is Tup and value.listed)


def grown(home: Home, value: Value) -> bool:
    """Whether a list of which all is known is assigned where one of another length was, or one that
    grows."""
    first = home.value if home.value is not None else home.began
    if home.path or not is_list(first) or not is_list(value):
        return False
    if isinstance(first, Tup) and isinstance(value, Tup):
        return len(first.items) != len(value.items)
    return True


def settled_in(t: Translator, name: str, value: Value) -> Listing:
    """A list of its own for a name that is given others later, with its present items."""
    if isinstance(value, Listing) and not _others(t, name, value):
        return value
    from loopbook.frontend import lists

    made = lists.begun(t, name, [])
    made.head = t.code.fresh("first_") if isinstance(value, Listing) and value.head else ""
    if made.head:
        t.code.emit(f"{made.head} = 0")
        t.code.mutable.add(made.head)
    _put_in(t, made, value)
    return made


def move_in(t: Translator, name: str, home: Home, value: Value) -> None:
    """Have a list that is assigned to a name live where the name's first list does."""
    from loopbook.frontend.home import Widen

    old = home.value
    if old is None and home.began is None and home.relisted and is_list(value):
        home.value = settled_in(t, name, value)  # the first one there is
        return
    if isinstance(value, Listing) and old is None and home.began is None:
        lives = any(h.value is value for f in t.frames for h in f.homes.values())
        if not _is_changed_later(t, name, value):
            home.value = copied(t, value) if lives else value
            return
    if not isinstance(old, Listing):
        lists_only = all(v is None or is_list(v) for v in (home.began, old, value))
        if home.path or home.relisted or not lists_only:
            raise t.code.fail(f"{name} is a list here and something else there; use two names")
        raise Widen(home, None, relisted=True)
    if not is_list(value):
        raise t.code.fail(f"{name} is a list here and something else there; use two names")
    if value is old:
        return
    if isinstance(value, Listing) and _is_changed_later(t, name, value):
        raise t.code.fail(f"{name}, a list that has another name, too")
    for env, other in list(_others(t, name, old)):
        env[other] = settled_in(t, other, old)
    _put_in(t, old, value)


def copied(t: Translator, value: Listing) -> Listing:
    """A list of the same items."""
    from loopbook.frontend import lists

    made = lists.begun(t, value.name, [])
    _put_in(t, made, value)
    return made


def _others(t: Translator, name: str, held: Listing) -> Iterator[tuple[dict[str, Value], str]]:
    """Other names that a list has and that are asked for later."""
    for frame in t.frames:
        for other, value in frame.env.items():
            live = frame is not t.frame or (other != name and frame.is_live(other))
            if value is held and live:
                yield frame.env, other


def _is_changed_later(t: Translator, name: str, value: Listing) -> bool:
    """Whether a list goes on under another name, too, behind the statement at hand."""
    own = stores([t.frame.at]) if t.frame.at is not None else frozenset()
    return any(other not in own for _, other in _others(t, name, value))


def _put_in(t: Translator, owner: Listing, value: Value) -> None:
    """Put items in place of those that there are."""
    from loopbook.frontend import lists

    code = t.code
    if isinstance(value, Tup):
        items = [_held(t, item) for item in value.items]
        _emptied(t, owner)
        for number, item in enumerate(items):
            lists.append(t, owner, item, _site(owner, number), False, guessed=True)
        return
    assert isinstance(value, Listing)
    if not lists.is_begun(t, value):
        _emptied(t, owner)
        return
    items = lists.rows(t, value)
    _emptied(t, owner)
    with code.loop(ZERO, items.count) as i:
        lists.append(t, owner, items.item(i), _site(owner, 0), False, guessed=True)
    owner.mixed |= value.mixed


def _site(owner: Listing, number: int) -> int:
    return -1000 - 100 * len(owner.sites) - number


def _emptied(t: Translator, owner: Listing) -> None:
    for variable in filter(None, (owner.count, owner.head)):
        t.code.emit(f"{variable} = 0")
    owner.sites[MOVED] = None


def _held(t: Translator, item: Value) -> Value:
    """An item as it is now."""
    if isinstance(item, Tup):
        return item.of(_held(t, inner) for inner in item.items)
    if isinstance(item, Array):
        return t.stored(item)
    return t.code.let(item) if isinstance(item, Scalar) else item
