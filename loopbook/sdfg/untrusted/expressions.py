"""Index, bound and condition expressions of programs from outside: a small grammar of its own.

What docc's symbolic engine understands is far more than what docc writes, and it computes powers as
soon as it reads them. So nothing reaches it that is not in this grammar, and nothing that would
grow: besides length and depth, each expression has a bound on the terms, the degree and the digits
that it would have when multiplied out. Reading takes time in proportion to the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from loopbook.errors import SdfgError

MAX_LENGTH = 2000
"""Characters. The longest that docc writes for the programs that we know has 206."""

MAX_DEPTH = 48
"""Of parentheses, calls and signs inside one another; docc's have 7."""

MAX_TERMS = 256
MAX_DEGREE = 32
MAX_DIGITS = 40
"""Of a polynomial that is multiplied out, and of its coefficients."""

MAX_EXPONENT = 8

FUNCTIONS = {
    "And": 16,
    "Or": 16,
    "Not": 1,
    "idiv": 2,
    "imod": 2,
    "iabs": 1,
    "abs": 1,
    "min": 16,
    "max": 16,
    "Min": 16,
    "Max": 16,
    "zext_i64": 1,
    "trunc_i32": 1,
}
"""The functions that docc calls in expressions, and how many arguments each has at most."""

WORDS = frozenset({"True", "False", "__daisy_nullptr", "__nullptr__"})
"""What looks like a name and is none."""

_TOKEN = re.compile(
    r"(?P<name>[^\W\d]\w*)"
    r"|(?P<number>[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,3})?)"
    r"|(?P<sign>\*\*|<=|>=|==|!=|[-+*/<>(),])"
    r"|(?P<blank> +)",
)
_NUMBER_DIGITS = 19

_LEVELS = {
    **dict.fromkeys(("<", "<=", ">", ">=", "==", "!="), 1),
    **dict.fromkeys("+-", 2),
    **dict.fromkeys("*/", 3),
    "**": 5,
}
_SIGN_LEVEL = 4


class _Size(NamedTuple):
    """What would be there, at most, if all products were multiplied out."""

    terms: int = 1
    degree: int = 0
    digits: int = 0


class Expression(NamedTuple):
    """An expression that is in the grammar, cut where its names stand.

    Attributes:
        pieces: what stands before each name, and after the last one.
        names: in order of appearance.
    """

    pieces: tuple[str, ...]
    names: tuple[str, ...]

    def renamed(self, rename: Callable[[str], str]) -> str:
        """The same expression of other names."""
        parts = [self.pieces[0]]
        for name, piece in zip(self.names, self.pieces[1:], strict=True):
            parts += (rename(name), piece)
        return "".join(parts)


def read(text: str) -> Expression:
    """`text`, if it is an expression that docc may write.

    Raises:
        SdfgError: it is none, or too large.
    """
    if len(text) > MAX_LENGTH:
        raise SdfgError(f"an expression of {len(text)} characters is longer than {MAX_LENGTH}")
    tokens = list(_tokens(text))
    _Parser(text, [(kind, token) for kind, token, _, _ in tokens]).check()
    pieces, names, end = [], [], 0
    for place, (kind, token, start, stop) in enumerate(tokens):
        called = place + 1 < len(tokens) and tokens[place + 1][1] == "("
        if kind == "name" and not called and token not in WORDS:
            pieces.append(text[end:start])
            names.append(token)
            end = stop
    return Expression((*pieces, text[end:]), tuple(names))


def _tokens(text: str) -> Iterator[tuple[str, str, int, int]]:
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise SdfgError(f"{_shown(text)} has {text[at]!a} in it, which no expression has")
        at = found.end()
        if found.lastgroup != "blank":
            yield str(found.lastgroup), found.group(), found.start(), at


def _shown(text: str) -> str:
    return f"the expression {text[:40]!a}"


