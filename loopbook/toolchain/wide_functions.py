"""Maths functions of our own for AVX-512: `exp`, `log`, `pow` and `tanh`, of doubles and of floats.

They rest on what AVX-512 has and AVX2 lacks: 16 doubles (32 floats) of a table picked in one
instruction, a number's exponent and mantissa, a product with a power of two that rounds once.

- ``exp``: ``x = n * ln 2 / 16 + r``, so ``exp(x) = 2**(n / 16) * exp(r)``: a table of 16 powers and
  a polynomial for ``|r| <= ln 2 / 32`` (P. T. P. Tang, "Table-driven implementation of the
  exponential function", ACM TOMS 15, 1989).
- ``log``: ``x = 2**e * m`` with ``m`` from 0.703 to 1.406, and ``m * c - 1 = r`` for the ``c`` of
  its sixteenth, so ``log(x) = e * ln 2 - log(c) + log1p(r)`` (Tang, ACM TOMS 16, 1990).
- ``pow``: that logarithm with twice the digits, times the exponent, in `exp`. Of negative and of no
  numbers glibc's is asked.
- ``tanh``: ``q / (q + 2)`` with ``q = exp(2 |x|) - 1`` of that table, with twice its digits.

Polynomials are Chebyshev's in the range that is left (mpmath's `chebyfit`). Right to 1.1 units in
the last place: `exp`; 1.6: `log`; 0.8: `pow`; 3.1: `tanh`; 2.3: `logf`. One value takes, beside
glibc's for AVX2 that clang calls (ns, AMD Zen 4, 2026-11-27): exp 0.85 for 1.2, log 0.9 for 1.5,
pow 2.7 for 5.6, tanh 1.1 for 2.2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal, localcontext

NAMES = ("exp", "log", "pow", "tanh", "expf", "logf", "powf")

_DIGITS = 60
"""Decimal digits that the tables are computed with."""


def _halves(
    values: Sequence[Decimal], places: int | None = None
) -> tuple[list[float], list[float]]:
    """Numbers as floats, and what these lack.

    Args:
        places: of the binary fraction of the first; None: as many as there are.
    """
    whole = 1 if places is None else 1 << places
    near = [float((v * whole).to_integral_value() / whole) if places else float(v) for v in values]
    return near, [float(v - Decimal(n)) for v, n in zip(values, near, strict=True)]


def _inverses(parts: int) -> list[Decimal]:
    """Short fractions next to 1 over the middle of each part of the mantissa, from 0.4 of it on of
    half the number."""
    found = []
    for part in range(parts):
        middle = (1 + Decimal(part) / parts) / (2 if part >= round(0.40625 * parts + 0.25) else 1)
        found.append((512 / middle).to_integral_value() / 512)
    return found


def _table(kind: str, name: str, values: Sequence[float]) -> str:
    inside = ", ".join(value.hex() for value in values)
    return f"static const {kind} {name}[{len(values)}] = {{{inside}}};\n"


def _tables() -> str:
    """``2**(j / 16)``, and minus the logarithms of `_inverses`, to 43 binary places, so that they
    stay exact when a multiple of ln 2 is added; either with what it lacks; 32 of each for floats.
    """
    with localcontext(prec=_DIGITS):
        exps, exps_rest = _halves([Decimal(2) ** (Decimal(j) / 16) for j in range(16)])
        inverses, many = _inverses(16), _inverses(32)
        logs, logs_rest = _halves([-inverse.ln() for inverse in inverses], places=43)
        return (
            _table("double", "exps", exps)
            + _table("double", "exps_rest", exps_rest)
            + _table("double", "inverses", list(map(float, inverses)))
            + _table("double", "logs", logs)
            + _table("double", "logs_rest", logs_rest)
            + _table("float", "exps_f", [2 ** (j / 32) for j in range(32)])
            + _table("float", "inverses_f", list(map(float, many)))
            + _table("float", "logs_f", [-math.log(inverse) for inverse in many])
        )


_FUNCTIONS = """\
typedef double wide __attribute__((vector_size(64)));
typedef float wide_f __attribute__((vector_size(64)));
typedef long long places __attribute__((vector_size(64)));
typedef int places_f __attribute__((vector_size(64)));
typedef double stored __attribute__((vector_size(64), aligned(8)));
typedef float stored_f __attribute__((vector_size(64), aligned(4)));
#define LOOPBOOK_EXACTLY _Pragma("clang fp reassociate(off) contract(off)")
#define LOOPBOOK_OF(table, place) __builtin_ia32_vpermi2varpd512( \\
    *(const stored *)(table), place, *(const stored *)((table) + 8))
