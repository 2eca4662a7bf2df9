"""Functions of single elements.

Before::

    y = np.where(x > 0, np.sqrt(x), 0)

After::

    for i0 in range(x.shape[0]):
        y[i0] = math.sqrt(x[i0]) if x[i0] > 0 else 0.0
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from loopbook.frontend import arith, choices, division, nests, types, unsigned
from loopbook.frontend.casts import strong
from loopbook.frontend.code import bare
from loopbook.frontend.indexing import FULL, store_at
from loopbook.frontend.narrow import SHORT
from loopbook.frontend.operators import lift
from loopbook.frontend.registry import ELEMENTWISE, FUNCTIONS, lowers
from loopbook.frontend.translate import Translator
from loopbook.frontend.types import BOOL
from loopbook.frontend.values import Array, Listing, Pair, Scalar, Thing, Value, boxed

Form = Callable[..., Scalar]


def ufunc(*functions: Any, cost: int = 1) -> Callable[[Form], Form]:
    """Register a form for single elements, with ``out`` and ``where`` left to NumPy's rules."""

    def register(form: Form) -> Form:
        def lowering(
            t: Translator,
            *args: Value,
            out: Value | None = None,
            where: Value | None = None,
            dtype: Value | None = None,
        ):
            count = form.__code__.co_argcount - 1
            if len(args) > count and out is None:
                *args, out = args  # type: ignore[assignment]
            kind = None if dtype is None else np.dtype(t.python(dtype))
            if kind is not None:
                args = tuple(_computed_as(t, arg, kind) for arg in args)
            result = lift(t, lambda *scalars: form(t.code, *scalars), *args, cost=cost)
            return into(t, out, result if kind is None else cast(t, result, kind), where)

        def strong(t: Translator, *args: Value, **kwargs: Value) -> Value:
            """NumPy's functions give NumPy's numbers, of Python's too, and of lists arrays."""
            args = tuple(t.array(arg) if isinstance(arg, Listing) else arg for arg in args)
            result = lowering(t, *args, **kwargs)
            return cast(t, result, result.dtype) if _weak(result) else result

        for function in functions:
            of_numpy = isinstance(function, np.ufunc) or function is np.fix
            FUNCTIONS[function] = strong if of_numpy else lowering
            ELEMENTWISE.add(function)
        return form

    return register


def _computed_as(t: Translator, value: Value, dtype: np.dtype) -> Value:
    """What is computed with where ``dtype=`` says what the result is to be: ``np.add(a, b,
    dtype=int)`` of bytes does not wrap around at theirs."""
    if not isinstance(value, Scalar):
        value = t.array(value)
    if not np.can_cast(value.dtype, dtype, "same_kind") and not _weak(value):
        raise t.code.fail(f"numbers of {value.dtype} in what is computed as {dtype}")
    return cast(t, value, dtype)


def _weak(value: Value) -> bool:
    return isinstance(value, Scalar) and value.weak


def into(t: Translator, out: Value | None, result: Value, where: Value | None = None) -> Value:
    """Store a result where ``out=`` says, in the places that ``where=`` says."""
    if isinstance(where, Scalar) and where.value is not None and bool(where.value):
        where = None
    if out is None or (isinstance(out, Thing) and out.value is None):
        if where is None:
            return result
        raise t.code.fail("where= without out=, which leaves elements as they lie in memory")
    out = _memory(t, out)
    if where is None:
        store_at(t, out, [FULL] * out.rank, result)
        return out
    mask = t.array(where)
    value = result if isinstance(result, Scalar) else t.array(result)
    shape = nests.agreed(t.code, out.shape, mask.shape)
    if isinstance(value, Array):
        shape = nests.agreed(t.code, shape, value.shape)
    nests.assign(t.code, replace(out, shape=shape), value, nests.fit(t.code, mask, shape))
    return out


def _memory(t: Translator, out: Value) -> Array:
    """What is stored into; an expression that was not computed yet is, for all its names."""
    if not isinstance(out, Array):
        raise t.code.fail("out= that is no array in memory")
    if out.view is not None:
        return out
    made = t.stored(out)
    for frame in t.frames:
        frame.env.update({name: made for name, held in frame.env.items() if held is out})
    return made


def _maths(function: Any, name: str, python: Any = None, cost: int = 8) -> None:
    known = [f for f in (function, python) if f is not None]
    ufunc(*known, cost=cost)(lambda code, x: arith.function(code, name, x))


