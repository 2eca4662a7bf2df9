"""Index expressions as docc prints them, read as polynomials.

docc writes subsets, bounds and conditions as text (``j + i*_s0``, ``And(i < _s0, i < 4 + t)``).
The order of the terms depends on the names of the variables, so two texts can only be compared
after they have been brought into a normal form. All of this is text and arithmetic, without docc.

Trees hold them as `Expr`: the text is kept as it came, and what it means is worked out when it is
asked for.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from loopbook.errors import SdfgError

Monomial = tuple[str, ...]
"""The symbols of one term, sorted, each as often as its power; ``()`` is the constant term."""

Polynomial = Mapping[Monomial, int]

ONE: Polynomial = {(): 1}

MAX_EXPRESSION = 20_000
MAX_TERMS = 512
MAX_POWER = 64

_WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class Expr:
    """An index expression, a bound or a condition, by its text. Texts that say the same in other
    words are different."""

    text: str

    def __str__(self) -> str:
        return self.text

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Expr) and self.text == other.text)

    def __hash__(self) -> int:
        return hash(self.text)  # which knows it

    @property
    def symbols(self) -> frozenset[str]:
        """The names in it, those of functions included."""
        return _symbols(self.text)

    @property
    def polynomial(self) -> Polynomial:
        """See `polynomial`.

        Raises:
            SdfgError: if it cannot be read.
        """
        return polynomial(self.text)

    def renamed(self, names: Mapping[str, str]) -> Expr:
        """With other names, or expressions, in the place of names."""
        return self if self.symbols.isdisjoint(names) else Expr(substitute(self.text, names))


@lru_cache(maxsize=65536)
def _symbols(text: str) -> frozenset[str]:
    return frozenset(symbols(text))


def arguments(node: ast.expr, function: str) -> Iterator[ast.expr]:
    """The arguments of a call to "min", "max" or "and", and of such calls among them; the node
    itself if it is none. docc writes them as ``__daisy_min``, ``Min`` and ``And`` too."""
    match node:
        case ast.Call(func=ast.Name(id=name), args=args) if (
            name.lower().removeprefix("__daisy_") == function
        ):
            for arg in args:
                yield from arguments(arg, function)
        case _:
            yield node


def symbols(text: str) -> list[str]:
    """The identifiers in ``text``, in order of appearance, function names included."""
    return _WORD.findall(text)


def substitute(text: str, names: Mapping[str, str]) -> str:
    """``text`` with whole identifiers replaced by ``names``."""
    return _WORD.sub(lambda m: names.get(m.group(), m.group()), text)


@lru_cache(maxsize=65536)
def parse(text: str) -> ast.expr:
    """The syntax tree of one expression.

    Raises:
        SdfgError: if ``text`` is no expression, or too long to be a real one.
    """
    if len(text) > MAX_EXPRESSION:
        raise SdfgError(f"an index expression of {len(text)} characters is too long")
    try:
        return ast.parse(text.strip().replace("!=", " != "), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise SdfgError(f"cannot read the index expression {text[:60]!r}") from None


@lru_cache(maxsize=65536)
def polynomial(text: str) -> Polynomial:
    """``text`` expanded into a polynomial.

    What is no sum of products (a call, a division, a comparison) becomes one opaque symbol
    written as its normal-form text, such as ``idiv(2 + n,2)``.
    """
    return _expand(parse(text))


@lru_cache(maxsize=65536)
def expanded(node: ast.expr) -> Polynomial:
    """`polynomial` of a part of what `parse` gave."""
    return _expand(node)


def _expand(node: ast.expr) -> dict[Monomial, int]:
    match node:
        case ast.Constant(value=bool()):
            return {(str(node.value),): 1}
        case ast.Constant(value=int(value)):
            return {(): value} if value else {}
        case ast.Name(id=name):
            return {(name,): 1}
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return plus({}, _expand(operand), -1)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _expand(operand)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return plus(_expand(left), _expand(right))
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return plus(_expand(left), _expand(right), -1)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return product(_expand(left), _expand(right))
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=int(power))) if (
            _is_multiplied_out(node)
        ):
            result: dict[Monomial, int] = {(): 1}
            for _ in range(power):
                result = product(result, _expand(left))
            return result
        case _:
            return {(_render(node, str),): 1}


def _is_multiplied_out(power: ast.BinOp) -> bool:
    """Whether a power is written as a product: a small one, or one of a single symbol."""
    match power.right:
        case ast.Constant(value=int(times)):
            return 0 <= times <= (MAX_POWER if isinstance(power.left, ast.Name) else 8)
    return False


def plus(a: Polynomial, b: Polynomial, factor: int = 1) -> dict[Monomial, int]:
    """``a + factor*b``."""
    total = dict(a)
    for monomial, value in b.items():
        changed = total.get(monomial, 0) + factor * value
        if changed:
            total[monomial] = changed
        else:
            total.pop(monomial, None)
    return total


def mentioned(a: Polynomial) -> set[str]:
    """The names in a polynomial, those inside of opaque symbols too."""
    return {name for monomial in a for symbol in monomial for name in symbols(symbol)}


def growth(a: Polynomial, variable: str) -> dict[Monomial, int]:
    """What a polynomial grows by from one iteration of a loop to the next; of its products, too."""
    return {
        tuple(name for name in monomial if name != variable): factor
        for monomial, factor in a.items()
        if variable in mentioned({monomial: factor})
    }


def over_one(a: Polynomial) -> dict[Monomial, int]:
    """A polynomial in terms of what its symbols are over 1: without negative factors, it is 0 or
    more wherever all symbols are 1 or more, as sizes are."""
    total: dict[Monomial, int] = {}
    for monomial, factor in a.items():
        term: Polynomial = {(): factor}
        for symbol in monomial:
            term = product(term, {(symbol,): 1, (): 1})
        total = plus(total, term)
    return total


def text(a: Polynomial) -> str:
    """A polynomial as docc reads it, in parentheses unless it is one word."""
    terms = (
        "*".join([str(factor), *monomial] if factor != 1 or not monomial else monomial)
        for monomial, factor in sorted(a.items())
    )
    whole = " + ".join(terms) or "0"
    return whole if whole.isidentifier() or whole.isdigit() else f"({whole})"


def conjunction(*tests: str) -> Expr:
    """A condition that holds where all of some hold."""
    parts = [ast.unparse(part) for test in tests for part in arguments(parse(test), "and")]
    return Expr(f"And({', '.join(f'({part})' for part in parts)})" if len(parts) > 1 else tests[0])


def product(a: Polynomial, b: Polynomial) -> dict[Monomial, int]:
    """``a*b``.

    Raises:
        SdfgError: if it would have too many terms.
    """
    if len(a) * len(b) > MAX_TERMS:
        raise SdfgError("an index expression has too many terms")
    total: dict[Monomial, int] = {}
    for left, x in a.items():
        for right, y in b.items():
            total = plus(total, {tuple(sorted(left + right)): x * y})
    return total


def leading(a: Polynomial) -> Monomial:
    """The term of the highest degree, and the last one of these by name."""
    return max(a, key=lambda monomial: (len(monomial), monomial))


def divided(value: Polynomial, by: Polynomial) -> tuple[dict[Monomial, int], dict[Monomial, int]]:
    """Quotient and rest, by the leading term of the divisor.

    Raises:
        SdfgError: if it has too many terms.
    """
    lead = leading(by)
    quotient: dict[Monomial, int] = {}
    rest = dict(value)
    for _ in range(MAX_TERMS):
        for monomial in sorted(rest, key=lambda m: (-len(m), m)):
            times = over(monomial, lead)
            if times is not None and rest[monomial] % by[lead] == 0:
                factor = rest[monomial] // by[lead]
                quotient[times] = quotient.get(times, 0) + factor
                rest = plus(rest, product({times: factor}, by), -1)
                break
        else:
            return {m: f for m, f in quotient.items() if f}, rest
    raise SdfgError("an index expression has too many terms")


@lru_cache(maxsize=4096)
def over(large: Monomial, small: Monomial) -> Monomial | None:
    """``large / small`` if that is a monomial."""
    rest = Counter(large)
    rest.subtract(small)
    if any(count < 0 for count in rest.values()):
        return None
    return tuple(sorted(rest.elements()))


def normal_form(text: str, rename: Callable[[str], str] = str) -> str:
    """``text`` written so that equal expressions give equal texts, with symbols renamed.

    Args:
        rename: called with each symbol; what it returns stands in the result.

    Raises:
        SdfgError: if ``text`` is no expression.
    """
    try:
        known = tuple((name, rename(name)) for name in _names(text))
        return _normal_form(text, known) or _render(parse(text), rename)
    except RecursionError:
        raise SdfgError(f"the index expression {text[:60]!r} is nested too deeply") from None


@lru_cache(maxsize=65536)
def _names(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(symbols(text)))


@lru_cache(maxsize=65536)
def _normal_form(text: str, names: tuple[tuple[str, str], ...]) -> str:
    """The normal form with these names in the place of its own; nothing where rendering asks about
    a name that does not stand in the text, as that of a function for a power."""
    try:
        return _render(parse(text), dict(names).__getitem__)
    except KeyError:
        return ""


def normal_forms(texts: Iterable[str]) -> tuple[str, ...]:
    """The `normal_form` of each, such as of the indices of a subset."""
    return tuple(normal_form(text) for text in texts)


def smallest(texts: Iterable[str]) -> str:
    """The least of some expressions."""
    return _extreme("min", texts)


def largest(texts: Iterable[str]) -> str:
    """The greatest of some expressions."""
    return _extreme("max", texts)


def _extreme(function: str, texts: Iterable[str]) -> str:
    first, *rest = dict.fromkeys(texts)
    for text in rest:
        first = f"{function}({first}, {text})"
    return first


_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
_COMMUTATIVE = {"And", "Or", "__daisy_min", "__daisy_max", "min", "max", "Min", "Max"}


def _render(node: ast.expr, rename: Callable[[str], str]) -> str:
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            sign = _COMPARISONS.get(type(op), "?")
            sides = [_render(left, rename), _render(right, rename)]
            if sign in ("==", "!="):
                sides.sort()
            return f"({sides[0]} {sign} {sides[1]})"
        case ast.Call(func=ast.Name(id=name), args=args):
            rendered = [_render(a, rename) for a in args]
            if name in _COMMUTATIVE:
                rendered.sort()
            return f"{name}({','.join(rendered)})"
        case ast.BoolOp(op=op, values=values):
            name = "And" if isinstance(op, ast.And) else "Or"
            return f"{name}({','.join(sorted(_render(v, rename) for v in values))})"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return f"Not({_render(operand, rename)})"
        case ast.Constant(value=float(value)):
            return repr(value)
        case ast.Name() | ast.Constant() | ast.UnaryOp() | ast.BinOp():
            return _render_polynomial(node, rename)
        case _:
            return substitute(ast.unparse(node), _Renaming(rename))


def _render_polynomial(node: ast.expr, rename: Callable[[str], str]) -> str:
    if isinstance(node, ast.BinOp) and not isinstance(
        node.op, ast.Add | ast.Sub | ast.Mult | ast.Pow
    ):
        left, right = _render(node.left, rename), _render(node.right, rename)
        return f"({left} {type(node.op).__name__} {right})"
    if (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Pow)
        and not _is_multiplied_out(node)
    ):
        return f"pow({_render(node.left, rename)},{_render(node.right, rename)})"
    terms = []
    for monomial, factor in _expand_renamed(node, rename).items():
        body = "*".join(monomial)
        terms.append((body, factor))
    terms.sort()
    return " + ".join(str(f) if not b else (b if f == 1 else f"{f}*{b}") for b, f in terms) or "0"


def _expand_renamed(node: ast.expr, rename: Callable[[str], str]) -> Polynomial:
    renamed: dict[Monomial, int] = {}
    for monomial, factor in expanded(node).items():
        names = [rename(s) if _WORD.fullmatch(s) else normal_form(s, rename) for s in monomial]
        key = tuple(sorted(names))
        renamed[key] = renamed.get(key, 0) + factor
    return {monomial: factor for monomial, factor in renamed.items() if factor}


class _Renaming(dict[str, str]):
    """A mapping view of a renaming function, for `substitute`."""

    def __init__(self, rename: Callable[[str], str]) -> None:
        super().__init__()
        self._rename = rename

    def get(self, key: str, default: str | None = None) -> str:  # type: ignore[override]
        return self._rename(key)