class _Parser:
    """Precedence climbing over the tokens of one expression."""

    def __init__(self, text: str, tokens: list[tuple[str, str]]) -> None:
        self._text = text
        self._tokens = [*tokens, ("end", "")]
        self._at = 0

    def check(self) -> None:
        """Refuse what is no expression.

        Raises:
            SdfgError: see `read`.
        """
        self._operand(0, 0)
        if self._tokens[self._at][0] != "end":
            self._refuse()

    def _refuse(self) -> None:
        what = self._tokens[self._at][1] or "its end"
        raise SdfgError(f"{_shown(self._text)} cannot be read at {what[:20]!a}")

    def _next(self) -> tuple[str, str]:
        token = self._tokens[self._at]
        self._at += 1
        return token

    def _expect(self, sign: str) -> None:
        if self._tokens[self._at][1] != sign:
            self._refuse()
        self._at += 1

    def _operand(self, level: int, depth: int) -> _Size:
        """An operand and all operators behind it that bind more closely than `level`."""
        if depth > MAX_DEPTH:
            raise SdfgError(f"{_shown(self._text)} is nested too deeply")
        size = self._primary(depth)
        while True:
            sign = self._tokens[self._at][1]
            binds = _LEVELS.get(sign, 0)
            if binds <= level:
                return size
            self._at += 1
            if sign == "**":
                size = self._bounded(_power(size, self._exponent()))
                continue
            right = self._operand(binds, depth + 1)
            size = self._bounded(_combined(sign, size, right))

    def _primary(self, depth: int) -> _Size:
        kind, token = self._next()
        if kind == "number":
            return self._number(token)
        if kind == "name":
            if self._tokens[self._at][1] == "(":
                return self._call(token, depth)
            return _Size(degree=0 if token in WORDS else 1)
        if token == "(":
            size = self._operand(0, depth + 1)
            self._expect(")")
            return size
        if token in ("-", "+"):
            return self._operand(_SIGN_LEVEL, depth + 1)
        self._at -= 1
        self._refuse()
        raise AssertionError

    def _number(self, token: str) -> _Size:
        if len(token) > _NUMBER_DIGITS:
            raise SdfgError(f"{_shown(self._text)} has a number of {len(token)} digits")
        return _Size(digits=len(token))

    def _call(self, name: str, depth: int) -> _Size:
        most = FUNCTIONS.get(name)
        if most is None:
            raise SdfgError(f"{_shown(self._text)} calls {name[:40]!a}, which is not known")
        self._expect("(")
        sizes = [self._operand(0, depth + 1)]
        while self._tokens[self._at][1] == ",":
            self._at += 1
            sizes.append(self._operand(0, depth + 1))
        self._expect(")")
        if len(sizes) > most:
            raise SdfgError(f"{_shown(self._text)} calls {name} with {len(sizes)} arguments")
        # The engine may compute a maximum of numbers, so a call has the digits of its arguments.
        return _Size(1, max(s.degree for s in sizes) or 1, max(s.digits for s in sizes))

    def _exponent(self) -> int:
        """A whole number that is written out; docc puts negative ones in parentheses."""
        inside = self._tokens[self._at][1] == "("
        if inside:
            self._at += 1
        negative = self._tokens[self._at][1] == "-"
        if negative:
            self._at += 1
        kind, token = self._next()
        if kind != "number" or not token.isdecimal() or len(token) > 2:
            raise SdfgError(f"{_shown(self._text)} has a power that is no small whole number")
        if inside:
            self._expect(")")
        power = int(token)
        if power > MAX_EXPONENT:
            raise SdfgError(f"{_shown(self._text)} has a power of {power}")
        return -power if negative else power

    def _bounded(self, size: _Size) -> _Size:
        if size.terms > MAX_TERMS or size.degree > MAX_DEGREE or size.digits > MAX_DIGITS:
            raise SdfgError(f"{_shown(self._text)} would grow too large")
        return size


def _combined(sign: str, left: _Size, right: _Size) -> _Size:
    degree, digits = max(left.degree, right.degree), max(left.digits, right.digits)
    if sign in "+-":
        return _Size(left.terms + right.terms, degree, digits)
    if sign in "*/":
        terms = left.terms * right.terms
        return _Size(terms, left.degree + right.degree, left.digits + right.digits)
    return _Size(1, degree, digits)


def _power(base: _Size, exponent: int) -> _Size:
    times = abs(exponent)
    return _Size(base.terms**times, base.degree * times, base.digits * times)
