"""Values as something definite: numbers, sizes, what Python has to know."""

from __future__ import annotations

from typing import Any

import numpy as np

from loopbook.frontend import arith, nests
from loopbook.frontend.code import UnrollError, bare
from loopbook.frontend.homes import Homes
from loopbook.frontend.symbols import Int
from loopbook.frontend.values import Array, Scalar, Thing, Tup, Unknown, Value


class Definite(Homes):
    """Asks values what they are."""

    def number(self, value: Value) -> Scalar:
        """`value` as a number.

        Raises:
            LoweringError: if it is none.
        """
        if isinstance(value, Array) and value.rank == 0:
            value = nests.force(self.code, value)
        if isinstance(value, Array) and value.rank and all(map(self.code.is_one, value.shape)):
            value = nests.force(self.code, value)
            if isinstance(value, Array) and value.mask is None:
                value = value.element(tuple(Int(()) for _ in value.shape))
        if isinstance(value, Thing) and isinstance(value.value, bool | int | float | np.generic):
            return arith.constant(value.value)
        if isinstance(value, Unknown):
            raise self.code.untold()
        if not isinstance(value, Scalar):
            raise self.code.fail(f"{described(value)} where a number is needed")
        return value

    def integer(self, value: Value) -> Int:
        """`value` as a whole number that may be part of sizes and indices."""
        scalar = self.number(value)
        if scalar.dtype.kind == "b":
            scalar = arith.constant(int(scalar.value)) if scalar.value is not None else scalar
        if scalar.dtype.kind not in "iu":
            raise self.code.fail("a number that is not whole where a size or index is needed")
        if scalar.whole is not None and not scalar.whole.atoms & self.code.mutable:
            return scalar.whole
        key = ("whole", scalar.text)
        if key not in self.code.memo:
            name = self.code.fresh("n_")
            self.code.emit(f"{name} = int({bare(scalar.text)})")
            self.code.computes(name, f"int({bare(scalar.text)})")
            self.code.facts.name(name, scalar.text, scalar.whole)
            self.code.memo[key] = Int.atom(name)
        return self.code.memo[key]

    def python(self, value: Value) -> Any:
        """`value` as Python's own, for what has to be known: an axis, a type, a flag."""
        if isinstance(value, Scalar) and value.value is not None:
            return value.value
        if isinstance(value, Scalar) and value.whole is not None:
            known = self.code.facts.known(value.whole)
            if known is not None and self.code.facts.zero(value.whole - known):
                return known
        if isinstance(value, Tup):
            return tuple(map(self.python, value.items))
        if isinstance(value, Thing):
            return value.value
        if isinstance(value, Unknown):
            raise self.code.untold()
        what = f"{described(value)} where a constant is needed"
        counted = isinstance(value, Scalar) and value.whole is not None
        raise UnrollError(what, self.code.origin) if counted else self.code.fail(what)


def described(value: Value) -> str:
    """What a value is, for messages."""
    if isinstance(value, Thing):
        name = getattr(value.value, "__name__", None)
        return name or repr(value.value)[:40]
    return {
        "Tup": "a tuple",
        "Fields": "a record",
        "Listing": "a list",
        "Slice": "a slice",
        "Array": "an array",
        "Scalar": value.__dict__.get("text", "a number"),
    }.get(type(value).__name__, "this")
