"""Lists that grow: arrays with a count of how much of them there is.

Before::                             After::

    norms = []                           n_0 = 0
    for t in range(n):                   for t in range(n):
        u = step(u)                          ...
        norms.append(np.sum(u))              norms_0[n_0] = sum_0
                                             n_0 = n_0 + 1

All that is appended has the same type and shape. A list is changed by `append`, `pop` and what
puts an item in place of another (`loopbook.frontend.list_parts`).
One whose first item is taken off (``pop(0)``, ``popleft()`` of a deque) knows where it begins.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from loopbook.errors import LoweringError
from loopbook.frontend import arith, nests, tuples, types
from loopbook.frontend.code import bare
from loopbook.frontend.indexing import load_at
from loopbook.frontend.liveness import loads
from loopbook.frontend.records import Fields
from loopbook.frontend.registry import FUNCTIONS
from loopbook.frontend.sorts import is_one_of_several
from loopbook.frontend.symbols import ONE, ZERO, Int
from loopbook.frontend.values import Array, Dim, Index, Listing, Scalar, Slice, Tup, Value, view_of

if TYPE_CHECKING:
    from loopbook.frontend.loops import Rows
    from loopbook.frontend.translate import Translator


def grows(name: str, rest: Sequence[ast.stmt]) -> bool:
    """Whether a list is appended to in a loop or branch among `rest`."""
    return any(
        appends(inner, name)
        for statement in rest
        if isinstance(statement, ast.For | ast.While | ast.If)
        for inner in ast.walk(statement)
    )


def appends(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=own), attr="append" | "insert")):
            return own == name
    return False


def shrinks(name: str, rest: Sequence[ast.stmt]) -> bool:
    """Whether the first item of a list is taken off among `rest`."""
    return any(_takes_first(inner, name) for statement in rest for inner in ast.walk(statement))


def _takes_first(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=own), attr=attr), args=args):
            return own == name and (attr == "popleft" or (attr == "pop" and len(args) == 1))
    return False


def begun(t: Translator, name: str, items: Sequence[Value], *, shrinks: bool = False) -> Listing:
    """A list with its first items.

    Args:
        shrinks: whether the first one is going to be taken off.
    """
    code = t.code
    made = Listing(name, code.fresh("n_"), len(code.trips))
    made.head = code.fresh("first_") if shrinks else ""
    for variable in filter(None, (made.count, made.head)):
        code.emit(f"{variable} = 0")
        code.mutable.add(variable)
    for number, item in enumerate(items):
        append(t, made, item, -1 - number, True)
    return made


def of_numbers(t: Translator, name: str, line: Array, weak: bool) -> Listing:
    """A list of all that an array of numbers holds, in its memory, which nothing else has."""
    if line.view is None:
        line = t.stored(line)
    assert line.view is not None
    made = begun(t, name, [])
    t.code.emit(f"{made.count} = {line.shape[0].text}")
    made.buffer, made.kind = line.view.buffer, (line.dtype, weak)
    made.sites = {0: line.shape[0]}
    return made


def named_by(t: Translator, node: ast.expr) -> Listing | None:
    """The list that grows of that name; None if it is none, or no name."""
    owner = t.frame.env.get(node.id) if isinstance(node, ast.Name) else None
    return owner if isinstance(owner, Listing) else None


def named(t: Translator, made: Listing, name: str, rest: Sequence[ast.stmt]) -> None:
    """A new list that was made with items has a name, and statements behind it that may append."""
    from loopbook.frontend.passed_on import is_surely_appended

    made.rest = rest
    t.sure[made.count] = is_surely_appended(t, name, rest)
    if shrinks(name, rest):
        made.head = t.code.fresh("first_")
        t.code.emit(f"{made.head} = 0")
        t.code.mutable.add(made.head)


def site(t: Translator) -> int:
    """What stands for the statement at hand, each time that it is written out."""
    return hash((id(t.frame.at), t.frame.turn))


def append(
    t: Translator, owner: Listing, item: Value, site: int, sure: bool, *, guessed: bool = False
) -> None:
    """Add an item.

    Args:
        site: which statement does so.
        sure: whether it does so each time that the loops around it come by.
        guessed: how many it adds is supposed, though a bound may be seen.
    """
    code = t.code
    numbers = tuples.numbers_of(t, item)
    value = None if numbers is not None else stored(t, item)
    room = None if guessed else _room(t, owner)
    if not _is_there(t, owner):
        _start(t, owner, item, value)
    if owner.columns or value is None:
        tuples.agree(t, owner, item, numbers)
    else:
        agree(t, owner, value)
    owner.sites[site] = _trips(t, owner) if sure else None
    guess = None if room is not None else code.room(1)
    owner.rooms[site] = room if room is not None else guess or ZERO
    _make_room(t, owner)
    with ExitStack() as stack:
        if guess is not None:
            code.suppose(f"{owner.count} < {guess.text}")
            stack.enter_context(code.indented(f"if {owner.count} < {guess.text}:"))
        if value is None:
            tuples.put(t, owner, numbers or ())
        else:
            _put(t, owner, value)
        code.emit(f"{owner.count} = {owner.count} + 1")


def stored(t: Translator, item: Value) -> Array | Scalar:
    value = t.number(item) if not isinstance(item, Array | Tup) else t.array(item)
    if isinstance(value, Array):
        value = nests.force(t.code, value)
    return t.stored(value) if isinstance(value, Array) and value.mask is not None else value


def agree(t: Translator, owner: Listing, value: Array | Scalar) -> None:
    code, shape = t.code, value.shape if isinstance(value, Array) else ()
    if isinstance(value, Scalar) and is_one_of_several(value):
        owner.mixed = True
    if owner.kind != value.kind and owner.kind[0] == value.dtype and not shape:
        owner.mixed, owner.kind = True, (value.dtype, False)
    if owner.kind[0] != value.dtype or len(shape) != len(owner.shape):
        raise code.fail(f"{owner.name} has items of different types or ranks")
    if None in map(code.facts.known, shape) or not all(map(code.same, shape, owner.shape)):
        raise code.fail(f"{owner.name} has items of different shapes")


def _put(t: Translator, owner: Listing, value: Array | Scalar) -> None:
    target = _item(owner, Int.atom(owner.count), value.shape if isinstance(value, Array) else ())
    if isinstance(value, Array):
        assert owner.buffer is not None
        t.aliases.listed(owner.name, t.frame, owner.buffer, value)
    nests.assign(t.code, target, value)


def _item(owner: Listing, place: Int, shape: Index) -> Array:
    """The item at a place in memory, of a list of numbers or arrays."""
    assert owner.buffer is not None
    ends = ((ZERO, ((axis, ONE),)) for axis in range(len(shape)))
    return view_of(owner.buffer, shape, ((place, ()), *ends), owner.buffer.dtype)


def _is_there(t: Translator, owner: Listing) -> bool:
    return owner.buffer is not None and any(owner.buffer is b for b in t.code.temporaries)


def _start(t: Translator, owner: Listing, item: Value, first: Array | Scalar | None) -> None:
    """Give a list memory for items like its first one.

    Args:
        first: the item as it is stored; None if it is a tuple of numbers.
    """
    owner.columns, owner.others = (), []
    if first is None:
        assert isinstance(item, Tup)
        tuples.start(t, owner, item, tuples.numbers_of(t, item) or ())
        return
    shape = first.shape if isinstance(first, Array) else ()
    owner.sites, owner.rooms, owner.shape, owner.kind = {}, {}, shape, first.kind
    owner.buffer = t.code.temporary((ONE, *shape), first.dtype, owner.name)


def is_begun(t: Translator, owner: Listing) -> bool:
    """Whether something was appended to a list, or may have been in a loop around."""
    return _is_there(t, owner) or len(t.code.trips) > owner.depth


def ensure(t: Translator, owner: Listing) -> None:
    """See to it that a list has memory."""
    if not _is_there(t, owner):
        _foresee(t, owner)


def _foresee(t: Translator, owner: Listing) -> None:
    """Give a list memory that is asked for an item, in a loop, before what appends to it is seen:
    the item there is looked at, not computed."""
    code = t.code
    # In a loop, what comes next may stand in front, or in another branch.
    rests = [*reversed(t.frame.rest), owner.rest]
    calls = [n for rest in rests for s in rest for n in ast.walk(s) if appends(n, owner.name)]
    call = next((n for n in calls if owner.name not in loads(ast.List(n.args, ast.Load()))), None)
    if not isinstance(call, ast.Call) or not call.args:
        raise code.fail(f"{owner.name}, a list that nothing was appended to")
    made = len(code.temporaries)
    with code.captured():
        item = t.expr(call.args[-1])
        value = None if tuples.numbers_of(t, item) is not None else stored(t, item)
    del code.temporaries[made:]
    _start(t, owner, item, value)
    _make_room(t, owner)


def pop(t: Translator, owner: Listing, *, first: bool = False) -> Value:
    """Take the last item off, or the first one. Python raises where there is none."""
    code = t.code
    ensure(t, owner)
    if first and not owner.head:
        raise code.fail(f"the first item of {owner.name}, which was made somewhere else")
    code.suppose(is_full(owner).text, or_leave=True)
    owner.sites["pop"] = None  # only the loops know how many items there are
    if not first:
        code.emit(f"{owner.count} = {owner.count} - 1")
    place = Int.atom(owner.head if first else owner.count)
    value = tuples.taken(t, owner, place) if owner.columns else _taken(t, owner, place)
    if first:
        code.emit(f"{owner.head} = {owner.head} + 1")
    return value


def _taken(t: Translator, owner: Listing, place: Int) -> Value:
    """A number or array as it is now: the next one that is appended may go into its place."""
    item = _item(owner, place, owner.shape)
    if not owner.shape:
        return replace(t.code.let(item.element(())), weak=owner.kind[1])
    value = t.stored(item)
    if value.view is not None:
        t.aliases.listed(owner.name, t.frame, value.view.buffer, item)
    return value


def length(owner: Listing) -> Scalar:
    """How many items a list has now."""
    return Scalar(f"({owner.count} - {owner.head})" if owner.head else owner.count, types.INT, True)


def count(t: Translator, owner: Listing) -> Scalar:
    """The same of a list that items were appended to, as a number that sizes may be of."""
    return arith.whole(extent(t, owner)[1])


def is_full(owner: Listing) -> Scalar:
    """Whether there is something in a list."""
    return Scalar(f"({owner.count} > {owner.head or 0})", types.BOOL)


def is_certain(t: Translator, owner: Listing) -> bool:
    """Whether there surely is something in a list."""
    total = _sum(owner) if len(t.code.trips) == owner.depth else None
    return total is not None and t.code.facts.nonnegative(total - 1, firm=False) is True


def holds(t: Translator, target: ast.Subscript) -> bool:
    """Whether it is an item of a list or dict of which all is known, where control comes once."""
    if not isinstance(target.value, ast.Name) or target.value.id in t.frame.homes:
        return False
    owner = t.frame.env.get(target.value.id)
    if isinstance(owner, Fields):  # in a loop that is written out, too
        is_own = owner.kind is dict and owner is not t.frame.given.get(target.value.id)
        return is_own and not owner.given and not t.code.depth
    return type(owner) is Tup and owner.listed and len(t.frame.rest) == 1


def store(t: Translator, target: ast.Subscript, value: Value) -> None:
    """``items[0] = value``, for a list or dict of which all is known."""
    assert isinstance(target.value, ast.Name)
    name = target.value.id
    owner, place = t.frame.env[name], t.expr(target.slice)
    assert isinstance(owner, Tup)
    if isinstance(owner, Fields):
        t.frame.env[name] = owner.with_item(t.python(place), t.fixed(value))
        return
    at = t.python(place) if not isinstance(place, Slice) else None
    if not isinstance(at, int) or not -len(owner.items) <= at < len(owner.items):
        raise t.code.fail(f"storing into {ast.unparse(target)}, at no place that is known")
    items = list(owner.items)
    items[at] = t.fixed(value)
    held = [n for frame in t.frames[:-1] for n in frame.env.values() if _has(n, owner)]
    if len(t.frames) > 1 and owner is t.frame.given.get(name) and not held:
        raise t.code.fail(f"storing into {name}, which the caller has too; return it instead")
    made = owner.of(items)
    for frame in t.frames:  # it may have other names, there and where it was handed on
        for names in (frame.env, frame.given):
            names |= {n: _with(value, owner, made) for n, value in names.items()}


def _has(value: Value, item: Tup) -> bool:
    """Whether a value is a list, or holds it."""
    return value is item or (isinstance(value, Tup) and any(_has(v, item) for v in value.items))


def _with(value: Value, old: Tup, new: Tup) -> Value:
    """A value with another list in the place of one."""
    if value is old:
        return new
    if not isinstance(value, Tup) or not _has(value, old):
        return value
    return value.of(_with(item, old, new) for item in value.items)


def _make_room(t: Translator, owner: Listing) -> None:
    """A buffer for all that is appended, as far as that is seen."""
    facts, total = t.code.facts, ZERO
    for room in owner.rooms.values():
        total = total + room
    number = int(owner.count.rpartition("_")[2])
    text = f"{total.text} + {number + 1}"  # no two lists' alike
    if not owner.size:
        owner.size = facts.fresh("size_")
    if facts.definitions.get(text) != owner.size:
        for known in [k for k, name in facts.definitions.items() if name == owner.size]:
            del facts.definitions[known]
        facts.definitions[text] = owner.size
    facts.values[owner.size] = (facts.known(total) or 0) + number + 1
    assert owner.buffer is not None
    for buffer in (owner.buffer, *owner.others):
        buffer.shape = (Int.atom(owner.size), *buffer.shape[1:])


def _sum(owner: Listing) -> Int | None:
    total = ZERO
    for count in owner.sites.values():
        if count is None:
            return None
        total = total + count
    return total


def _trips(t: Translator, owner: Listing) -> Int | None:
    """How many times the loops around come by; None if that differs."""
    facts, product = t.code.facts, ONE
    for count in t.code.trips[owner.depth :]:
        if count is None or facts.known(count) is None:
            return None
        if (runs := facts.nonnegative(count)) is None:  # less than never is no number of times
            return None
        product = product * (count if runs else ZERO)
    return product


def _room(t: Translator, owner: Listing) -> Int | None:
    """An upper bound of the same; None if there is none."""
    facts, product = t.code.facts, ONE
    for count in t.code.trips[owner.depth :]:
        bound = None if count is None else facts.bound(count, upper=True)
        if bound is None or facts.known(bound) is None:
            return None
        if (runs := facts.nonnegative(bound)) is None:
            return None
        product = product * (bound if runs else ZERO)
    # As much as there is room for, times something, would be no bound.
    return None if owner.size in facts.stands_for(product.text) else product


def as_array(t: Translator, owner: Listing) -> Array:
    """The items that there are now, as an array."""
    first, total = extent(t, owner)
    assert owner.buffer is not None
    if owner.others:
        parts = Tup(tuple(tuples.columns(owner, total, first)))
        return t.stored(t.array(FUNCTIONS[np.stack](t, parts, arith.constant(1))))
    dims: tuple[Dim, ...] = tuple(
        (ZERO if axis else first, ((axis, ONE),)) for axis in range(len(owner.shape) + 1)
    )
    return view_of(owner.buffer, (total, *owner.shape), dims, owner.buffer.dtype)


def as_numpy(t: Translator, owner: Listing, *, typed: bool = False) -> Array:
    """The same as NumPy makes one of a list: of an empty one a line of floats, whatever the items
    would be. Such a call is left to Python, but for lists that loops make anew: what such a one is
    used for is seldom asked for its type.

    Args:
        typed: the type of the items is given.
    """
    array = as_array(t, owner)
    alike = array.rank == 1 and (typed or owner.kind[0] == np.dtype(float))
    if not alike and not t.code.trips and not is_certain(t, owner):
        t.code.suppose(is_full(owner).text)
    return array


def places(t: Translator, owner: Listing) -> Array:
    """A copy of the items that there are now, as an index: they say places, or are a mask. Those
    that are appended behind it may be of what is not computed yet; they are whole numbers."""
    made = len(t.code.temporaries)
    try:
        ensure(t, owner)
    except LoweringError:
        del t.code.temporaries[made:]
        _start(t, owner, arith.constant(0), arith.constant(0))
        _make_room(t, owner)
    if owner.columns or owner.kind[0].kind not in "iub":
        raise t.code.fail(f"{owner.name} as an index, a list of other items than whole numbers")
    return nests.materialise(t.code, as_array(t, owner), listed=False)


def columns(t: Translator, owner: Listing) -> list[Array]:
    """The numbers of all items that there are now, which are tuples; none of another list."""
    ensure(t, owner)
    if not owner.columns:
        return []
    first, total = extent(t, owner)
    return tuples.columns(owner, total, first)


def rows(t: Translator, owner: Listing) -> Rows:
    """The items that there are now, for a loop to go through."""
    from loopbook.frontend.loops import Rows, rows_of

    parts = columns(t, owner)
    if parts:
        return Rows(parts[0].shape[0], lambda i: tuples.item_at(t, owner, parts, arith.whole(i)))
    found = rows_of(t, as_array(t, owner))
    return Rows(found.count, lambda i: _own(owner, found.item(i)))


def item_at(t: Translator, owner: Listing, items: Sequence[Value]) -> Value:
    """``items[place]``, or a part of the list."""
    if isinstance(items[0], Slice):
        from loopbook.frontend.list_parts import part

        return part(t, owner, items[0])
    parts = columns(t, owner)
    if parts:
        return tuples.item_at(t, owner, parts, items[0])
    return _own(owner, load_at(t, as_array(t, owner), items))


def _own(owner: Listing, item: Value) -> Value:
    """An item of a list of Python's numbers, which is one, too."""
    is_number = isinstance(item, Scalar) and item.value is None
    return replace(item, weak=owner.kind[1]) if is_number else item


