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

Polynomials are fitted to the least of the greatest relative error; all results are right to 2 units
in the last place, `logf` to 2.5. One value takes, beside glibc's for AVX2 that clang calls (ns, AMD
Zen 4, 2026-11-27): exp 0.85 for 1.2, log 0.9 for 1.5, pow 2.7 for 5.6, tanh 1.1 for 2.2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

NAMES = ("exp", "log", "pow", "tanh", "expf", "logf", "powf")

_EXP = """0x1p+0 0x1.0b5586cf9890fp+0 0x1.172b83c7d517bp+0 0x1.2387a6e756238p+0
0x1.306fe0a31b715p+0 0x1.3dea64c123422p+0 0x1.4bfdad5362a27p+0 0x1.5ab07dd485429p+0
0x1.6a09e667f3bcdp+0 0x1.7a11473eb0187p+0 0x1.8ace5422aa0dbp+0 0x1.9c49182a3f090p+0
0x1.ae89f995ad3adp+0 0x1.c199bdd85529cp+0 0x1.d5818dcfba487p+0 0x1.ea4afa2a490dap+0"""
"""``2**(j / 16)``"""

_EXP_REST = """0x0p+0 0x1.8a62e4adc610bp-54 -0x1.19041b9d78a76p-55 0x1.9b07eb6c70573p-54
0x1.6f46ad23182e4p-55 0x1.ada0911f09ebcp-55 0x1.d4397afec42e2p-56 0x1.6324c054647adp-54
-0x1.bdd3413b26456p-54 -0x1.41577ee04992fp-55 0x1.6e9f156864b27p-54 0x1.c7c46b071f2bep-56
0x1.7a1cd345dcc81p-54 0x1.11065895048ddp-55 0x1.2ed02d75b3707p-55 -0x1.e9c23179c2893p-54"""
"""What those lack."""

_INVERSES = """1 0.94140625 0.888671875 0.841796875 0.80078125 0.76171875 0.7265625 1.390625
1.333984375 1.279296875 1.23046875 1.185546875 1.142578125 1.103515625 1.06640625 1.033203125"""
"""By the nearest sixteenth of the mantissa, from 7 of it on of half the number; short fractions."""

_LOGS = """0x0p+0 0x1.eea31c006c000p-5 0x1.e3707ee304000p-4 0x1.60b3100b09000p-3
0x1.c6ffbc6f01000p-3 0x1.16b5ccbacf800p-2 0x1.4718dc271c800p-2 -0x1.51aad872df800p-2
-0x1.27161913f8800p-2 -0x1.f871b28955000p-3 -0x1.a8becfc883000p-3 -0x1.5c94007597000p-3
-0x1.10f8e42254000p-3 -0x1.9375e55596000p-4 -0x1.075983598e000p-4 -0x1.0b94f7c198000p-5"""
"""Minus their logarithms, to 43 binary places: added to a multiple of ln 2 they stay exact."""

_LOGS_REST = """0x0p+0 -0x1.e113e4fc93b7bp-47 0x1.0f684e6766abdp-45 0x1.1d7526cee0fd8p-45
-0x1.1ec72c5962bd2p-48 0x1.b9acdf7a51681p-45 -0x1.f27ce0967d675p-45 -0x1.684e49eb067d5p-49
0x1.6161c13d53699p-45 -0x1.14052b5b2204bp-49 0x1.ce7a30de4630ep-48 -0x1.5c9adccb7337ap-46
0x1.93b3843396307p-45 0x1.223c8c7f3c9bbp-48 -0x1.1c4c06d2999e2p-46 0x1.e89896f022783p-45"""

_INVERSES_F = """1 0.96875 0.94140625 0.9140625 0.888671875 0.865234375 0.841796875 0.8203125
0.80078125 0.78125 0.76171875 0.744140625 0.7265625 1.421875 1.390625 1.361328125 1.333984375
1.306640625 1.279296875 1.255859375 1.23046875 1.20703125 1.185546875 1.1640625 1.142578125
1.123046875 1.103515625 1.083984375 1.06640625 1.048828125 1.033203125 1.015625"""
"""By the nearest 32nd, from 13 of them on of half the number."""


def _numbers(text: str) -> list[float]:
    return [float.fromhex(word) if "x" in word else float(word) for word in text.split()]


def _table(kind: str, name: str, values: Sequence[float]) -> str:
    inside = ", ".join(value.hex() for value in values)
    return f"static const {kind} {name}[{len(values)}] = {{{inside}}};\n"


def _tables() -> str:
    exp, rest = _numbers(_EXP), _numbers(_EXP_REST)
    logs, logs_rest = _numbers(_LOGS), _numbers(_LOGS_REST)
    inverses = _numbers(_INVERSES_F)
    return (
        _table("double", "exps", exp)
        + _table("double", "exps_rest", rest)
        + _table("double", "inverses", _numbers(_INVERSES))
        + _table("double", "logs", logs)
        + _table("double", "logs_rest", logs_rest)
        + _table("float", "exps_f", [2 ** (j / 32) for j in range(32)])
        + _table("float", "inverses_f", inverses)
        + _table("float", "logs_f", [-math.log(inverse) for inverse in inverses])
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
