"""Whole numbers that a translation knows only by name: sizes, bounds, indices.

An `Int` is a polynomial over *atoms*, each a piece of source text that the generated loops may
hold as it stands: ``A.shape[0]``, a loop variable, an argument. Equal polynomials are equal values,
which decides most questions of shape at once::

    (A.shape[0] - 1) - 1  ==  A.shape[0] - 2

What the text alone does not decide, `Facts` asks of the arguments at hand, and notes the answer as
something that the translation takes for granted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

Monomial = tuple[str, ...]


@dataclass(frozen=True)
class Int:
    """A polynomial with whole coefficients; `terms` in canonical order, the constant under ()."""

    terms: tuple[tuple[Monomial, int], ...]

    @staticmethod
    def of(value: int | Int) -> Int:
        """An `Int` for a number, or the `Int` itself."""
        if isinstance(value, Int):
            return value
        return Int((((), int(value)),)) if value else ZERO

    @staticmethod
    def atom(text: str) -> Int:
        """An `Int` for a piece of source text."""
        return Int((((text,), 1),))

    @staticmethod
    def _make(sums: Mapping[Monomial, int]) -> Int:
        return Int(tuple(sorted((m, c) for m, c in sums.items() if c)))

    def __add__(self, other: int | Int) -> Int:
        sums = dict(self.terms)
        for monomial, factor in Int.of(other).terms:
            sums[monomial] = sums.get(monomial, 0) + factor
        return Int._make(sums)

    def __neg__(self) -> Int:
        return Int(tuple((m, -c) for m, c in self.terms))

    def __sub__(self, other: int | Int) -> Int:
        return self + -Int.of(other)

    def __mul__(self, other: int | Int) -> Int:
        sums: dict[Monomial, int] = {}
        for left, a in self.terms:
            for right, b in Int.of(other).terms:
                monomial = tuple(sorted(left + right))
                sums[monomial] = sums.get(monomial, 0) + a * b
        return Int._make(sums)

    @cached_property
    def constant(self) -> int | None:
        """The value, where it is a number."""
        if not self.terms:
            return 0
        if len(self.terms) == 1 and not self.terms[0][0]:
            return self.terms[0][1]
        return None

    def divided(self, by: int) -> tuple[Int, int] | None:
        """Quotient, rounded down, and remainder by a number above 0, where the latter is known."""
        sums = dict(self.terms)
        last = sums.pop((), 0)
        if any(factor % by for factor in sums.values()):
            return None
        whole = Int._make({monomial: factor // by for monomial, factor in sums.items()})
        return whole + last // by, last % by

    @cached_property
    def atoms(self) -> frozenset[str]:
        return frozenset(atom for monomial, _ in self.terms for atom in monomial)

    def substitute(self, values: Mapping[str, Int]) -> Int:
        """The polynomial with some atoms replaced."""
        if not self.atoms & values.keys():
            return self
        total = ZERO
        for monomial, factor in self.terms:
            product = Int.of(factor)
            for atom in monomial:
                product = product * values.get(atom, Int.atom(atom))
            total = total + product
        return total

    @cached_property
    def text(self) -> str:
        """Source text; a sum is not in parentheses."""
        positive = sorted((m, c) for m, c in self.terms if c > 0 and m)
        negative = sorted((m, c) for m, c in self.terms if c < 0 and m)
        constant = dict(self.terms).get((), 0)
        parts: list[str] = []
        for monomial, factor in positive:
            parts.append(("+ " if parts else "") + _product(monomial, factor))
        if not parts and constant:
            parts.append(str(constant))
            constant = 0
        for monomial, factor in negative:
            parts.append(("- " if parts else "-") + _product(monomial, -factor))
        if constant:
            parts.append(f"{'+' if constant > 0 else '-'} {abs(constant)}")
        return " ".join(parts) or "0"

    @cached_property
    def operand(self) -> str:
        """Source text that may stand beside any operator."""
        return self.text if re.fullmatch(r"[\w.\[\]]+", self.text) else f"({self.text})"


GREAT = 4
"""Powers from this one on are computed before the loops (see `loopbook.frontend.lower`)."""


def _product(monomial: Monomial, factor: int) -> str:
    great = [atom for atom in monomial if monomial.count(atom) >= GREAT]
    if great:  # first, where all of them together are seen to be one number
        rest = [atom for atom in monomial if atom not in great]
        return " * ".join([*great, *rest, *([str(factor)] if factor != 1 else [])])
    text = " * ".join(monomial)
    return text if factor == 1 else f"{factor} * {text}"


ZERO = Int(())
ONE = Int.of(1)


Ends = tuple[tuple[Int, ...], tuple[Int, ...]]
"""What something is no less than, and what it is no greater than."""

FARTHEST = 12
"""Variables that a bound is sought through, one after the other."""

MOST_BOUNDS = 8
"""Of one number, where variables in it have several ends."""


@dataclass
class Facts:
    """What is known of atoms.

    Attributes:
        values: atoms whose value the arguments at hand give: sizes, whole-number arguments.
        ranges: loop variables and the like, with their least and greatest values (inclusive).
        ends: variables that are the greatest or the least of several numbers, with those that they
            are no less than, and those that they are no greater than; in `ranges` as well.
        extremes: the same of texts that no variable has been set to yet.
        greatest: those of `ends` that are the greatest of several numbers.
        rising: variables that change, but are never negative.
        guards: conditions that were taken for granted, as source text over the arguments.
        definitions: from text over the arguments to the name of a size that it gives.
        sizes: arguments that were taken for sizes of arrays, and these.
        taken: names that something has.
    """

    values: dict[str, int] = field(default_factory=dict)
    ranges: dict[str, tuple[Int | None, Int | None]] = field(default_factory=dict)
    ends: dict[str, Ends] = field(default_factory=dict)
    extremes: dict[str, Ends] = field(default_factory=dict)
    greatest: set[str] = field(default_factory=set)
    rising: set[str] = field(default_factory=set)
    guards: dict[str, None] = field(default_factory=dict)
    definitions: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, Int] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)

    def fresh(self, hint: str) -> str:
        """A name that nothing has, after what it holds."""
        number = 0
        while f"{hint}{number}" in self.taken:
            number += 1
        name = f"{hint}{number}"
        self.taken.add(name)
        return name

    def in_sizes(self, value: Int) -> Int:
        """`value` in terms of arrays' sizes, as far as arguments were taken for such: bounds of
        loops that are written alike tell whoever reads them that they are the same."""
        return value.substitute(self.sizes)

    def known(self, value: Int) -> int | None:
        """The value for the arguments at hand, if they give it."""
        total = 0
        for monomial, factor in value.terms:
            for atom in monomial:
                if atom not in self.values:
                    return None
                factor *= self.values[atom]
            total += factor
        return total

    def defined(self, text: str, hint: str) -> str:
        """The name of what is computed once, before the loops run."""
        if text not in self.definitions:
            self.definitions[text] = self.fresh(hint)
        return self.definitions[text]

    def stands_for(self, value: str) -> set[str]:
        """The defined names in a text, and those that these are computed from."""
        texts = {name: text for text, name in self.definitions.items()}
        found: set[str] = set()
        left = [value]
        while left:
            new = set(re.findall(r"\w+", left.pop())) & texts.keys() - found
            found |= new
            left += [texts[name] for name in new]
        return found

    def in_order(self) -> list[tuple[str, str]]:
        """Names and what they are defined by, each behind those that it is computed from."""
        done: dict[str, str] = {}

        def add(name: str, text: str) -> None:
            for inner in self.definitions.items():
                if inner[1] != name and inner[1] in words(text) and inner[1] not in done:
                    add(inner[1], inner[0])
            done.setdefault(name, text)

        def words(text: str) -> set[str]:
            return set(re.findall(r"\w+", text))

        for text, name in self.definitions.items():
            add(name, text)
        return list(done.items())

    def derive(self, text: str, parts: Iterable[Int], compute: Callable[..., int]) -> Int:
        """An atom for what is no polynomial of its parts, such as a quotient. Where the arguments
        give its value, it is computed once, before the loops run: docc simplifies only sums and
        products well."""
        numbers = [self.known(part) for part in parts]
        if None in numbers:
            return Int.atom(text)
        name = self.defined(text, "size_")
        if name not in self.values:
            self.values[name] = compute(*numbers)
        return Int.atom(name)

    def name(self, name: str, text: str, whole: Int | None) -> None:
        """Note what is known of a variable that is set to a text, and that is a whole number: one
        of `extremes`, or made of what is `rising`."""
        ends = self.extremes.get(text)
        if ends is None and whole is not None and self._is_rising(whole):
            ends = (ZERO,), ()
        elif ends is not None and not ends[1]:
            self.greatest.add(name)
        if ends is not None:
            self.ends[name] = ends
            self.ranges[name] = (None, None)

    def natural(self, value: Int) -> bool:
        """Note that a variable is never negative, if nothing else is known of it; whether it is."""
        match value.terms:
            case (((name,), 1),) if name not in self.values and name not in self.ranges:
                self.ends[name] = (ZERO,), ()
                self.ranges[name] = (None, None)
                return True
        return False

    def _is_rising(self, value: Int) -> bool:
        """Whether a number is never negative because variables in it are not."""
        risen = {m: c for m, c in value.terms if self.rising.intersection(m)}
        if not risen or any(c < 0 for c in risen.values()):
            return False
        others = {atom for m in risen for atom in m} - self.rising
        rest = Int(tuple((m, c) for m, c in value.terms if m not in risen))
        parts = [*map(Int.atom, sorted(others)), rest]
        return all(self.nonnegative(part, firm=False) for part in parts)

    def bound(self, value: Int, upper: bool, only: frozenset[str] | None = None) -> Int | None:
        """A bound of `value` that names no loop variable (none of `only`, if given); None if there
        is none that could be found."""
        found = [*self._bounds(value, upper, only)]
        return next((end for end in found if self.known(end) is not None), None) or next(
            iter(found), None
        )

    def _bounds(self, value: Int, upper: bool, only: frozenset[str] | None = None) -> Iterator[Int]:
        """Such bounds, a few at most: variables may have several ends."""
        order = {
            atom: place for place, atom in enumerate(self.ranges) if only is None or atom in only
        }
        return islice(self._outwards(value, upper, order, FARTHEST), MOST_BOUNDS)

    def _outwards(
        self, value: Int, upper: bool, order: Mapping[str, int], steps: int
    ) -> Iterator[Int]:
        """Bounds of `value`, with an end in the place of one variable after the other.

        Args:
            order: variables that there should be none of; those whose ranges name others last.
        """
        inner = [atom for atom in value.atoms if atom in order]
        if not inner:
            yield value
        if not inner or not steps:
            return
        # The variable whose range names others goes first.
        atom = max(inner, key=lambda one: order[one])
        monomial, factor = next((m, c) for m, c in reversed(value.terms) if atom in m)
        rest = list(monomial)
        rest.remove(atom)
        if any(self._least(a) < 0 for a in rest):
            return
        side = int(upper == (factor > 0))
        several = self.ends.get(atom)
        ends = [one for one in (self.ranges[atom][side],) if one is not None]
        ends += several[side] if several else ()
        if not ends and several:  # such as the greatest of two numbers, which has no upper end
            left = {one: place for one, place in order.items() if one != atom}
            yield from self._outwards(value, upper, left, steps - 1)
        others = Int(tuple((m, c) for m, c in value.terms if m != monomial))
        for end in ends:
            same = Int(((tuple(rest), factor),)) * end if rest else end * factor
            yield from self._outwards(others + same, upper, order, steps - 1)

    def _least(self, atom: str) -> int:
        if atom in self.values:
            if self.values[atom] < 0:
                return -1
            if self._is_number(atom):
                self._assume(Int.atom(atom), ">= 0")
            return 0
        lows = [self.ranges.get(atom, (None, None))[0], *self.ends.get(atom, ((), ()))[0]]
        numbers = [low.constant for low in lows if low is not None]
        return 0 if any(number is not None and number >= 0 for number in numbers) else -1

    def never_negative(self, value: Int) -> bool:
        """Whether ``value >= 0`` is sure for all sizes of 2 and more, whatever the numbers are that
        the function is called with."""
        if any(len(m) > 1 and any(self._is_number(a) for a in m) for m, _ in value.terms):
            return False
        return any(
            not any(c < 0 or self._is_number(a) for m, c in low.terms for a in m)
            and sum(c * 2 ** len(m) for m, c in low.terms) >= 0
            for low in self._bounds(value, upper=False)
        )

    def _is_number(self, atom: str) -> bool:
        """Whether an atom is neither a size nor a loop's variable."""
        return ".shape[" not in atom and (atom not in self.ranges or atom in self.ends)

    def nonnegative(self, value: Int, firm: bool = True) -> bool | None:
        """Whether ``value >= 0`` always holds (True), never holds (False), or neither is seen.

        Args:
            firm: note a False for the arguments at hand as well; without, only a True counts,
                and everything else is None.
        """
        for low in self._bounds(value, upper=False):
            number = self.known(low)
            if number is not None and number >= 0:
                self._assume(low, ">= 0")
                return True
        if not firm:
            return None
        for high in self._bounds(value, upper=True):
            number = self.known(high)
            if number is not None and number < 0:
                self._assume(high, "< 0")
                return False
        return None

    def zero(self, value: Int) -> bool | None:
        """Whether ``value == 0``; None where that depends on loop variables."""
        if value.constant is not None:
            return value.constant == 0
        number = self.known(value)
        if number is None:
            if self.nonnegative(value - 1, firm=False) or self.nonnegative(-value - 1, firm=False):
                return False
            return None
        if number:
            self._assume(value - 1 if number > 0 else value + 1, ">= 0" if number > 0 else "<= 0")
        else:
            self._assume(value, "== 0")
            self._note_size(value)
        return number == 0

    def _note_size(self, difference: Int) -> None:
        """Learn from ``n - A.shape[0] == 0``."""
        match sorted(difference.terms, key=lambda term: ".shape[" in "".join(term[0])):
            case [((one,), 1 | -1 as factor), ((other,), opposite)] if opposite == -factor:
                if ".shape[" in other and one.isidentifier():
                    self.sizes.setdefault(one, Int.atom(other))

    def _assume(self, value: Int, relation: str) -> None:
        if value.constant is None:
            self.guards[f"{value.text} {relation}"] = None
