"""Operators on numbers, as source text that docc translates right.

docc 0.8 is wrong, or refuses, for ``//`` and ``>>`` of negative numbers
(`loopbook.frontend.division`), ``%`` and negation of short integers, ``a if c else b``, comparisons
with numbers such as ``1e-05``, and reads both sides of ``and``; none of them leaves this file::

    -a       (ints)    0 - a
    a ** 2             s_0 = a;  s_0 * s_0
    a if c else b      s_0 = b;  if c: s_0 = a      (`loopbook.frontend.choices`)
"""

from __future__ import annotations

import operator
import re
from dataclasses import replace

import numpy as np

from loopbook.frontend import complexes, types, unsigned
from loopbook.frontend.code import Code, bare
from loopbook.frontend.narrow import SHORT, held_as, modular, unwrapped, wrapped, wraps
from loopbook.frontend.sorts import computed
from loopbook.frontend.symbols import Int
from loopbook.frontend.types import BOOL, FLOAT, INT, SINGLE, WIDE
from loopbook.frontend.values import Pair, Scalar, constant

PYTHON = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "//": operator.floordiv, "%": operator.mod, "**": operator.pow, "&": operator.and_,
    "|": operator.or_, "^": operator.xor, "<<": operator.lshift, ">>": operator.rshift,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq,
    "!=": operator.ne,
}  # fmt: skip
COMPARISONS = frozenset(("<", "<=", ">", ">=", "==", "!="))


def chosen(
    code: Code, test: str, then: str, other: str, dtype: np.dtype, weak: bool = False
) -> Scalar:
    """A variable that holds one of two texts' values."""
    name = code.chosen(test, then, other)
    return Scalar(name, dtype, weak, Int.atom(name) if dtype.kind in "iu" else None)


def whole(value: Int) -> Scalar:
    """A Python number known as a polynomial."""
    known = value.constant
    return Scalar(value.operand, INT, True, value, known)


def convert(code: Code, value: Scalar, dtype: np.dtype) -> Scalar:
    """`value` as a number of another type, for use in an expression."""
    if value.dtype == dtype:
        return value
    if dtype == types.WIDE and code.wide:
        return unsigned.word(code, value)
    if unsigned.is_wide(code, value) and dtype.kind == "f":
        return replace(unsigned.real(code, value), dtype=dtype)
    if "c" in (dtype.kind, value.dtype.kind):
        return complexes.convert(code, value, dtype)
    if value.value is not None:
        try:
            number = dtype.type(value.value)
        except (OverflowError, ValueError):
            raise code.fail(f"{value.text} as {dtype}") from None
        return Scalar(types.literal(number), dtype, value.weak, value=number)
    if dtype.kind == "b":
        return Scalar(f"({value.text} != 0)", dtype)
    if dtype.kind == "f":
        value = early(code, value)
        if value.dtype.kind == "f" and dtype.itemsize < value.dtype.itemsize:
            return Scalar(value.text, dtype)
        return Scalar(f"float({bare(value.text)})", dtype)
    of_reals = value.dtype.kind in "bf"
    if of_reals:
        value = Scalar(f"int({bare(value.text)})", INT)
    if not np.can_cast(value.dtype, dtype):
        text = word(value).text
        found = wrapped(text, dtype) if of_reals else modular(text, dtype)
        if found != text:
            return Scalar(found, dtype)
    return Scalar(word(value).text if dtype == INT else value.text, dtype, whole=value.whole)


def truth(value: Scalar) -> Scalar:
    """Whether a number counts as true."""
    if value.value is not None:
        return replace(constant(bool(value.value)), weak=value.weak or value.dtype.kind != "b")
    if isinstance(value, Pair):
        return Scalar(f"({' or '.join(f'{text} != 0.0' for text in value.texts)})", BOOL)
    return value if value.dtype.kind == "b" else Scalar(f"({value.text} != 0)", BOOL)


def binary(code: Code, op: str, left: Scalar, right: Scalar) -> Scalar:
    """``left op right`` with NumPy 2's result type.

    Raises:
        LoweringError: for operators that have no form in loops.
    """
    found = _binary(code, op, left, right)
    return computed(code, op, found, left, right) if op in "+-*/" else found