def extent(t: Translator, owner: Listing) -> tuple[Int, Int]:
    """Where the items begin that there are now, and how many there are."""
    code = t.code
    ensure(t, owner)
    assert owner.buffer is not None
    total = _sum(owner) if len(code.trips) == owner.depth else None
    if total is None:
        name = code.fresh("n_")
        code.emit(f"{name} = {bare(length(owner).text)}")
        code.facts.ranges[name] = (ZERO, owner.buffer.shape[0])
        total = Int.atom(name)
    return Int.atom(owner.head) if owner.head else ZERO, total


def joined(t: Translator, left: Listing | Tup, right: Listing | Tup) -> Listing:
    """One list behind the other, as a new one."""
    made = begun(t, "joined", [])
    for number, side in enumerate((left, right)):
        if isinstance(side, Tup):
            for place, item in enumerate(side.items):
                append(t, made, item, -1 - 2 * place - number, True)
            continue
        all_of_it = rows(t, side)
        with t.code.loop(ZERO, all_of_it.count) as i:
            append(t, made, all_of_it.item(i), 1 + number, True)
    return made


def is_sure(
    name: str, rest: Sequence[ast.stmt], passed: Callable[[ast.AST], bool] = lambda _: False
) -> bool:
    """Whether all that is appended to a list among `rest` is, whatever the data are: in loops over
    ranges that nothing leaves.

    Args:
        passed: whether something is a call of what appends to it.
    """

    def sure(body: Sequence[ast.stmt]) -> bool:
        for node in body:
            if not any(appends(inner, name) or passed(inner) for inner in ast.walk(node)):
                continue
            if isinstance(node, ast.For):
                left = (ast.Break, ast.Continue, ast.Return)
                if any(isinstance(inner, left) for inner in ast.walk(node)) or not sure(node.body):
                    return False
            elif not isinstance(node, ast.Expr):
                return False
        return True

    return sure(rest)
