"""Names that have a copy of what is another name's array too, as long as a loop or branch goes on.

Before::

    for t in range(n):
        old = u                      # the same array by another name
        u = u + f                    # a new one: `old` stays what it is
        old[0] = 0                   # changes nothing else

After::

    for t in range(n):
        for i0 ...: old_0[i0] = u_0[i0]
        ...

A copy is as good as the array itself until one of the two changes in place while the other one is
still there: that is refused. Copying is what makes ``a, b = b, a`` possible in loops. Nothing
changes in a function that has returned, so what is its own may be copied as it returns from a loop.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from loopbook.frontend.code import Code
from loopbook.frontend.returns import RETURNED
from loopbook.frontend.values import Array, Buffer, Value, arrays_in

if TYPE_CHECKING:
    from loopbook.frontend.homes import Frame


@dataclass(frozen=True, eq=False)
class _Alias:
    name: str
    frame: Frame
    home: Buffer
    source: Buffer
    when: int
    listed: bool = False


@dataclass(frozen=True, eq=False)
class _Renewed:
    """A home that has another array from here on."""

    home: Buffer


@dataclass
class Aliases:
    """Which homes have copies of which buffers' elements, at the statement at hand."""

    code: Code
    known: list[_Alias] = field(default_factory=list)
    stored: list[Buffer | _Renewed] = field(default_factory=list)
    swapped: dict[Buffer, set[Buffer]] = field(default_factory=dict)

    def moved_in(self, name: str, frame: Frame, home: Buffer, value: Value) -> None:
        """A home has another array from now on, copied from `value` if that lies in memory."""
        sources: set[Buffer] = set()
        if isinstance(value, Array) and value.view is not None and value.view.buffer is not home:
            buffer = value.view.buffer
            sources = self.swapped.pop(buffer, {buffer} | self._behind(buffer)) - {home}
        self.known = [a for a in self.known if home not in (a.home, a.source)]
        self.stored.append(_Renewed(home))
        when = len(self.stored)
        self.known += [_Alias(name, frame, home, source, when) for source in sources]

    def listed(self, name: str, frame: Frame, items: Buffer, value: Array) -> None:
        """A list has an array's elements among its items, copied from `value`; or an array has
        them that was taken off the list."""
        if value.view is not None:
            buffer = value.view.buffer
            sources, when = {buffer} | self._behind(buffer), len(self.stored)
            self.known += [_Alias(name, frame, items, source, when, True) for source in sources]

    def copied(self, copy: Buffer, value: Array) -> None:
        """What is about to move out of its home, to be moved in elsewhere, is in a copy."""
        assert value.view is not None
        self.swapped[copy] = self._behind(value.view.buffer)

    def _behind(self, buffer: Buffer) -> set[Buffer]:
        """What the elements of a home were copied from, if it is one."""
        return {alias.source for alias in self.known if alias.home is buffer}

    def stores_into(self, buffer: Buffer, frames: Iterable[Frame]) -> None:
        """A buffer changes in place.

        Raises:
            LoweringError: if that is to be seen through another name, too.
        """
        self.stored.append(buffer)
        for alias in self.known:
            if alias.frame in frames:
                self._check(alias, buffer, frames, alias.frame.is_live(alias.name))

    def comes_round(
        self,
        start: int,
        lasting: Collection[Buffer],
        head: frozenset[str],
        frame: Frame,
        frames: Iterable[Frame],
    ) -> None:
        """An iteration ends: what it stored before it copied is stored again after it.

        Args:
            start: how many stores there were before the loop.
            lasting: temporaries from before the loop.
            head: names that may be read when an iteration begins.
        """
        for alias in self.known:
            if alias.frame is frame and alias.name in head:
                # What the loop's statements make is another array each time.
                lasts = alias.source.place == "argument" or alias.source in lasting
                for buffer in self.stored[start : alias.when]:
                    if not isinstance(buffer, _Renewed):
                        self._check(alias, buffer, frames, lasts)
                    elif alias.listed and buffer.home is alias.source:
                        break  # the list has an older array than what is stored into from here on

    def _check(self, alias: _Alias, buffer: Buffer, frames: Iterable[Frame], is_live: bool) -> None:
        seen = (buffer is alias.source and is_live) or (
            buffer is alias.home and self._is_there(alias, frames)
        )
        if seen and not self._has_returned(alias, frames):
            raise self.code.fail(
                f"{alias.name} is another array by a second name, and one of them changes in a "
                "loop or branch; copy it"
            )

    def _has_returned(self, alias: _Alias, frames: Iterable[Frame]) -> bool:
        """Whether the copy is a result, of what is the function's own: its callers know no other
        name for that."""
        return alias.name.startswith(RETURNED) and not any(
            alias.source in array.buffers
            for frame in frames
            if frame is not alias.frame
            for held in frame.env.values()
            for array in arrays_in(held)
        )

    def _is_there(self, alias: _Alias, frames: Iterable[Frame]) -> bool:
        """Whether anybody can see the elements that a copy was made of."""
        return alias.source.place == "argument" or any(
            alias.source in array.buffers and array.view is not None
            for frame in frames
            for name, held in frame.env.items()
            if (frame, name) != (alias.frame, alias.name) and frame.is_live(name)
            for array in arrays_in(held)
        )