def _binary(code: Code, op: str, left: Scalar, right: Scalar) -> Scalar:
    if left.value is not None and right.value is not None and left.weak and right.weak:
        try:
            return constant(PYTHON[op](left.value, right.value))
        except (ArithmeticError, TypeError, ValueError) as error:
            raise code.fail(f"{left.text} {op} {right.text}: {error}") from None
    if op in COMPARISONS:
        return compare(code, op, left, right)
    if code.wide and WIDE in (left.dtype, right.dtype):
        dtype, weak = types.promote(left.kind, right.kind)
        if dtype == WIDE and op not in ("/", "**"):
            return unsigned.binary(code, op, left, right)
        if dtype.kind == "f" or op == "/":
            left, right = (
                unsigned.real(code, one) if one.dtype == WIDE else one for one in (left, right)
            )
        else:
            raise code.fail(f"{op} of {left.dtype} and {right.dtype}")
    from loopbook.frontend import division

    dtype, weak = types.promote(left.kind, right.kind)
    if wraps(dtype):
        for one in (left, right):
            _demand_fit(code, one, dtype)
    if dtype.kind == "c":
        return complexes.binary(code, op, left, right, dtype, weak)
    if dtype.kind == "b":
        if op in "&|^":
            return logical(op, left, right)
        if not weak:
            if op in ("+", "*"):
                return logical({"+": "|", "*": "&"}[op], left, right)
            if op != "/":
                raise code.fail(f"{op} of booleans")
        dtype = INT
    if op == "/" and dtype.kind != "f":
        dtype = FLOAT
    if dtype.kind == "f":
        left, right = early(code, left), early(code, right)
    left, right = _number(left, dtype), _number(right, dtype)
    if dtype == SINGLE:
        left, right = single(code, left), single(code, right)
    if dtype == FLOAT:
        left, right = _beside(left, right), _beside(right, left)
    if dtype == INT:
        left, right = (word(one) if one.dtype == SHORT else one for one in (left, right))
    known = left.whole is not None and right.whole is not None and dtype == INT
    if op in "+-*" and known:
        found = PYTHON[op](left.whole, right.whole)
        return Scalar(found.operand, dtype, weak, found, found.constant)
    if op in ("+", "-", "*", "/"):
        return _modular(op, left, right, dtype, weak)
    if op == "**":
        from loopbook.frontend.powers import power

        found = power(code, word(left) if dtype == SHORT else left, right, dtype, weak)
        return (
            replace(found, text=modular(found.text, dtype), whole=None) if wraps(dtype) else found
        )
    if op in ("//", "%"):
        found = division.divided(code, op, left, right, dtype, weak)
        # Only the least number by -1 leaves the type.
        return (
            replace(found, text=modular(found.text, dtype), whole=None)
            if op == "//" and wraps(dtype) and dtype.kind == "i"
            else found
        )
    if dtype.kind not in "iu":
        raise code.fail(f"{op} of numbers that are not whole")
    if op == ">>":
        if dtype != INT or not division.symbolic(code, left):
            return Scalar(division.shifted(code, op, left, right, weak), dtype, weak)
        divisor = binary(code, "<<", constant(1), division.places(code, right))
        return division.divided(code, "//", left, divisor, dtype, weak)
    if op == "<<":
        left = replace(left, text=unwrapped(left.text, dtype))
        return Scalar(modular(division.shifted(code, op, left, right, weak), dtype), dtype, weak)
    return Scalar(f"({left.text} {op} {right.text})", dtype, weak)


def _demand_fit(code: Code, value: Scalar, dtype: np.dtype) -> None:
    """Take for granted that one of Python's numbers among the arguments has room in a narrow type:
    NumPy raises where it has not, as it does for numbers that stand in the function."""
    if not value.weak:
        return
    ends = np.iinfo(dtype)
    known = code.facts.values.get(value.text) if value.value is None else value.value
    if known is not None and not ends.min <= known <= ends.max:
        raise code.fail(f"{value.text} as {dtype}")
    if value.value is None and value.text in code.arguments:
        code.facts.guards[f"{ends.min} <= {value.text} <= {ends.max}"] = None


