"""What type a number has where that depends on the way that control came.

Python's numbers and NumPy's are one in the loops, but a caller sees what is returned::

    best = -1                          best_0 = -1
    for i in range(n):                 best_sort_0 = 0                 # Python's
        if x[i] > high:                for i in range(n):
            best = np.argmax(x[:i])        if ...:
                                               best_0 = ...
                                               best_sort_0 = 1         # NumPy's
    return best                        return (int, np.int64)[best_sort_0](best_0)

Which types a variable may have is followed through branches and loops. Only where that leaves
several for a result is the function translated once more, with variables that say which.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from loopbook.frontend import types
from loopbook.frontend.code import AgainError, Code, Line
from loopbook.frontend.symbols import ONE, Int
from loopbook.frontend.values import Kind, Pair, Scalar, Sorts, Tup

if TYPE_CHECKING:
    from loopbook.frontend.home import Home
    from loopbook.frontend.homes import Homes

State = dict["Home", frozenset[Kind] | None]
"""The types that what lives in each home may have; None for any that it ever has."""

NAMES = {"b": "bool", "i": "int", "f": "float", "c": "complex"}
"""Python's own numbers."""


class SortsError(AgainError):
    """A result is of one of several types.

    Attributes:
        wanted: of what it has to be told which.
    """

    def __init__(self, wanted: frozenset[str]) -> None:
        super().__init__("a result whose type depends on the data")
        self.wanted = wanted


def constructor(kind: Kind) -> str:
    """Text of what makes numbers of a type."""
    dtype, weak = kind
    return NAMES[dtype.kind] if weak else f"np.{'bool_' if dtype.kind == 'b' else dtype.name}"


def sorts_of(value: Scalar) -> frozenset[Kind]:
    """The types that a number may have."""
    if value.sorts is None:
        return frozenset((value.kind,))
    return value.sorts.kinds if value.sorts.kinds is not None else value.sorts.seen.all()


def is_one_of_several(value: Scalar) -> bool:
    """Whether a number may have another type than the one that says what is computed with it."""
    return value.sorts is not None and sorts_of(value) != {value.kind}


def returned(code: Code, value: Scalar) -> str | None:
    """Text of what makes a number that is returned one of its type; None where the number itself
    says all of that.

    Raises:
        SortsError: if that is to be found out.
    """
    found = sorts_of(value)
    if found == {value.kind} or isinstance(value, Pair):
        return None
    if len(found) == 1:
        return constructor(next(iter(found)))
    assert value.sorts is not None
    if value.sorts.text:
        made = code.temporary((ONE,), types.INT, "sort")
        code.emit(f"{made.name}[0] = {value.sorts.text}")
        names = [constructor(kind) for kind in code.sorts]
        return f"({', '.join(names)},)[{made.name}[0]]"
    wanted, more = frozenset[str](), value.sorts.wanted
    while more:
        wanted |= more
        more = frozenset(w for one in more for w in code.sorted_by.get(one, ())) - wanted
    if wanted <= code.telling:
        raise code.fail("a result whose type depends on the data")
    raise SortsError(wanted)


def number(code: Code, kind: Kind) -> int:
    """What stands for a type."""
    return code.sorts.setdefault(kind, len(code.sorts))


def text_of(code: Code, value: Scalar) -> str:
    """Text of what stands for a number's type."""
    found = sorts_of(value)
    if len(found) == 1 and (value.sorts is None or value.sorts.kinds is not None):
        return str(number(code, next(iter(found))))
    if value.sorts is None or not value.sorts.text:
        raise code.fail("a number whose type depends on the data")
    return value.sorts.text


def of_one(code: Code, kind: Kind, *sides: Scalar) -> Sorts | None:
    """The types of a number that is one of several, and has a type that holds them all; None where
    that is its own. If there is a text, each way has to assign the `text_of` its side to that."""
    found = frozenset(one for side in sides for one in sorts_of(side))
    if found == {kind} or kind[0].kind == "c":
        return None
    key = f"choice {code.origin}"
    _note(code, key, sides)
    told = len(found) > 1 and key in code.telling
    return Sorts(found, code.fresh("sort_") if told else "", frozenset((key,)))


def _note(code: Code, key: str, parts: Iterable[Scalar]) -> None:
    known = code.sorted_by.setdefault(key, set())
    for part in parts:
        if part.sorts is not None:
            known |= part.sorts.wanted


