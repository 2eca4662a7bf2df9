"""The door to isl: one context a thread, a limit for each question, and what is remembered.

isl's contexts must not be used by two threads at once, and its objects belong to a context: no
object leaves the thread, or the process, that made it. islpy is imported with the first question.
"""

from __future__ import annotations

import importlib
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from loopbook.dependence.model import Linear
from loopbook.errors import DependenceError

if TYPE_CHECKING:
    import islpy

MAX_OPERATIONS = 200_000
"""What isl may do for one question before the answer counts as "no". The order of a matrix product
takes between 1,000 and 2,000 of its operations, about a millisecond."""

REMEMBERED = 64
"""Nests of which a thread keeps the dependences."""

Column = tuple[Any, int]
"""A kind of dimension, and the place among those of its kind."""

Kept = TypeVar("Kept")


class Engine:
    """One thread's isl."""

    def __init__(self) -> None:
        import islpy

        self.isl = islpy
        self.process = os.getpid()
        self.context = islpy.Context()
        self.context.set_max_operations(MAX_OPERATIONS)
        kinds = islpy.dim_type
        self.parameter, self.source, self.sink = kinds.param, kinds.in_, kinds.out
        self._values: dict[int, islpy.Val] = {}
        self.sides: dict[Hashable, islpy.BasicSet] = {}
        self._remembered: OrderedDict[Hashable, Any] = OrderedDict()

    def value(self, number: int) -> islpy.Val:
        """A number as isl's."""
        found = self._values.get(number)
        if found is None:
            if len(self._values) > 4096:
                self._values.clear()
            found = self.isl.Val.int_from_si(self.context, number)
            self._values[number] = found
        return found

    def constraint(
        self,
        local: islpy.LocalSpace,
        columns: Mapping[str, Column],
        form: Linear,
        *,
        equation: bool = False,
    ) -> islpy.Constraint:
        """That a form is 0, or 0 or more."""
        constraints = self.isl.Constraint
        made = (
            constraints.equality_alloc(local) if equation else constraints.inequality_alloc(local)
        )
        for symbol, factor in form.items():
            if symbol:
                made = made.set_coefficient_val(*columns[symbol], self.value(factor))
            else:
                made = made.set_constant_val(self.value(factor))
        return made

    def points(
        self, space: islpy.Space, columns: Mapping[str, Column], rows: Sequence[Linear]
    ) -> islpy.BasicSet:
        """The integer points for which all rows are 0 or more."""
        local = self.isl.LocalSpace.from_space(space)
        made = self.isl.BasicSet.universe(space)
        for row in rows:
            made = made.add_constraint(self.constraint(local, columns, row))
        return made

    def remember(self, key: Hashable, make: Callable[[], Kept]) -> Kept:
        """What `make` makes, or has made for an equal key."""
        if key in self._remembered:
            self._remembered.move_to_end(key)
            return self._remembered[key]
        made = self._remembered[key] = make()
        if len(self._remembered) > REMEMBERED:
            self._remembered.popitem(last=False)
        return made


_threads = threading.local()


def load() -> None:
    """Import isl, which takes a tenth of a second: before children are forked that will ask."""
    importlib.import_module("islpy")


@contextmanager
def question() -> Iterator[Engine]:
    """This thread's isl, for one question.

    Raises:
        DependenceError: the question has grown too large.
    """
    engine: Engine | None = getattr(_threads, "engine", None)
    if engine is None or engine.process != os.getpid():
        engine = _threads.engine = Engine()
    engine.context.reset_operations()
    try:
        yield engine
    except engine.isl.Error as error:
        raise DependenceError(f"a question of order is too large: {error}") from None