#define LOOPBOOK_OF_F(table, place) __builtin_ia32_vpermi2varps512( \\
    *(const stored_f *)(table), place, *(const stored_f *)((table) + 16))
#define LOOPBOOK_SCALED(x, power) __builtin_ia32_scalefpd512_mask(x, power, x, -1, 4)
#define LOOPBOOK_SCALED_F(x, power) __builtin_ia32_scalefps512_mask(x, power, x, -1, 4)
static inline wide fused(wide x, wide y, wide z) { return __builtin_elementwise_fma(x, y, z); }
static inline wide_f fused(wide_f x, wide_f y, wide_f z) {
    return __builtin_elementwise_fma(x, y, z);
}
template <class V> static inline V within(V x, V most) {
    x = x < -most ? -most : x;
    return x > most ? most : x;
}
template <class V, class A> static inline V sum(V x, A last) {
    return V{} + last;
}
template <class V, class A, class... More> static inline V sum(V x, A first, More... rest) {
    LOOPBOOK_EXACTLY
    return fused(sum(x, rest...), x, V{} + first);
}
struct exponential { wide power, near, less; places place; };
static inline exponential parts(wide x, wide more) {
    LOOPBOOK_EXACTLY
    wide shifted = fused(x, wide{} + 0x1.71547652b82fep+4, wide{} + 0x1.8p52);
    wide n = shifted - 0x1.8p52;
    wide r = fused(-n, wide{} + 0x1.62e42fefa39efp-5, x);
    r = fused(-n, wide{} + 0x1.abc9e3b39803fp-60, r) + more;
    wide square = r * r;
    wide low = sum(r, 0x1p-1, 0x1.5555555555556p-3);
    wide high = sum(r, 0x1.55555554e93b7p-5, 0x1.11111110e1059p-7,
        0x1.6c17ed5c1f49ep-10, 0x1.a01b0c3c80bbcp-13);
    wide less = fused(fused(high, square, low), square, r);
    auto place = (places)shifted;
    return {n * 0x1p-4, LOOPBOOK_OF(exps, place), less, place};
}
extern "C" inline wide loopbook_exp_e(wide x) {
    LOOPBOOK_EXACTLY
    x = within(x, wide{} + 760);
    exponential e = parts(x, wide{});
    return LOOPBOOK_SCALED(fused(e.near, e.less, e.near), e.power);
}
extern "C" inline wide loopbook_tanh_e(wide x) {
    LOOPBOOK_EXACTLY
    wide a = __builtin_elementwise_abs(x);
    a = a > 20 ? wide{} + 20 : a;
    exponential e = parts(a + a, wide{});
    wide near = LOOPBOOK_SCALED(e.near, e.power);
    wide rest = LOOPBOOK_OF(exps_rest, e.place);
    wide q = fused(near, e.less, LOOPBOOK_SCALED(rest, e.power)) + (near - 1);
    return __builtin_elementwise_copysign(q / (q + 2), x);
}
struct logarithm { wide power, mantissa; places place; };
static inline logarithm halves(wide x) {
    wide m = __builtin_ia32_getmantpd512_mask(x, 8, x, -1, 4);
    wide power = __builtin_ia32_getexppd512_mask(x, x, -1, 4);
    auto much = m >= 1.40625;
    m = much ? m * 0.5 : m;
    return {much ? power + 1 : power, m, ((places)m + (1ll << 47)) >> 48};
}
extern "C" inline wide loopbook_log_e(wide x) {
    LOOPBOOK_EXACTLY
    logarithm l = halves(x);
    wide r = fused(l.mantissa, LOOPBOOK_OF(inverses, l.place), wide{} - 1);
    wide square = r * r;
    wide low = fused(sum(r, -0x1.0000000050646p-2, 0x1.9999998b8a2c9p-3), square,
        sum(r, -0x1p-1, 0x1.5555555555808p-2));
    wide high = fused(sum(r, -0x1.005e13c7dae83p-3, 0x1.c4663c387ea34p-4), square,
        sum(r, -0x1.555547c694304p-3, 0x1.2492d3a79f060p-3));
    wide some = fused(fused(high, square * square, low), square, r);
    wide near = LOOPBOOK_OF(logs, l.place), rest = LOOPBOOK_OF(logs_rest, l.place);
    return fused(l.power, wide{} + 0x1.62e42fefa39efp-1, near) + (rest + some);
}
extern "C" wide _ZGVeN8vv_pow(wide, wide);
extern "C" inline wide loopbook_pow_e(wide x, wide y) {
    LOOPBOOK_EXACTLY
    auto bits = (places)x;
    auto other = (bits < 0) | (bits >= 0x7ff0000000000000) | (y != y);
    if (__builtin_expect(__builtin_reduce_or(other) != 0, 0)) return _ZGVeN8vv_pow(x, y);
    logarithm l = halves(x);
    wide inverse = LOOPBOOK_OF(inverses, l.place), product = l.mantissa * inverse;
    wide lost = fused(l.mantissa, inverse, -product), near = product - 1, r = near + lost;
    lost = (near - r) + lost;
    wide square = r * r, half = square * -0.5, halves_rest = fused(r, r, -square) * -0.5;
    wide low = fused(sum(r, 0x1.999999999a61ap-3, -0x1.555555564ec58p-3), square,
        sum(r, 0x1.5555555555555p-2, -0x1.fffffffffffbbp-3));
    wide high = fused(sum(r, 0x1.c71d9f2bdc6b2p-4, -0x1.9a4997aec0483p-4,
        0x1.71d50aded6029p-4), square, sum(r, 0x1.24924910f2051p-3, -0x1.ffffe1a35b136p-4));
    wide cubes = fused(high, square * square, low) * (square * r);
    wide whole = fused(l.power, wide{} + 0x1.62e42fefa3800p-1,
        LOOPBOOK_OF(logs, l.place));
    wide rest = fused(l.power, wide{} + 0x1.ef35793c76730p-45,
        LOOPBOOK_OF(logs_rest, l.place));
    wide first = whole + r, second = first + half;
    rest += (r - (first - whole)) + (half - (second - first));
    rest += (cubes + halves_rest) + fused(-r, lost, lost);
    wide log = second + rest;
    rest -= log - second;
    y = within(y, wide{} + 0x1p70);
    wide times = y * log, more = fused(y, log, -times) + y * rest;
    more = __builtin_elementwise_abs(times) > 760 ? wide{} : more;
    times = within(times, wide{} + 760);
    exponential e = parts(times, more);
    rest = LOOPBOOK_OF(exps_rest, e.place);
    wide found = LOOPBOOK_SCALED(e.near + fused(e.near, e.less, rest), e.power);
    found = x == 0 ? (y > 0 ? wide{} : wide{} + HUGE_VAL) : found;
    return y == 0 ? wide{} + 1 : found;
}
extern "C" inline wide_f loopbook_expf_e(wide_f x) {
    LOOPBOOK_EXACTLY
    x = within(x, wide_f{} + 110);
    wide_f shifted = fused(x, wide_f{} + 0x1.715476p+5f, wide_f{} + 0x1.8p23f);
    wide_f n = shifted - 0x1.8p23f;
    wide_f r = fused(-n, wide_f{} + 0x1.62e43p-6f, x);
    r = fused(-n, wide_f{} - 0x1.05c61p-34f, r);
    wide_f near = LOOPBOOK_OF_F(exps_f, (places_f)shifted);
    wide_f less = fused(sum(r, 0x1.00005p-1f, 0x1.555596p-3f), r * r, r);
    return LOOPBOOK_SCALED_F(fused(near, less, near), n * 0x1p-5f);
}
extern "C" inline wide_f loopbook_logf_e(wide_f x) {
    LOOPBOOK_EXACTLY
    wide_f m = __builtin_ia32_getmantps512_mask(x, 8, x, -1, 4);
    wide_f power = __builtin_ia32_getexpps512_mask(x, x, -1, 4);
    auto much = m >= 1.390625f;
    m = much ? m * 0.5f : m;
    power = much ? power + 1 : power;
    auto place = ((places_f)m + (1 << 17)) >> 18;
    wide_f r = fused(m, LOOPBOOK_OF_F(inverses_f, place), wide_f{} - 1);
    wide_f some = fused(sum(r, -0x1p-1f, 0x1.555554p-2f, -0x1.000afep-2f,
        0x1.9a01dep-3f), r * r, r);
    wide_f near = LOOPBOOK_OF_F(logs_f, place);
    return fused(power, wide_f{} + 0x1.62e43p-1f, near) + some;
}
static inline wide short_pow(wide x, wide y) {
    LOOPBOOK_EXACTLY
    logarithm l = halves(x);
    wide r = fused(l.mantissa, LOOPBOOK_OF(inverses, l.place), wide{} - 1);
    wide some = fused(sum(r, -0x1.ffffffff5797bp-2, 0x1.555552e0d0bfbp-2,
        -0x1.00001fae489efp-2, 0x1.99ee2d1ce4a8cp-3, -0x1.541c24a0d1eddp-3), r * r, r);
    wide near = LOOPBOOK_OF(logs, l.place);
    wide log = fused(l.power, wide{} + 0x1.62e42fefa39efp-1, near) + some;
    x = within(y * log, wide{} + 160);
    wide shifted = fused(x, wide{} + 0x1.71547652b82fep+4, wide{} + 0x1.8p52);
    wide n = shifted - 0x1.8p52;
    r = fused(-n, wide{} + 0x1.62e42fefa39efp-5, x);
    near = LOOPBOOK_OF(exps, (places)shifted);
    wide less = fused(sum(r, 0x1p-1, 0x1.5556df00a164dp-3, 0x1.55565bc76401bp-5), r * r, r);
    return LOOPBOOK_SCALED(fused(near, less, near), n * 0x1p-4);
}
extern "C" wide_f _ZGVeN16vv_powf(wide_f, wide_f);
extern "C" inline wide_f loopbook_powf_e(wide_f x, wide_f y) {
    LOOPBOOK_EXACTLY
    typedef float half __attribute__((vector_size(32)));
    auto bits = (places_f)x;
    auto other = (bits < 0) | (bits >= 0x7f800000) | (y != y);
    if (__builtin_expect(__builtin_reduce_or(other) != 0, 0)) return _ZGVeN16vv_powf(x, y);
    half both[2];
    for (int part = 0; part < 2; part++) {
        half base = ((half *)&x)[part], power = ((half *)&y)[part];
        both[part] = __builtin_convertvector(short_pow(
            __builtin_convertvector(base, wide),
            __builtin_convertvector(power, wide)), half);
    }
    wide_f found = *(wide_f *)both;
    found = x == 0 ? (y > 0 ? wide_f{} : wide_f{} + HUGE_VALF) : found;
    auto one = (y == 0) | (x == 1);
    return one ? wide_f{} + 1 : found;
}
"""

TEXT = (
    f"#ifdef __AVX512F__\nnamespace loopbook {{\n{_tables()}{_FUNCTIONS}}}\n"
    + "".join(f"using loopbook::loopbook_{name}_e;\n" for name in NAMES)
    + "#endif\n"
)
"""For C++ of clang, where these vectors are; `loopbook_exp_e` and so on."""
