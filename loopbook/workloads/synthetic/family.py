"""Families of synthetic programs: named choices, and a function that writes the program.

A family is a small grammar. What it can vary are *fields* with a few values each, the program's
name lists the values chosen, and so every program can be written again from its name alone.

Fields are of two kinds. Those of the *work* say what is computed on which memory layout; programs
that differ only in the *writing*, the order of loops or of operands for example, do the same work
and should be recognised as such.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations, product

from loopbook.errors import WorkloadError
from loopbook.workloads.synthetic.program import DTYPES, SIZES, Program, text

Choice = Mapping[str, str]
"""Field to value."""

Options = Sequence[str] | Callable[[Choice], Sequence[str]]
"""The values of a field, which may depend on the fields before it. Repeated values are drawn more
often."""

_COMMON: Mapping[str, Options] = {"type": tuple(DTYPES), "sizes": SIZES}


@dataclass(frozen=True)
class Family:
    """One kind of programs.

    Attributes:
        name: short, in lower case.
        about: what all its programs do, one line.
        work: fields that change what is computed.
        writing: fields that do not.
        write: the program for one choice of all fields.
    """

    name: str
    about: str
    work: Mapping[str, Options]
    writing: Mapping[str, Options]
    write: Callable[[Choice], Program]

    @property
    def fields(self) -> dict[str, Options]:
        """All fields in the order of a name's parts: work, writing, type and sizes."""
        return {**self.work, **self.writing, **_COMMON}

    def draw(self, rng: random.Random, kept: Choice | None = None) -> dict[str, str]:
        """A random choice.

        Args:
            kept: values to keep, of the first fields in order; the same work, for example.
        """
        chosen = dict(kept or {})
        for field, options in self.fields.items():
            if field not in chosen:
                chosen[field] = rng.choice(_values(options, chosen))
        return chosen

    def label(self, choice: Choice) -> str:
        """A name for the work alone."""
        return ".".join([self.name, *(choice[field] for field in self.work)])

    def name_of(self, choice: Choice) -> str:
        """The program's name, good as a file name as well."""
        return ".".join([self.name, *(choice[field] for field in self.fields)])

    def choice_of(self, name: str) -> dict[str, str]:
        """The choice that has this name.

        Raises:
            WorkloadError: if no choice does.
        """
        own, *values = name.split(".")
        if own != self.name or len(values) != len(self.fields):
            raise WorkloadError(f"{name!r} is no name of a synthetic {self.name} program")
        chosen: dict[str, str] = {}
        for (field, options), value in zip(self.fields.items(), values, strict=True):
            known = _values(options, chosen)
            if value not in known:
                raise WorkloadError(f"{name!r}: {field} {value!r} is none of {', '.join(known)}")
            chosen[field] = value
        return chosen

    def source(self, choice: Choice) -> str:
        """The text of the workload file."""
        title = f"Synthetic: {self.about} ({self.name_of(choice)})."
        return text(self.write(choice), title, choice["type"], choice["sizes"])


def _values(options: Options, chosen: Choice) -> Sequence[str]:
    return options(chosen) if callable(options) else options


def orders(letters: str) -> tuple[str, ...]:
    """All orders of some letters, as words."""
    return tuple("".join(order) for order in permutations(letters))


def subsets(letters: Sequence[str]) -> tuple[str, ...]:
    """All choices of some letters, as values of a field; "0" stands for none of them."""
    return tuple(
        "".join(letter for letter, is_in in zip(letters, each, strict=True) if is_in) or "0"
        for each in product((False, True), repeat=len(letters))
    )
