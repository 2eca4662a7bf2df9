"""Canonical names for what a nest mentions, given out as a reader meets it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from loopbook.program import expr
from loopbook.program.nest import Container
from loopbook.program.types import Type, type_of


class Vocabulary:
    """Names so far.

    Attributes:
        containers: arrays ``A0…`` and scalars ``S0…``, by what the program calls them.
        names: those of the containers, by number.
        symbols: the program's size symbols to ``N0…``.
        scope: the variables of the loops that the reader is in to ``L0…``.
        changing: symbols that get their values inside the nest: they are scalars, not sizes.
    """

    def __init__(self, types: Mapping[str, Type], changing: Collection[str]) -> None:
        self._types = types
        self.containers: dict[str, Container] = {}
        self.names: list[str] = []
        self.symbols: dict[str, str] = {}
        self.scope: dict[str, str] = {}
        self.changing = changing

    def container(self, data: str, write: bool = False) -> Container:
        """The container called `data`, noted as written if `write`."""
        known = self.containers.get(data)
        if known is None:
            kind = type_of(data, self._types)
            is_array = kind.is_array
            number = sum(c.is_array == is_array for c in self.containers.values())
            name = f"{'A' if is_array else 'S'}{number}"
            place = len(self.containers)
            known = Container(place, name, data, kind.element, is_array, write)
            self.containers[data] = known
            self.names.append(name)
        elif write and not known.written:
            known = replace(known, written=True)
            self.containers[data] = known
        return known

    def canonical(self, text: str) -> str:
        """`text` with canonical names; size symbols are numbered whatever they are called."""
        unknown = sorted(
            {
                name
                for name in expr.symbols(text)
                if name in self._types
                and name not in self.scope
                and name not in self.containers
                and name not in self.symbols
            }
        )
        if len(unknown) > 1:
            unknown.sort(key=lambda name: expr.normal_form(text, self.marked(name)))
        for name in unknown:
            if name in self.changing:
                self.container(name)
            else:
                self.symbols[name] = f"N{len(self.symbols)}"
        return expr.normal_form(text, self._rename)

    def _rename(self, name: str) -> str:
        if name in self.scope:
            return self.scope[name]
        if name in self.containers:
            return self.containers[name].name
        return self.symbols.get(name, name)

    def marked(self, chosen: str) -> Callable[[str], str]:
        """A renaming that tells `chosen` from all other names that are not known yet."""

        def rename(name: str) -> str:
            if name == chosen:
                return "@"
            renamed = self._rename(name)
            return "?" if renamed == name and name in self._types else renamed

        return rename