for _name, _function in (
    ("sin", np.sin), ("cos", np.cos), ("tan", np.tan), ("asin", np.arcsin), ("acos", np.arccos),
    ("atan", np.arctan), ("sinh", np.sinh), ("cosh", np.cosh), ("tanh", np.tanh),
    ("asinh", np.arcsinh), ("acosh", np.arccosh), ("atanh", np.arctanh), ("exp", np.exp),
    ("exp2", np.exp2), ("expm1", np.expm1), ("log", np.log), ("log2", np.log2),
    ("log10", np.log10), ("log1p", np.log1p), ("sqrt", np.sqrt), ("cbrt", np.cbrt),
):  # fmt: skip
    _maths(_function, _name, getattr(math, _name, None), cost=4 if _name == "sqrt" else 8)


def _rounding(name: str) -> Form:
    def form(code, x: Scalar) -> Scalar:
        return x if x.dtype.kind in "biu" else arith.function(code, name, x)

    return form


ufunc(np.floor)(lambda code, x: _rounding("floor")(code, x))
ufunc(np.ceil)(lambda code, x: _rounding("ceil")(code, x))
ufunc(np.trunc, np.fix)(lambda code, x: _rounding("trunc")(code, x))
ufunc(math.floor)(lambda code, x: arith.convert(code, _rounding("floor")(code, x), types.INT))
ufunc(math.ceil)(lambda code, x: arith.convert(code, _rounding("ceil")(code, x), types.INT))
ufunc(math.trunc)(lambda code, x: arith.convert(code, _rounding("trunc")(code, x), types.INT))


@ufunc(np.rint, cost=6)
def _numpys_rint(code, x: Scalar) -> Scalar:
    """`rint`; NumPy's function makes floats of whole numbers, its ``round`` does not."""
    kind = types.floating(x.dtype)
    if kind not in types.SUPPORTED:
        raise code.fail(f"rint of {x.dtype}")
    return rint(code, arith.convert(code, x, kind))


def rint(code, x: Scalar) -> Scalar:
    """To the nearest whole number, halves to the even one."""
    if x.dtype.kind in "biu":
        return x
    x = code.let(x)
    low = code.let(arith.function(code, "floor", x))
    rest = code.let(Scalar(f"({x.text} - {low.text})", x.dtype))
    # A remainder is a call of the C library, for one number at a time.
    pairs = arith.function(code, "floor", Scalar(f"(0.5 * {low.text})", x.dtype))
    odd = f"{low.text} != 2.0 * {pairs.text}"
    up = f"{low.text} + 1.0"
    even = arith.chosen(code, odd, up, low.text, x.dtype, x.weak)
    half = arith.chosen(code, f"{rest.text} == 0.5", even.text, x.text, x.dtype, x.weak)
    more = arith.chosen(code, f"{rest.text} > 0.5", up, half.text, x.dtype, x.weak)
    return arith.chosen(code, f"{rest.text} < 0.5", low.text, more.text, x.dtype, x.weak)


@lowers(np.round, np.around, method="round")
def round_(t: Translator, a: Value, decimals: Value | None = None) -> Value:
    """To so many decimals, as NumPy does it: scaled, rounded, scaled back."""
    places = 0 if decimals is None else t.python(decimals)
    factor = arith.constant(10.0 ** abs(places))
    first, second = ("*", "/") if places > 0 else ("/", "*")

    def form(x: Scalar) -> Scalar:
        if not places or x.dtype.kind in "biu":
            if places >= 0 or x.dtype.kind == "b":
                return rint(t.code, x)
            tens = rint(t.code, t.code.let(arith.binary(t.code, "/", x, factor)))
            return arith.convert(t.code, arith.binary(t.code, "*", tens, factor), x.dtype)
        scaled = rint(t.code, arith.binary(t.code, first, x, factor))
        return arith.binary(t.code, second, scaled, factor)

    result = lift(t, form, a, cost=6)
    return cast(t, result, result.dtype) if _weak(result) else result


@lowers(round)
def python_round(t: Translator, number: Value, ndigits: Value | None = None) -> Value:
    """Python's own: to a whole number, halves to the even one. NumPy's numbers have their own."""
    if ndigits is not None:
        if t.number(number).weak:
            raise t.code.fail("round with digits, which is exact in Python; use np.round")
        return round_(t, number, ndigits)
    x = arith.convert(t.code, rint(t.code, t.number(number)), types.INT)
    return Scalar(x.text, types.INT, True, x.whole, x.value)


def _operator(symbol: str) -> Form:
    return lambda code, x, y: arith.binary(code, symbol, x, y)


