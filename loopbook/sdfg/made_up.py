"""Data for SDFGs that come without any, such that they are defined: nothing is divided by zero, no
index leaves its array, no number is too large.

What data must be like follows from what the program does with them (`loopbook.interpreter.roles`),
how much of them there must be, from how far it reaches (`loopbook.sdfg.layout`). Whether they do is
not believed but tried: the program is interpreted at a few small sizes, and data of another kind
are made if it does what no program may do.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from loopbook.errors import InputError, SdfgError
from loopbook.interpreter import (
    FaultError,
    Floating,
    Interpreted,
    NotInterpretedError,
    TooLongError,
)
from loopbook.interpreter.roles import Roles, roles
from loopbook.program import walk
from loopbook.program.load import load_json
from loopbook.program.read import read
from loopbook.program.tree import Loop, Program
from loopbook.program.types import Scalar
from loopbook.sdfg.arguments import MAX_BYTES, dtype_of, sizes_of
from loopbook.sdfg.layout import Layout, layout
from loopbook.sdfg.made_values import Indices, Kind, Reals, values
from loopbook.sdfg.program import prepare_document
from loopbook.sdfg.trial import Trial, tried

TINY = ((5, 7, 9, 11, 13, 15, 17, 19), (3, 5, 7, 9, 11, 13, 15, 17), (2, 3, 4, 5, 6, 7, 8, 9))
"""Sizes that the interpreter can do, one set after the other if it takes too long; of each as many
as there are. None is a multiple of a vector's length."""

SMALL = (37, 41, 43, 47, 53, 59, 61, 67)
"""Sizes that tiles and vectors do not fit into, for recipes to be checked at."""

ITERATIONS = 20_000_000
"""Of the deepest loops at `SMALL` sizes, at most; sizes of deeper programs are smaller."""

TRIES = 16
"""Runs of the interpreter for one SDFG, at most."""

FITTINGS = 6
"""How often sizes are fitted to one another: those that follow from themselves never fit."""

MOST_FITTED = 4000

OTHER_SCALAR = 3
"""Whole numbers that are no sizes."""


