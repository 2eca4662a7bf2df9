"""Homes: one variable or one buffer for a name that loops or branches assign.

Before::

    t = 0.0
    while t < 1:
        t = t + dt

After::

    t_0 = 0.0
    while t_0 < 1.0:
        t_0 = t_0 + dt
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from loopbook.frontend import arith, loose, nests, relisted, sorts, types
from loopbook.frontend.aliases import Aliases
from loopbook.frontend.code import Code, Line, bare
from loopbook.frontend.handed_back import handed_back
from loopbook.frontend.home import Home, Widen
from loopbook.frontend.liveness import Liveness, loads
from loopbook.frontend.returns import RETURNED
from loopbook.frontend.symbols import Int
from loopbook.frontend.values import (
    Array,
    Buffer,
    Listing,
    Pair,
    Scalar,
    Tup,
    Value,
    arrays_in,
    whole,
)

if TYPE_CHECKING:
    from loopbook.frontend.translate import Translator


@dataclass(eq=False)
class Frame:
    """A function that is being translated.

    Attributes:
        env: what its names stand for.
        homes: names that live in one place, for as long as a loop or branch around goes on.
        names: its globals and what it closes over.
        rest: statements that follow in the block, for each block around the statement at hand.
        turn: which iterations these are of loops that are written out, and of which calls.
        given: its arguments, as they were when it was called.
        line: of the call, which all of a function that is ours stands for; 0 for others.
        at: the statement at hand.
        made: names that are ours, of which nobody knows how long they live.
        tests: what decides of the branches around the statement at hand.
        exits: for each loop around it, what types numbers may have where it is left, or gone on
            with (see `sorts`).
        rising: names that are whole numbers, and never negative.
        body: its statements as they were written, the same for each of its calls.
    """

    env: dict[str, Value]
    names: dict[str, Any]
    file: str
    live: Liveness
    homes: dict[str, Home] = field(default_factory=dict)
    rest: list[Sequence[ast.stmt]] = field(default_factory=list)
    unrolled: bool = False
    turn: tuple[int, ...] = ()
    given: dict[str, Value] = field(default_factory=dict)
    line: int = 0
    at: ast.stmt | None = None
    made: set[str] = field(default_factory=set)
    tests: list[ast.expr] = field(default_factory=list)
    exits: list[dict[str, list[sorts.State]]] = field(default_factory=list)
    rising: frozenset[str] = frozenset()
    body: Sequence[ast.stmt] = ()

    def is_live(self, name: str) -> bool:
        """Whether a name may be read after the statement at hand."""
        if name in self.made or name in self.live.closed_over:
            return True
        return name in self.live.after.get(id(self.at), (name,))

    def is_needed(self, name: str) -> bool:
        """Whether a name may be read after the statement at hand, or in it."""
        return self.is_live(name) or self.at is None or name in loads(self.at)


class Homes:
    """Frames of the functions at hand, and where their names live."""

    def __init__(self, code: Code, frame: Frame) -> None:
        self.code = code
        self.frames = [frame]
        self.aliases = Aliases(code)

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    def stored(self, value: Array, hint: str = "t") -> Array:
        """`value` in memory, where a mask is applied too."""
        if value.mask is not None:
            from loopbook.frontend.masks import compressed

            return compressed(self, value)
        return nests.materialise(self.code, value, hint)

    def _move_in(self, name: str, home: Home, value: Value) -> None:
        code = self.code
        if isinstance(value, Listing) or home.relisted or relisted.grown(home, value):
            relisted.move_in(cast("Translator", self), name, home, value)
            return
        if isinstance(value, Tup) or home.items:
            self._move_items_in(name, home, value)
            return
        if isinstance(value, Array):
            value = nests.force(code, value, name)
        old = home.value
        if old is None:
            if isinstance(value, Scalar):
                home.value = self._variable(name, value, home.kind or value.kind)
                sorts.moved_in(self, home, value)
            elif isinstance(value, Array) and home.loose:
                home.value = loose.place(self, name, home, value)
                self._moved_in(name, home.value, value)
            elif isinstance(value, Array):
                home.value = self.stored(value, name)
                self._moved_in(name, home.value, value)
            elif name.startswith(RETURNED):
                raise code.fail("a result that is no number or array in a branch or loop")
            return
        if isinstance(old, Scalar) and isinstance(value, Scalar):
            kind = (
                (value.dtype, value.weak)
                if old.kind == value.kind
                else types.promote(old.kind, value.kind)
            )
            if kind != old.kind and not (old.kind[0] == kind[0] and not old.weak):
                raise Widen(home, kind)
            given, value = value, arith.convert(code, value, old.dtype)
            if isinstance(value, Pair) and value.texts != old.texts:
                value = code.variables(value)
            for target, text in zip(old.texts, value.texts, strict=True):
                if text != target:
                    code.emit(f"{target} = {bare(text)}")
            sorts.moved_in(self, home, given)
        elif isinstance(old, Array) and isinstance(value, Array):
            if home.pinned and value.view != old.view:
                raise Widen(home, None, free=True)
            if value.mask is not None and value.rank > 1:
                value = self.stored(value)  # in a row
            changing = loose.changing(code, old, value)
            if changing is None or (changing - home.loose and home.path):
                raise code.fail(f"{name} changes its shape in a loop or branch; use another name")
            if changing - home.loose:
                raise Widen(home, None, changing | home.loose)
            if old.dtype != value.dtype:
                raise Widen(home, (types.promote(old.kind, value.kind)[0], False))
            if value.mask is not None and not home.loose:
                raise Widen(home, None, frozenset((0,)))
            assert old.view is not None
            if home.loose:
                self.writes_to(old.view.buffer, but=name)
                home.value = loose.move_in(self, home, value)
                self._moved_in(name, home.value, value)
            elif value.view != old.view:
                self.writes_to(old.view.buffer, but=name)
                nests.assign(code, old, value)
                self._moved_in(name, old, value)
        elif name.startswith(RETURNED):
            raise code.fail("results of different kinds (or none); return the same kind everywhere")
        else:
            raise code.fail(f"{name} is a number here and an array there; use two names")

    def _move_items_in(self, name: str, home: Home, value: Value) -> None:
        """The items of a tuple, all of them as they were before one has a new value."""
        if (
            not isinstance(value, Tup)
            or (home.value is not None and len(value.items) != len(home.items))
            or (isinstance(home.value, Tup) and home.value.labels != value.labels)
        ):
            raise self.code.fail(f"{name} is a tuple of another length, or none, elsewhere")
        if home.value is None:
            home.items = tuple(home.part(n) for n in range(len(value.items)))
        held = tuple(map(self._held, value.items))
        for number, (inner, item) in enumerate(zip(home.items, held, strict=True)):
            if not isinstance(item, Scalar | Array | Tup):
                raise self.code.fail(f"{name} holds what is no number or array in a branch or loop")
            self._move_in(f"{name}_{number}", inner, item)
        for inner, item in zip(home.items, value.items, strict=True):
            if isinstance(inner.value, Array):
                self._moved_in(name, inner.value, item)
        home.value = value.of(inner.value for inner in home.items)

    def _moved_in(self, name: str, home: Array, value: Value) -> None:
        assert home.view is not None
        self.aliases.moved_in(name, self.frame, home.view.buffer, value)

    def _held(self, value: Value) -> Value:
        """`value` as it is now."""
        if isinstance(value, Array):
            value = nests.force(self.code, value)
        if isinstance(value, Array):
            return nests.materialise(self.code, value)
        return self.code.let(value) if isinstance(value, Scalar) else value

    def _variable(self, name: str, value: Scalar, kind: tuple[np.dtype, bool]) -> Scalar:
        """A variable that holds `value` now and others later."""
        dtype, weak = kind
        code = self.code
        if dtype == types.INT and value.dtype.kind == "i":
            value = arith.word(value)
        value = arith.convert(code, value, dtype)
        if isinstance(value, Pair):
            pair = code.variables(Pair(value.texts, dtype, weak), name)
            code.mutable |= {*pair.texts}
            return pair
        variable = code.fresh(f"{name}_")
        code.emit(f"{variable} = {bare(value.text)}")
        code.mutable.add(variable)
        if name in self.frame.rising:
            code.facts.rising.add(variable)
        return Scalar(variable, dtype, weak, Int.atom(variable) if dtype.kind in "iu" else None)

    def make_home(
        self,
        name: str,
        kinds: dict[tuple[int, ...], tuple[np.dtype, bool]],
        axes: frozenset[int],
        empty: bool,
        lists: bool,
        pinned: bool,
    ) -> Home:
        """A place for `name` to live in, holding its present value unless `empty`."""
        home, kind = Home(kinds=kinds, loose=axes, key=sorts.key_of(self, name)), kinds.get(())
        value = self.frame.env.get(name)
        home.relisted, home.began = lists, None if empty else value
        if lists and not empty and value is not None:
            t = cast("Translator", self)
            home.value = self.frame.env[name] = relisted.settled_in(t, name, value)
            return home
        if not empty and isinstance(value, Tup) and value.items:
            self._move_in(name, home, value)
            assert home.value is not None
            self.frame.env[name] = home.value
            return home
        if empty or not isinstance(value, Scalar | Array):
            return home
        code = self.code
        if isinstance(value, Array):
            value = nests.force(code, value, name)
        if isinstance(value, Scalar):
            home.value = self._variable(name, value, kind or value.kind)
            sorts.moved_in(self, home, value)
        elif pinned and value.view is not None and not axes and not kind:
            home.value, home.pinned = value, True
        else:
            dtype = kind[0] if kind else value.dtype
            if axes:
                home.value = loose.place(self, name, home, value)
                self._moved_in(name, home.value, value)
                self.frame.env[name] = home.value
                return home
            if not self._is_own(name, value) or dtype != value.dtype:
                if value.mask is not None:
                    value = self.stored(value)
                copied = nests.materialise(code, value, name, dtype)
                self._moved_in(name, copied, value)
                value = copied
            home.value = value
        self.frame.env[name] = home.value
        return home

    def _is_own(self, name: str, value: Array) -> bool:
        """Whether the value is a temporary that no other name looks at."""
        view = value.view
        if view is None or view.buffer.place != "temporary" or view.buffer.copied:
            return False
        if len(view.dims) != value.rank or view != whole(view.buffer).view:
            return False
        return not any(
            view.buffer in array.buffers
            for frame in self.frames
            for other, held in frame.env.items()
            for array in arrays_in(held)
            if (frame, other) != (self.frame, name)
        )

    def _begin(self, place: int, results: Iterable[Home]) -> None:
        """Give results a value before the loop or branch that may assign them: whether it did is
        known from a flag, but what comes next may copy them first."""
        code = self.code
        for home in results:
            if isinstance(home.value, Scalar):
                nought = types.zero(types.part(home.value.dtype))
                made = [f"{text} = {nought}" for text in home.value.texts]
                made += [f"{home.sort} = 0"] if home.sort else []
                code.lines[place:place] = [Line(code.depth, text, code.origin) for text in made]

    def writes_to(self, buffer: Buffer, but: str | None = None) -> None:
        """Compute what waits for a buffer's elements before they change.

        Args:
            but: the name that the buffer is home to, if a new value moves in; then views of the
                old value are copied as well.
        """
        self.code.memo = {}
        if but is None:
            self._not_in_a_copy(buffer)
            self.aliases.stores_into(buffer, self.frames)
        for frame in self.frames:
            for name, held in list(frame.env.items()):
                if but is not None and frame is self.frame and name == but:
                    continue
                if any(
                    buffer in array.buffers and (array.view is None or but is not None)
                    for array in arrays_in(held)
                ) and frame.is_needed(name):
                    frame.env[name] = self._computed(held, buffer)

    def _not_in_a_copy(self, buffer: Buffer) -> None:
        """Elements change that may be in a copy as well, of what NumPy would have as a view.

        Raises:
            LoweringError: if they are, and are looked at there.
        """
        if buffer.copied and buffer.place == "temporary":
            raise self.code.not_in_line(buffer.base)
        copies = frozenset(copy for copy in self.code.merged if copy.base is buffer)
        for frame in self.frames if copies else ():
            for name, held in frame.env.items():
                if any(copies & a.buffers for a in arrays_in(held)) and frame.is_live(name):
                    raise self.code.not_in_line(buffer)

    def _computed(self, held: Value, buffer: Buffer) -> Value:
        if isinstance(held, Tup):
            return held.of(self._computed(item, buffer) for item in held.items)
        if isinstance(held, Array) and buffer in held.buffers:
            return self.stored(held)
        return held

    def settle_all(self) -> None:
        """Compute everything that waits, before control goes separate ways."""
        for frame in self.frames:
            for name, held in list(frame.env.items()):
                waits = any(array.view is None for array in arrays_in(held))
                if waits and frame.is_needed(name):
                    frame.env[name] = self._settle_all(held)

    def _settle_all(self, held: Value) -> Value:
        if isinstance(held, Tup):
            return held.of(map(self._settle_all, held.items))
        return self.stored(held) if isinstance(held, Array) and held.view is None else held

    def with_homes(self, names: Iterable[tuple[str, bool]], run: Callable[[], None]) -> None:
        """Run a part of the translation in which `names` (and whether each begins empty) live in
        one place."""
        code, frame = self.code, self.frame
        names = [(n, e) for n, e in names if n not in frame.homes]
        axes: dict[str, frozenset[int]] = {}
        pinned = set(handed_back(frame.at)) if frame.at is not None else set()
        anew: set[str] = set()
        kinds: dict[str, dict[tuple[int, ...], tuple[np.dtype, bool]]] = {n: {} for n, _ in names}
        kept_env = dict(frame.env)
        kept = len(code.lines), len(code.temporaries), len(self.frames), len(frame.rest), code.depth
        trips = len(code.trips)
        outer = [h for f in self.frames for named in f.homes.values() for h in named.all()]
        around = [(home, {**vars(home), "sizes": dict(home.sizes)}) for home in outer]
        lines, aliases = code.lines, (list(self.aliases.known), len(self.aliases.stored))
        for _ in range(12):
            homes = {
                n: self.make_home(
                    n, kinds[n], axes.get(n, frozenset()), empty, n in anew, n in pinned
                )
                for n, empty in names
            }
            frame.homes.update(homes)
            try:
                run()
                loose.refresh(self)
            except Widen as widen:
                found = next((n for n, h in homes.items() if widen.home in h.all()), None)
                if found is None:
                    raise
                if widen.kind is not None:
                    kinds[found][widen.home.path] = widen.kind
                axes[found] = axes.get(found, frozenset()) | widen.loose
                anew |= {found} if widen.relisted else set()
                pinned -= {found} if widen.free else set()
                code.lines = lines
                del code.lines[kept[0] :], code.temporaries[kept[1] :]
                del self.frames[kept[2] :], frame.rest[kept[3] :]
                code.depth = kept[4]
                del code.trips[trips:]
                for home, held in around:  # what they got meanwhile is gone
                    vars(home).update(held, sizes=dict(held["sizes"]))
                frame.env = dict(kept_env)
                self.aliases.known = list(aliases[0])
                del self.aliases.stored[aliases[1] :]
                continue
            finally:
                for n in homes:
                    frame.homes.pop(n, None)
            for n, home in homes.items():
                if home.value is not None:
                    frame.env[n] = home.value
            self._begin(kept[0], [h for n, h in homes.items() if n.startswith(RETURNED)])
            return
        raise code.fail("types that change from one iteration to the next")
