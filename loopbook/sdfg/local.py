"""Notes in an SDFG which of its arguments are arrays that are made for one call
(`loopbook.program.local`)."""

from __future__ import annotations

import ast
import contextlib
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from loopbook.errors import SdfgError
from loopbook.program import expr
from loopbook.program.expr import Expr, Polynomial
from loopbook.program.extent_names import extent_names, number_of
from loopbook.program.local import LOCAL


class _UnknownError(ValueError):
    """A size is not made of sizes and whole numbers among the arguments."""


class Lowering(Protocol):
    """What makes arrays for a call: `loopbook.frontend.lowered.Lowered`.

    Attributes:
        kernel_parameters: of the function that docc reads.
        made: Python text of the shapes of the arrays among them that are made for a call: sums and
            products of whole numbers, of parameters, and of sizes such as ``A.shape[0]``;
            ``max(…, 0)`` of them, too. Nothing is noted of arrays of other shapes.
        local: those that hold nothing before it and that nobody looks into afterwards.
        guards: conditions on sizes and other arguments without which nothing is compiled.
        conversions: arguments that are handed over as something else, and what: a complex array as
            pairs along its last axis.
        definitions: sizes that are computed before the loops run: name and text.
        in_line: arguments that are handed over as one line of elements: all texts above call
            sizes what the caller's array has.
    """

    @property
    def kernel_parameters(self) -> Sequence[str]: ...
    @property
    def made(self) -> Mapping[str, str]: ...
    @property
    def local(self) -> Collection[str]: ...
    @property
    def guards(self) -> Sequence[str]: ...
    @property
    def conversions(self) -> Sequence[tuple[str, str]]: ...
    @property
    def definitions(self) -> Sequence[tuple[str, str]]: ...
    @property
    def in_line(self) -> Collection[str]: ...


def with_local(text: str, lowered: Lowering, args: Sequence[Any]) -> str:
    """An SDFG as docc's front end makes it, with a note of its local arrays.

    Args:
        text: its JSON.
        args: what it was made for.
    """
    known = _Sizes(lowered, args)
    shapes: dict[str, list[str]] = {}
    sizes: dict[str, str] = {}
    same: dict[str, str] = {}
    document = json.loads(text)
    for place, parameter in enumerate(lowered.kernel_parameters):
        if parameter not in lowered.made:
            continue
        try:
            shape = known.shape(lowered.made[parameter])
        except (_UnknownError, SyntaxError):
            continue
        if parameter in lowered.local:
            shapes[document["arguments"][place]] = shape
        for axis, size in enumerate(shape):
            name = known.names.get((place, axis))
            if name in known.only_made:
                first = sizes.setdefault(name, size)
                if size != first and size in known.numbers and first in known.numbers:
                    same.setdefault(size, first)  # in all calls that have these equal sizes
            elif size in known.numbers and name is not None and name != "1":
                same.setdefault(size, name)  # other arrays have it, too

    for name, number in known.pairs():
        sizes.setdefault(name, f"(2*{number})")

    def told(size: str) -> str:
        return re.sub(r"\w+", lambda word: same.get(word[0], word[0]), size)

    arrays = {name: [told(size) for size in shape] for name, shape in shapes.items()}
    sizes = {name: told(size) for name, size in sizes.items()} | same
    for name, size in known.equal(lowered.guards, sizes).items():
        arrays = {one: [_with(text, name, size) for text in shape] for one, shape in arrays.items()}
        sizes = {one: _with(text, name, size) for one, text in sizes.items()} | {name: size}
    if not arrays and not sizes:
        return text
    document["metadata"][LOCAL] = json.dumps({"arrays": arrays, "sizes": sizes})
    return json.dumps(document, separators=(",", ":"))


def _with(text: str, name: str, size: str) -> str:
    return expr.substitute(text, {name: size})