class MadeUp:
    """Inputs for one SDFG.

    Args:
        like: sizes that it is to be measured at: small ones are equal, or greater than others,
            where these are. Missing ones are taken to be the largest.
        seed: other seeds give other data.
    """

    def __init__(self, text: str, like: Mapping[str, int], seed: int = 0) -> None:
        self._text = text
        self._like = like
        self._seed = seed
        self._left = TRIES

    # -- what the program is --------------------------------------------------------------------

    @cached_property
    def _tree(self) -> Program:
        """The program as it came or, where that is not interpreted, as it was prepared.

        Raises:
            InputError: neither is.
        """
        tree = read(load_json(self._text))
        try:
            Interpreted(tree, None, Floating())
        except NotInterpretedError:
            tree = read(prepare_document(self._text)[0])
        return tree

    @cached_property
    def _interpreted(self) -> Interpreted:
        try:
            return Interpreted(self._tree, None, Floating())
        except NotInterpretedError as error:
            raise InputError(f"cannot tell which data the SDFG is defined on: {error}") from None

    @cached_property
    def _roles(self) -> Roles:
        return roles(self._tree)

    @cached_property
    def names(self) -> list[str]:
        """Of its sizes."""
        return sizes_of(self._tree)

    # -- data -----------------------------------------------------------------------------------

    @cached_property
    def first(self) -> Trial:
        """Data that it is defined on.

        Raises:
            InputError: none were found.
            SdfgError: it cannot be told how large its arrays must be.
        """
        return self._trial(self._kinds())

    @cached_property
    def second(self) -> Trial:
        """Other data that it is defined on, of another kind if there is one.

        Raises:
            LoopbookError: as for `first`.
        """
        first = self.first
        self._left = TRIES
        other = [kind for kind in self._kinds() if kind != first.kind]
        other.sort(key=lambda kind: kind.reals == first.kind.reals)
        other.sort(key=lambda kind: kind.indices == first.kind.indices)
        return self._trial([*other[:3], first.kind], first.seed + 1)

    def arguments(self, sizes: Mapping[str, int], *, second: bool = False) -> list[Any]:
        """Arguments of the SDFG in their order.

        Args:
            sizes: all of `names`.
            second: other data.

        Raises:
            InputError: none were found that it is defined on, or they would be too large.
            SdfgError: it cannot be told how large its arrays must be.
        """
        trial = self.second if second else self.first
        scalars = self._scalars(sizes)
        return self._made(layout(self._tree, self._roles, scalars), scalars, trial.kind, trial.seed)

    def sizes_of(self, arguments: Sequence[Any]) -> dict[str, int]:
        """The sizes among some arguments."""
        given = zip(self._tree.arguments, arguments, strict=True)
        return {name: value for name, value in given if name in self.names}

    @cached_property
    def small(self) -> dict[str, int]:
        """Small odd sizes, too large for the interpreter.

        Raises:
            LoopbookError: as for `first`.
        """
        deep = max(_depths(self._tree), default=1)
        most = int(ITERATIONS ** (1 / max(deep, 1)))
        tiny = self.first.sizes
        distinct = sorted(set(tiny.values()))
        if SMALL[min(len(distinct), len(SMALL)) - 1] > most:
            return dict(tiny)
        return self.fitted({n: _nth(SMALL, distinct.index(size)) for n, size in tiny.items()})

    def fitted(
        self, sizes: Mapping[str, int], keep: Collection[str] = (), most: int = MOST_FITTED
    ) -> dict[str, int]:
        """The sizes, those of rows so large that all fits into a row that is meant to, if possible.

        Args:
            keep: sizes that stay as they are.
            most: no size becomes larger.

        Raises:
            LoopbookError: as for `arguments`.
        """
        found = dict(sizes)
        for _ in range(FITTINGS):
            short = layout(self._tree, self._roles, self._scalars(found)).short
            larger = {
                name: min(found[name] + by, most)
                for name, by in short.items()
                if name in found and name not in keep and found[name] < most
            }
            if not larger:
                break
            found |= larger
        else:
            return dict(sizes)
        return found

    # -- trying ---------------------------------------------------------------------------------

    def _trial(self, kinds: Sequence[Kind], seed: int | None = None) -> Trial:
        """The best of what is tried.

        Raises:
            InputError: the program is not defined on anything that was.
        """
        seed = self._seed if seed is None else seed
        found: list[Trial] = []
        fault: Exception | None = None
        late = -1
        for level, wanted in self._small_sizes():
            if level == late:
                continue
            try:
                sizes = self.fitted(wanted)
                plan = layout(self._tree, self._roles, self._scalars(sizes))
                for kind in kinds:
                    if self._left <= 0:
                        break
                    self._left -= 1
                    try:
                        found.append(self._tried(plan, sizes, kind, seed))
                    except FaultError as error:
                        fault = error
                    else:
                        if not any(found[-1].rank):
                            return found[-1]
            except TooLongError as error:
                fault, late = error, level
            except (SdfgError, NotInterpretedError) as error:
                fault = error
                break
        if found:
            best = min(found, key=lambda trial: trial.rank)
            if best.rank[0]:
                raise InputError("rounding decides what the SDFG computes on all data tried")
            return best
        raise InputError(f"no data were found that the SDFG is defined on: {fault}")

    def _tried(self, plan: Layout, sizes: Mapping[str, int], kind: Kind, seed: int) -> Trial:
        scalars = self._scalars(sizes)
        arguments = self._made(plan, scalars, kind, seed)
        return tried(self._interpreted, self._tree, sizes, kind, seed, arguments, plan.tidy)

    def _kinds(self) -> list[Kind]:
        """Kinds of data, in the order in which they are worth a try."""
        used = self._roles
        arrays = {name for name in self._tree.arguments if self._tree.containers[name].is_array}
        calm: list[Reals] = ["positive", "dominant", "small"]
        if not arrays & (used.divisors | used.narrow):
            signed = arrays & used.compared
            calm = ["signed", "positive", "small"] if signed else ["positive", "signed", "small"]
        orders: list[Indices] = ["repeated", "permuted", "sorted"]
        if not arrays & used.indices:
            orders = orders[:1]
        return [Kind(reals, order) for order in orders for reals in calm]

    def _small_sizes(self) -> Iterator[tuple[int, dict[str, int]]]:
        """Sizes to try, with the place of their numbers in `TINY`: in the order of those that are
        asked for, first all distinct, then equal where those are, then all equal."""
        most = max(self._like.values(), default=0)
        like = {name: self._like.get(name, most) for name in self.names}
        ordered = sorted(like, key=lambda name: (like[name], name))
        distinct = sorted(set(like.values()))
        seen: list[dict[str, int]] = []
        for level, numbers in enumerate(TINY):
            for ranks in (
                {name: place for place, name in enumerate(ordered)},
                {name: distinct.index(like[name]) for name in ordered},
                dict.fromkeys(ordered, 1),
            ):
                sizes = {name: _nth(numbers, rank) for name, rank in ranks.items()}
                if sizes not in seen:
                    seen.append(sizes)
                    yield level, sizes

    def _scalars(self, sizes: Mapping[str, int]) -> dict[str, int]:
        """All whole scalar arguments."""
        return {
            name: sizes.get(name, OTHER_SCALAR)
            for name in self._tree.arguments
            if not self._tree.containers[name].is_array and dtype_of(self._tree, name).kind != "f"
        }

    def _made(self, plan: Layout, scalars: Mapping[str, int], kind: Kind, seed: int) -> list[Any]:
        found: list[Any] = []
        for number, name in enumerate(self._tree.arguments):
            rng = np.random.default_rng([seed, number])
            dtype = dtype_of(self._tree, name)
            if name in scalars:
                found.append(int(scalars[name] != 0) if dtype.kind == "b" else scalars[name])
            elif isinstance(self._tree.containers[name], Scalar):
                found.append(float(dtype.type(rng.uniform(0.5, 1.5))))
            else:
                place = plan.places[name]
                if place.count * dtype.itemsize > MAX_BYTES:
                    size = place.count * dtype.itemsize >> 20
                    raise InputError(f"array {name} would take {size} MiB")
                if place.index is not None:
                    limit = np.iinfo(dtype).max if dtype.kind in "iu" else math.inf
                    low, high = place.index
                    place = replace(place, index=(low, int(min(high, limit))))
                found.append(values(place, dtype, kind, rng))
        return found


def _nth(numbers: Sequence[int], place: int) -> int:
    """One of some numbers; what comes after them goes on evenly."""
    last = len(numbers) - 1
    return numbers[min(place, last)] + 2 * max(place - last, 0)


def _depths(program: Program) -> Iterator[int]:
    for path, node in walk.places(program):
        if isinstance(node, Loop):
            yield 1 + sum(isinstance(one, Loop) for one in walk.way(program, path[:-1]))