def computed(code: Code, op: str, value: Scalar, *parts: Scalar) -> Scalar:
    """What an operator gives, with the types that follow from those of what it is of."""
    given = [part.sorts for part in parts if part.sorts is not None]
    if not given or value.dtype.kind == "c" or any(one.kinds is None for one in given):
        return value  # in a loop, not all that it may be has been seen
    rows = [[kind] for kind in sorted(sorts_of(parts[0]), key=constructor)]
    for part in parts[1:]:
        kinds = sorted(sorts_of(part), key=constructor)
        rows = [[*row, kind] for row in rows for kind in kinds]
    made = [(row, _result(op, row)) for row in rows]
    found = frozenset(kind for _, kind in made)
    if found == {value.kind}:
        return value
    wanted = frozenset(key for one in given for key in one.wanted)
    text = ""
    if len(found) > 1 and wanted <= code.telling:
        text = code.fresh("sort_")
        code.emit(f"{text} = {number(code, made[0][1])}")
        for row, kind in made[1:]:
            tests = [
                f"{text_of(code, part)} == {number(code, own)}"
                for part, own in zip(parts, row, strict=True)
                if part.sorts is not None and len(sorts_of(part)) > 1
            ]
            code.emit(f"if {' and '.join(tests)}:")
            code.lines.append(Line(code.depth + 1, f"{text} = {number(code, kind)}", code.origin))
    return replace(value, sorts=Sorts(found, text, wanted))


def _result(op: str, kinds: list[Kind]) -> Kind:
    """The type of what an operator gives for numbers of these types."""
    dtype, weak = types.promote(*kinds)
    if dtype.kind == "b" and weak:
        dtype = types.INT
    if op == "/" and dtype.kind in "iu":
        dtype = types.FLOAT
    return dtype, weak


# -- homes ------------------------------------------------------------------------------------


def key_of(t: Homes, name: str) -> str:
    """What stands for a name of the function at hand."""
    return f"{t.frame.file}:{name}"


def moved_in(t: Homes, home: Home, value: Scalar) -> None:
    """A home has another number from here on."""
    code, own = t.code, home.value
    if not isinstance(own, Scalar) or isinstance(own, Pair) or isinstance(value, Pair):
        return
    found = sorts_of(value) if value.sorts is None else value.sorts.kinds
    if found is not None:
        home.ever.own |= found
    elif value.sorts is not None:
        home.ever.given.append(value.sorts.seen)
    _note(code, home.key, (value,))
    if home.key in code.telling:
        if not home.sort:
            home.sort = code.fresh("sort_")
            code.mutable.add(home.sort)
            code.emit(f"{home.sort} = {text_of(code, value)}")
        elif found is None or len(found) > 1 or home.now != found:
            code.emit(f"{home.sort} = {text_of(code, value)}")
    _set(home, found)


def _set(home: Home, now: frozenset[Kind] | None) -> None:
    home.now = now
    if isinstance(home.value, Scalar) and not isinstance(home.value, Pair):
        plain = now is not None and now <= {home.value.kind}
        told = Sorts(now, home.sort, frozenset((home.key,)), home.ever)
        home.value = replace(home.value, sorts=None if plain else told)
    elif isinstance(home.value, Tup):
        home.value = home.value.of(inner.value for inner in home.items)


def state(t: Homes) -> State:
    """The types that what lives in each home may have here."""
    return {h: h.now for named in t.frame.homes.values() for h in named.all()}


def restore(t: Homes, found: State) -> None:
    """Go on with what was so elsewhere."""
    for name, named in t.frame.homes.items():
        for home in reversed(named.all()):  # what holds others is told last
            _set(home, found.get(home, frozenset()))
        if isinstance(named.value, Scalar | Tup):
            t.frame.env[name] = named.value


def merged(*states: State) -> State:
    """Where several ways meet."""
    found: State = {}
    for one in states:
        for home, now in one.items():
            before = found.get(home, frozenset())
            found[home] = None if before is None or now is None else before | now
    return found


def any_of(t: Homes, names: Collection[str]) -> None:
    """A loop begins, which gives `names` other numbers."""
    found = state(t)
    inside = {h for name in names if name in t.frame.homes for h in t.frame.homes[name].all()}
    restore(t, {home: None if home in inside else now for home, now in found.items()})


def leave(t: Homes, kind: str) -> None:
    """Control leaves an iteration here."""
    if t.frame.exits:
        t.frame.exits[-1][kind].append(state(t))
    restore(t, {})


def over(
    t: Homes,
    begun: State,
    exits: dict[str, list[State]],
    count: Int | None,
    *,
    forever: bool = False,
) -> None:
    """A loop is over.

    Args:
        count: how many times it comes by; None where only the loops know.
        forever: it only ends where it is left.
    """
    if forever:
        _go_on(t, merged(*exits["break"]))
        return
    ended = merged(state(t), *exits["continue"])
    found = merged(begun, ended)
    certain = found == ended or (
        count is not None and t.code.facts.nonnegative(count - 1, firm=False) is True
    )
    _go_on(t, merged(ended if certain else found, *exits["break"]))


def _go_on(t: Homes, found: State) -> None:
    """Behind all loops, all that there may be has been seen."""
    if not t.frame.exits:
        found = {h: h.ever.all() if now is None else now for h, now in found.items()}
    restore(t, found)