def _modular(op: str, left: Scalar, right: Scalar, dtype: np.dtype, weak: bool) -> Scalar:
    """What is the same whether its operands have been wrapped or not, wrapped."""
    if dtype.kind == "f":
        return Scalar(f"({left.text} {op} {right.text})", dtype, weak)
    parts = [word(one) if dtype == SHORT else one for one in (left, right)]
    first, second = (unwrapped(part.text, dtype) for part in parts)
    return Scalar(modular(f"({first} {op} {second})", dtype), dtype, weak)


def early(code: Code, value: Scalar) -> Scalar:
    """A product of sizes that becomes a float, computed before the loops: docc multiplies sizes in
    words of 32 bits there, and ``n * (n**2 - 1)`` leaves them at 1,291."""
    whole = value.whole
    if whole is None or all(len(atoms) < 2 for atoms, _ in whole.terms):
        return value
    if code.facts.known(whole) is None:
        return value
    found = code.facts.derive(whole.text, [whole], lambda n: n)
    return replace(value, text=found.text, whole=found)


def _number(value: Scalar, dtype: np.dtype) -> Scalar:
    if value.dtype.kind == "b" and value.value is None:
        kind = "float" if dtype.kind == "f" else "int"
        return Scalar(f"{kind}({bare(value.text)})", dtype, value.weak)
    if value.dtype.kind == "b" and dtype.kind == "i":
        return replace(constant(int(value.value)), weak=value.weak)
    if value.value is not None and dtype.kind == "f" and value.dtype.kind != "f":
        return Scalar(
            types.literal(float(value.value)), FLOAT, value.weak, value=float(value.value)
        )
    return value


def single(code: Code, value: Scalar) -> Scalar:
    """What NumPy makes of one side of an operation on floats of 32 bits: Python's numbers are
    rounded to such, here those that are known before the loops. docc takes them for doubles, and
    knows no numbers of 32 bits but elements of arrays."""
    if value.value is not None:
        with np.errstate(over="ignore"):
            number = np.float32(value.value)
        code.differs |= float(number) != float(value.value)
        kind = SINGLE if value.dtype == SINGLE else FLOAT
        return Scalar(types.literal(number), kind, value.weak, value=float(number))
    text = None if value.dtype.kind == "b" else _in_arguments(code, value.text)
    if text is None:
        return value
    code.differs = True
    name = code.facts.defined(f"np.array([{bare(text)}], np.float32)", "single_")
    return Scalar(f"{name}[0]", SINGLE)


def _beside(value: Scalar, other: Scalar) -> Scalar:
    """A float of 32 bits beside one of 64 that is known, which docc takes for Python's."""
    if value.dtype == SINGLE and value.value is None and other.value is not None:
        return Scalar(f"float({bare(value.text)})", FLOAT)
    return value


_SIZE = re.compile(r"\b\w+\.shape\[\d+\]")


def _in_arguments(code: Code, text: str, steps: int = 4) -> str | None:
    """Text in terms of arguments and sizes alone; None where more is needed, or where what it names
    is not computed of such once, in front of all loops."""
    for name in set(re.findall(r"[A-Za-z_]\w*", _SIZE.sub("", text))):
        if name in code.mutable:
            return None
        if name in code.arguments:
            continue
        inner = code.computed.get(name)
        inner = _in_arguments(code, inner, steps - 1) if inner and steps else None
        if inner is None:
            return None
        text = re.sub(rf"\b{name}\b", f"({inner})", text)
    return None if "[" in _SIZE.sub("", text) else text


def word(value: Scalar) -> Scalar:
    """A whole number as a word of 64 bits: docc's remainder is right for those only, and a variable
    that begins with fewer bits has no more later. ``int`` alone docc leaves out."""
    if held_as(value.dtype) == INT or value.value is not None:
        return value
    return Scalar(f"(int({bare(value.text)}) | 0)", INT, value.weak)


def real_of(value: Scalar) -> Scalar:
    """A number as a C double, whatever it is."""
    if value.value is not None:
        return Scalar(
            types.literal(float(value.value)), FLOAT, value.weak, value=float(value.value)
        )
    if value.dtype == FLOAT:
        return value
    return Scalar(f"float({bare(value.text)})", FLOAT, value.weak)