class _Sizes:
    """What docc calls the sizes of a call's arrays: one name for each distinct size other than 1,
    in the order of the arguments and their dimensions.

    Attributes:
        names: by the position of the array and the dimension.
        only_made: names of sizes that only arrays have that are made for the call.
        numbers: parameters that are whole numbers.
    """

    def __init__(self, lowered: Lowering, args: Sequence[Any]) -> None:
        parameters = lowered.kernel_parameters
        self._places = {name: place for place, name in enumerate(parameters)}
        self.numbers = {
            name
            for name, value in zip(parameters, args, strict=True)
            if isinstance(value, int | np.integer) and not isinstance(value, bool | np.bool_)
        }
        self._in_line = {*lowered.in_line}
        pairs = {name for name, text in lowered.conversions if ".view(np.float" in text}
        pairs -= self._in_line
        self._halves = {
            (name, value.ndim - 1)
            for name, value in zip(parameters, args, strict=True)
            if name in pairs and isinstance(value, np.ndarray)
        }
        self._defined = {text: name for name, text in lowered.definitions}
        self.names: dict[tuple[int, int], str] = {}
        extents = extent_names(value.shape for value in args if isinstance(value, np.ndarray))
        elsewhere: set[str] = set()
        for place, value in enumerate(args):
            for axis, size in enumerate(value.shape if isinstance(value, np.ndarray) else ()):
                name = extents[size]
                self.names[place, axis] = "1" if size == 1 else name
                if parameters[place] not in lowered.made:
                    elsewhere.add(name)
        self.only_made = {*self.names.values()} - elsewhere - {"1"}

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Sizes of axes along which docc is shown pairs, and how many of these there are."""
        for name, axis in sorted(self._halves):
            number = self._defined.get(f"{name}.shape[{axis}]")
            size = self.names[self._places[name], axis]
            if number in self.numbers and size != "1":
                yield size, number

    def shape(self, text: str) -> list[str]:
        """A shape's text in docc's names.

        Raises:
            _UnknownError: it is made of something else.
        """
        node = ast.parse(text, mode="eval").body
        parts = node.elts if isinstance(node, ast.Tuple) else [node]
        return [self._size(part) for part in parts]

    def equal(self, guards: Sequence[str], but: Collection[str]) -> dict[str, str]:
        """Names of sizes that conditions say what they are of other ones, and what.

        Args:
            but: names that are left as they are.
        """
        found: dict[str, str] = {}
        for guard in guards:
            gap = self._gap(guard)
            for name, size in found.items():
                gap = gap and Expr(_with(expr.text(gap), name, size)).polynomial
            once = [
                name
                for (name,), factor in ((m, f) for m, f in gap.items() if len(m) == 1)
                if abs(factor) == 1 and name in self.names.values() and name not in but
                if sum(name in monomial for monomial in gap) == 1
            ]
            if not once:
                continue
            last = max(once, key=number_of)
            size = expr.text(expr.plus({(last,): 1}, gap, -gap[last,]))
            found = {name: _with(text, last, size) for name, text in found.items()} | {last: size}
        return found

    def _gap(self, guard: str) -> Polynomial:
        """What is 0 where a condition is met; 0 where nothing is known of that kind."""
        match ast.parse(guard, mode="eval").body:
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
                with contextlib.suppress(_UnknownError, SdfgError):
                    return Expr(f"{self._size(left)} - ({self._size(right)})").polynomial
        return {}

    def _size(self, node: ast.expr) -> str:
        match node:
            case ast.Constant(value=int() as number) if not isinstance(number, bool):
                return str(number)
            case ast.Name(id=name) if name in self.numbers:
                return name
            case ast.Subscript(
                value=ast.Attribute(value=ast.Name(id=name), attr="shape"),
                slice=ast.Constant(value=int() as axis),
            ) if name in self._in_line or (self._places.get(name, -1), axis) in self.names:
                if name in self._in_line or (name, axis) in self._halves:
                    return self._other(node)
                return self.names[self._places[name], axis]
            case ast.Call(func=ast.Name(id="max"), args=[size, ast.Constant(value=0)]):
                return self._size(size)  # compiled code is called with no empty array
            case ast.BinOp(
                left=ast.Subscript(
                    value=ast.Attribute(value=ast.Name(id=name), attr="shape"),
                    slice=ast.Constant(value=int() as axis),
                ),
                op=ast.Mult(),
                right=ast.Constant(value=2),
            ) if (name, axis) in self._halves:
                return self.names[self._places[name], axis]
            case ast.BinOp(
                left=left, op=ast.Add() | ast.Sub() | ast.Mult() as operator, right=right
            ):
                sign = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}[type(operator)]
                return f"({self._size(left)} {sign} {self._size(right)})"
        raise _UnknownError(ast.unparse(node))

    def _other(self, size: ast.expr) -> str:
        """A size that docc is not shown, of an axis of complex numbers, of which it has pairs, or
        of an array that it has in one line: it knows that size where it is an argument."""
        name = self._defined.get(ast.unparse(size), "")
        if name in self.numbers:
            return name
        raise _UnknownError(ast.unparse(size))