for _symbol, _functions in (
    ("+", (np.add,)), ("-", (np.subtract,)), ("*", (np.multiply,)), ("/", (np.divide,)),
    ("//", (np.floor_divide,)), ("%", (np.mod,)), ("**", (np.power, pow)),
    ("&", (np.bitwise_and,)), ("|", (np.bitwise_or,)), ("^", (np.bitwise_xor,)),
    ("<<", (np.left_shift,)), (">>", (np.right_shift,)), ("<", (np.less,)),
    ("<=", (np.less_equal,)), (">", (np.greater,)), (">=", (np.greater_equal,)),
    ("==", (np.equal,)), ("!=", (np.not_equal,)),
):  # fmt: skip
    ufunc(*_functions)(_operator(_symbol))


@ufunc(np.float_power, cost=4)
def float_power(code, x: Scalar, y: Scalar) -> Scalar:
    """A power in floats of 64 bits, whatever it is of."""
    kind = np.dtype(complex if "c" in (x.dtype.kind, y.dtype.kind) else float)
    return arith.binary(code, "**", arith.convert(code, x, kind), arith.convert(code, y, kind))


ufunc(np.logical_and)(lambda code, x, y: arith.logical("&", x, y))
ufunc(np.logical_or)(lambda code, x, y: arith.logical("|", x, y))
ufunc(np.logical_xor)(lambda code, x, y: arith.logical("^", x, y))
ufunc(np.logical_not)(lambda code, x: arith.unary(code, "not", x))
ufunc(np.negative)(lambda code, x: arith.unary(code, "-", x))
ufunc(np.positive)(lambda code, x: x)
ufunc(np.invert)(lambda code, x: arith.unary(code, "~", x))
ufunc(np.absolute, abs)(lambda code, x: arith.absolute(code, x))
ufunc(np.fabs, math.fabs)(
    lambda code, x: arith.absolute(code, arith.convert(code, x, types.floating(x.dtype)))
)
ufunc(np.square)(lambda code, x: arith.binary(code, "**", x, arith.constant(2)))
ufunc(np.reciprocal)(lambda code, x: arith.binary(code, "/", arith.constant(1.0), x))
ufunc(np.maximum, cost=2)(lambda code, x, y: choices.extreme(code, ">", x, y))
ufunc(np.minimum, cost=2)(lambda code, x, y: choices.extreme(code, "<", x, y))
ufunc(np.arctan2, math.atan2, cost=8)(lambda code, x, y: arith.function2(code, "atan2", x, y))
ufunc(np.hypot, math.hypot, cost=8)(lambda code, x, y: arith.function2(code, "hypot", x, y))
ufunc(np.copysign, math.copysign)(lambda code, x, y: arith.function2(code, "copysign", x, y))
ufunc(math.fmod, cost=8)(lambda code, x, y: arith.function2(code, "fmod", x, y))
ufunc(math.pow, cost=8)(lambda code, x, y: arith.function2(code, "pow", x, y))
ufunc(np.degrees, np.rad2deg, math.degrees)(
    lambda code, x: arith.binary(code, "*", x, arith.constant(180.0 / np.pi))
)
ufunc(np.radians, np.deg2rad, math.radians)(
    lambda code, x: arith.binary(code, "*", x, arith.constant(np.pi / 180.0))
)


ufunc(np.fmod, cost=8)(lambda code, x, y: division.fmod(code, x, y))


@ufunc(np.sign, cost=2)
def sign(code, x: Scalar) -> Scalar:
    """-1, 0 or 1; of a complex number the one of size 1 that points to where it does."""
    if isinstance(x, Pair):
        size = code.let(arith.absolute(code, x))
        none = Scalar(f"({size.text} == 0.0)", BOOL)
        one = replace(choices.select(code, none, arith.constant(1.0), size), dtype=size.dtype)
        return arith.binary(code, "/", x, one)
    x = code.let(x)
    one, minus = ("1.0", "(-1.0)") if x.dtype.kind == "f" else ("1", "(-1)")
    rest = arith.chosen(code, f"{x.text} < 0", minus, x.text, x.dtype, x.weak)
    return arith.chosen(code, f"{x.text} > 0", one, rest.text, x.dtype, x.weak)


@ufunc(np.heaviside, cost=2)
def heaviside(code, x: Scalar, y: Scalar) -> Scalar:
    """0, `y` or 1, by the sign of `x`."""
    x = code.let(x)
    inner = choices.select(code, Scalar(f"({x.text} > 0)", BOOL), arith.constant(1.0), x)
    outer = choices.select(code, Scalar(f"({x.text} < 0)", BOOL), arith.constant(0.0), inner)
    return choices.select(code, Scalar(f"({x.text} == 0)", BOOL), y, outer)