DIGITS = 15
"""That docc keeps of a number in a condition."""


def compare(code: Code, op: str, left: Scalar, right: Scalar) -> Scalar:
    """``left op right`` as a boolean: Python's, where both numbers are."""
    return replace(_comparison(code, op, left, right), weak=left.weak and right.weak)


def _comparison(code: Code, op: str, left: Scalar, right: Scalar) -> Scalar:
    if unsigned.is_wide(code, left, right):
        if "f" not in (left.dtype.kind, right.dtype.kind):
            return unsigned.compare(code, op, left, right)
        left, right = (
            unsigned.real(code, one) if one.dtype == WIDE else one for one in (left, right)
        )
    if left.dtype.kind == "c" or right.dtype.kind == "c":
        return complexes.compare(code, op, left, right)
    if left.whole is not None and right.whole is not None:
        known = _decided(code, op, left.whole - right.whole)
        if known is not None:
            return constant(known)
    if left.weak and right.weak and left.value is not None and right.value is not None:
        return constant(bool(PYTHON[op](left.value, right.value)))
    if left.dtype.kind in "biu" and right.dtype.kind in "biu" and left.text == right.text:
        return constant(bool(PYTHON[op](0, 0)))  # no number is nothing else, which a float may be
    if left.dtype.kind == right.dtype.kind == "b":
        if op in ("==", "!="):
            left, right = _number(left, INT), _number(right, INT)
        else:
            raise code.fail("comparing booleans by size")
    left, right = _number(left, right.dtype), _number(right, left.dtype)
    common = types.promote(left.kind, right.kind)[0]
    if common == SINGLE:
        left, right = single(code, left), single(code, right)
    elif common == FLOAT:
        left, right = _beside(left, right), _beside(right, left)
    return Scalar(f"({_compared(code, left)} {op} {_compared(code, right)})", BOOL)


def _decided(code: Code, op: str, gap: Int) -> bool | None:
    """What is known of ``gap op 0``: of loops' variables only what their ranges say by numbers."""
    if gap.constant is not None:
        return bool(PYTHON[op](gap.constant, 0))
    if code.facts.known(gap) is None:
        ends = (code.facts.bound(gap, upper) for upper in (False, True))
        low, high = (None if end is None else end.constant for end in ends)
        if low is not None and (low > 0 or (low == 0 and op in (">=", "<"))):
            return bool(PYTHON[op](low, 0))
        if high is not None and (high < 0 or (high == 0 and op in ("<=", ">"))):
            return bool(PYTHON[op](high, 0))
        return None
    if op in ("==", "!="):
        return code.facts.zero(gap) == (op == "==")
    if op in (">=", "<"):
        return code.facts.nonnegative(gap) == (op == ">=")
    return code.facts.nonnegative(-gap) == (op == "<=")


def _compared(code: Code, value: Scalar) -> str:
    """Its text in a comparison. docc takes ``x - y > 0`` for ``x > y``, whatever overflows, if it
    sees the difference; of numbers it keeps 15 digits, and no exponent."""
    if value.dtype == INT and value.whole is None and not value.simple:
        return f"({value.text} | 0)"
    digits = value.text.strip("()-").replace(".", "", 1)
    if (
        value.value is not None
        and value.dtype.kind == "f"
        and not (digits.isdigit() and len(digits) <= DIGITS)
    ):
        name = code.fresh("c_")
        code.emit(f"{name} = {bare(value.text)}")
        return name
    return value.text


def logical(op: str, left: Scalar, right: Scalar) -> Scalar:
    """``and``, ``or``, exclusive or of booleans."""
    left, right = truth(left), truth(right)
    weak = left.weak and right.weak
    for known, other in ((left, right), (right, left)):
        if known.value is not None and (op != "^" or other.value is not None):
            return replace(_with_known(op, bool(known.value), other), weak=weak)
    if op == "^" and left.text == right.text:
        return replace(constant(False), weak=weak)
    if op == "^":
        return Scalar(f"(int({bare(left.text)}) != int({bare(right.text)}))", BOOL, weak)
    return Scalar(f"({left.text} {'and' if op == '&' else 'or'} {right.text})", BOOL, weak)