def where(t: Translator, condition: Value, x: Value | None, y: Value | None) -> Value:
    """One of two values. Both are computed, as NumPy does it: compilers make no vectors of a loop
    that loads under a condition (one over 100,000 elements took six times as long with AVX2)."""
    if x is None or y is None:
        raise t.code.fail("np.where with two arguments")
    let = t.code.let
    found = lift(
        t, lambda c, a, b: choices.select(t.code, c, let(a), let(b)), condition, x, y, cost=2
    )
    return boxed(found)


ELEMENTWISE.add(np.where)


@lowers(np.clip, method="clip")
def clip(
    t: Translator,
    a: Value,
    a_min: Value | None = None,
    a_max: Value | None = None,
    out: Value | None = None,
    min: Value | None = None,
    max: Value | None = None,
) -> Value:
    """``minimum(maximum(a, low), high)``."""
    low, high = a_min if min is None else min, a_max if max is None else max
    result = a
    if low is not None and not (isinstance(low, Thing) and low.value is None):
        result = lift(t, lambda x, y: choices.extreme(t.code, ">", x, y), result, low, cost=2)
    if high is not None and not (isinstance(high, Thing) and high.value is None):
        result = lift(t, lambda x, y: choices.extreme(t.code, "<", x, y), result, high, cost=2)
    result = strong(result) if isinstance(result, Scalar) else result
    return into(t, out, result)


ELEMENTWISE.add(np.clip)


def cast(t: Translator, value: Value, dtype: np.dtype) -> Scalar | Array:
    """`value` as another type."""
    if dtype not in types.SUPPORTED and not (value.dtype.kind in "bu" and dtype.kind == "u"):
        raise t.code.fail(f"the type {dtype}")
    if isinstance(value, Array) and value.dtype == dtype and not value.weak:
        return value

    def form(x: Scalar) -> Scalar:
        made = arith.convert(t.code, x, dtype)
        number = dtype.type(made.value) if made.value is not None else None
        if isinstance(made, Pair):
            return Pair(made.texts, dtype, False, number)
        return Scalar(made.text, dtype, False, made.whole, number)

    return lift(t, form, value)


@lowers(method="astype")
def astype(t: Translator, a: Value, dtype: Value, copy: Value | None = None) -> Value:
    """A copy as another type."""
    target = np.dtype(t.python(dtype))
    t.code.wide = t.code.wide or target == types.WIDE
    result = cast(t, a, target)
    anew = copy is None or bool(t.python(copy))
    if isinstance(result, Array) and result.view is not None and anew:
        return nests.materialise(t.code, result)
    return result


def _converter(dtype: Any) -> Callable[..., Value]:
    def lowering(t: Translator, value: Value) -> Value:
        t.code.wide = t.code.wide or dtype is np.uint64
        return cast(t, value, np.dtype(dtype))

    return lowering


for _type in (np.float64, np.float32, np.int64, np.int32, np.int16, np.int8, np.uint8, np.uint16,
              np.uint32, np.uint64, np.bool_, np.complex64, np.complex128):  # fmt: skip
    FUNCTIONS[_type] = _converter(_type)
    ELEMENTWISE.add(_type)


@lowers(float)
def to_float(t: Translator, value: Value) -> Value:
    if isinstance(value, Thing) and isinstance(value.value, str):
        return arith.constant(float(value.value))  # "inf"
    x = t.number(value)
    if x.value is not None:
        return arith.constant(float(x.value))
    if unsigned.is_wide(t.code, x):
        return replace(unsigned.real(t.code, x), weak=True)
    return Scalar(f"float({bare(x.text)})", types.FLOAT, True)


@lowers(int)
def to_int(t: Translator, value: Value) -> Value:
    x = t.number(value)
    if x.value is not None:
        return arith.constant(int(x.value))
    if unsigned.is_wide(t.code, x):
        return unsigned.of_python(t.code, x)
    if x.dtype == SHORT:  # docc leaves int() out, and multiplies two of them in 32 bits
        return replace(arith.word(x), weak=True, whole=None)
    if x.whole is not None:
        return arith.whole(x.whole)
    return Scalar(f"int({bare(x.text)})", types.INT, True)


@lowers(bool)
def to_bool(t: Translator, value: Value) -> Value:
    x = arith.truth(t.number(value))
    return x if x.value is not None else Scalar(x.text, types.BOOL, True)