def _with_known(op: str, known: bool, other: Scalar) -> Scalar:
    """The same where one of the two is known: docc does not understand all constants."""
    if op == "^":
        return constant(known != bool(other.value))
    return other if known == (op == "&") else constant(known)


def unary(code: Code, op: str, value: Scalar) -> Scalar:
    """``-value``, ``+value``, ``~value``, ``not value``."""
    found = _unary(code, op, value)
    return computed(code, op, found, value) if op == "-" else found


def _unary(code: Code, op: str, value: Scalar) -> Scalar:
    if value.value is not None and (value.weak or op == "not"):
        found = {"-": operator.neg, "+": operator.pos, "~": operator.invert, "not": operator.not_}
        return constant(found[op](value.value))
    if op in "~+-" and value.weak:
        value = _number(value, INT)  # Python's ~True is -2, and +True 1
    if op == "not" or (op == "~" and value.dtype.kind == "b"):
        value = truth(value)
        if value.value is not None:
            return replace(constant(not value.value), weak=op == "not")
        return Scalar(f"(not {value.text})", BOOL, op == "not")
    if op == "+" and value.dtype.kind != "b":
        return value
    if op == "~" and value.dtype.kind not in "iu":
        raise code.fail("~ of what is no whole number")
    if op == "~" and unsigned.is_wide(code, value):
        return Scalar(f"(-1 - {value.text})", WIDE)
    if op == "~":
        kind = SHORT if value.dtype == SHORT else INT
        return convert(code, Scalar(f"(-1 - {value.text})", kind, value.weak), value.dtype)
    if isinstance(value, Pair):
        return Pair([f"(-{text})" for text in value.texts], value.dtype, value.weak)
    if value.dtype.kind == "b":
        raise code.fail(f"{op} of a boolean; use ~ or logical_not")
    if value.whole is not None and value.dtype == INT:
        return Scalar((-value.whole).operand, value.dtype, value.weak, -value.whole)
    if value.dtype.kind in "iu":
        return _modular("-", constant(0), value, value.dtype, value.weak)
    return Scalar(f"(-{value.text})", value.dtype, value.weak)


def function(code: Code, name: str, value: Scalar, dtype: np.dtype | None = None) -> Scalar:
    """``math.name(value)``, in the type that NumPy computes it in."""
    dtype = dtype or types.floating(value.dtype)
    if isinstance(value, Pair):
        return complexes.function(code, name, value)
    if dtype.itemsize < 4 or dtype.kind != "f":
        raise code.fail(f"{name} of {value.dtype}; convert it to float64 first")
    if unsigned.is_wide(code, value):
        value = unsigned.real(code, value)
    if value.dtype.kind != "f" or value.value is not None:
        value = real_of(early(code, value))
    return Scalar(f"math.{name}({bare(value.text)})", dtype, value.weak)


def function2(code: Code, name: str, left: Scalar, right: Scalar) -> Scalar:
    """``math.name(left, right)``."""
    dtype, weak = types.promote(left.kind, right.kind)
    dtype = types.floating(dtype)
    if dtype.itemsize < 4 or dtype.kind != "f":
        raise code.fail(f"{name} of {dtype}; convert it to float64 first")
    texts = bare(real_of(left).text), bare(real_of(right).text)
    return Scalar(f"math.{name}({texts[0]}, {texts[1]})", dtype, weak)


def absolute(code: Code, value: Scalar) -> Scalar:
    """The absolute value."""
    if value.value is not None and value.weak:
        return constant(abs(value.value))
    if value.dtype.kind in "bu":
        return _number(value, INT) if value.weak else value
    if isinstance(value, Pair):
        text = f"math.hypot({', '.join(complexes.alike(value))})"
        return Scalar(text, types.part(value.dtype), value.weak)
    if value.dtype.kind == "f":
        return Scalar(f"math.fabs({bare(value.text)})", value.dtype, value.weak)
    value = code.let(value)
    return chosen(
        code, f"{value.text} < 0", modular(f"0 - {word(value).text}", value.dtype), value.text,
        value.dtype, value.weak,
    )  # fmt: skip
