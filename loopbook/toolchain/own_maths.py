"""Maths functions that loops call in place of C's: vectors of them are faster, or NumPy's others.

- ``fmax`` and ``fmin``: C's give the number beside a NaN, NumPy's ``maximum`` and ``minimum`` the
  NaN. Either takes three vector instructions.
- ``expf`` is a power of two and a polynomial, right to 2 units in the last place, in graphs of
  PyTorch only, which are compiled with memory of their own (`loopbook.toolchain.memory`): in loops
  of the front end glibc's is faster (NPBench's softmax, M: 30 ms for 42 to 53).
- ``hypot``, scaled by powers of two: the sum of squares neither overflows nor loses digits, and is
  exact for whole numbers. NumPy takes such a form for the size of complex numbers.
- ``atan2`` is Gauss's continued fraction for slopes up to 0.41, to which the others are brought
  back; it is right to 4 units. ``atan2f`` is a shorter one: glibc has none for vectors of floats.
- ``erff`` is ``x`` times a quotient of two polynomials in ``x * x``, fitted to the largest relative
  error; it is right to 6 units.
"""

from __future__ import annotations

from loopbook.toolchain import extremes, powers, vector_functions

HEADER = "maths.h"

TEXT = """\
#ifndef LOOPBOOK_MATHS
#define LOOPBOOK_MATHS
#include <cmath>
template <class A, class B> static inline auto loopbook_maximum(A x, B y) {
    decltype(x + y) a = x, b = y, greater = a > b ? a : b;
    return a != a ? a : greater;
}
template <class A, class B> static inline auto loopbook_minimum(A x, B y) {
    decltype(x + y) a = x, b = y, lesser = a < b ? a : b;
    return a != a ? a : lesser;
}
static inline float loopbook_short_expf(float x) {
#pragma clang fp reassociate(off)
    float a = x > -104 ? x : -104, b = a < 89 ? a : 89, n = rintf(b * 1.44269504f);
    float r = b - n * 6.93145752e-1f - n * 1.42860677e-6f, sum = 0;
    const float factors[] = {1.39336762e-3f, 8.36319738e-3f, 4.16664647e-2f, 1.66665769e-1f, 0.5f};
#pragma clang loop unroll(full)
    for (float factor : factors) sum = sum * r + factor;
    int power = (int)n, half = power >> 1;
    float one = __builtin_bit_cast(float, (half + 127) << 23);
    float other = __builtin_bit_cast(float, (power - half + 127) << 23);
    float found = (sum * r * r + r + 1) * one * other;
    return x != x ? x : found;
}
static inline float loopbook_erff(float x) {
    float a = fabsf(x), z = x * x, over = 0, under = 0;
    const float above[] = {2.02585883e-6f, 2.84666779e-4f, 3.80766805e-3f, 5.28738904e-2f,
        1.91540234e-1f, 1.12837914f};
    const float below[] = {3.78301881e-5f, 1.17058763e-3f, 1.50541089e-2f, 1.14555257e-1f,
        5.03080791e-1f, 1};
#pragma clang loop unroll(full)
    for (float factor : above) over = over * z + factor;
#pragma clang loop unroll(full)
    for (float factor : below) under = under * z + factor;
    float found = x * (over / under), nearest = fabsf(found) > 1 ? copysignf(1, x) : found;
    return a > 3.9f ? copysignf(1, x) : nearest;
}
static inline double loopbook_hypot(double x, double y) {
#pragma clang fp contract(off)
    double a = fabs(x), b = fabs(y), greater = a > b ? a : b;
    bool huge = greater > 0x1p500, tiny = greater < 0x1p-400;
    double to = huge ? 0x1p-600 : tiny ? 0x1p600 : 1, back = huge ? 0x1p600 : tiny ? 0x1p-600 : 1;
    a *= to;
    b *= to;
    double found = sqrt(a * a + b * b) * back;
    return a == HUGE_VAL || b == HUGE_VAL ? HUGE_VAL : found;
}
static inline float loopbook_hypot(float x, float y) {
    double a = x, b = y, found = sqrt(a * a + b * b);
    return fabsf(x) == HUGE_VALF || fabsf(y) == HUGE_VALF ? HUGE_VALF : (float)found;
}
static inline double loopbook_atan2(double y, double x) {
    double a = fabs(x), b = fabs(y), most = a > b ? a : b, least = a > b ? b : a;
    double ratio = most == 0 ? 0 : least == HUGE_VAL ? 1 : least / most;
    bool far = ratio > 0x1.a827999fcef32p-2;
    double z = far ? (ratio - 1) / (ratio + 1) : ratio, square = z * z, next = 1, last = 23;
#pragma clang loop unroll(full)
    for (int k = 11; k > 0; k--) {
        double sum = (2 * k - 1) * last + k * k * square * next;
        next = last;
        last = sum;
    }
    double angle = z * (next / last) + (far ? M_PI_4 : 0);
    angle = b > a ? M_PI_2 - angle : angle;
    angle = copysign(__builtin_signbit(x) ? M_PI - angle : angle, y);
    return x != x || y != y ? x + y : angle;
}
static inline float loopbook_atan2(float y, float x) {
    float a = fabsf(x), b = fabsf(y), most = a > b ? a : b, least = a > b ? b : a;
    float ratio = most == 0 ? 0 : least == HUGE_VALF ? 1 : least / most;
    bool far = ratio > 0x1.a8279ap-2f;
    float z = far ? (ratio - 1) / (ratio + 1) : ratio, square = z * z, next = 1, last = 11;
#pragma clang loop unroll(full)
    for (int k = 5; k > 0; k--) {
        float sum = (2 * k - 1) * last + k * k * square * next;
        next = last;
        last = sum;
    }
    float angle = z * (next / last) + (far ? (float)M_PI_4 : 0);
    angle = b > a ? (float)M_PI_2 - angle : angle;
    angle = copysignf(__builtin_signbit(x) ? (float)M_PI - angle : angle, y);
    return x != x || y != y ? x + y : angle;
}
#define erff(x) loopbook_erff(x)
#define atan2(y, x) loopbook_atan2((double)(y), (double)(x))
#define atan2f(y, x) loopbook_atan2((float)(y), (float)(x))
#define hypot(x, y) loopbook_hypot((double)(x), (double)(y))
#define hypotf(x, y) loopbook_hypot((float)(x), (float)(y))
#define fmax(x, y) loopbook_maximum(x, y)
#define fmin(x, y) loopbook_minimum(x, y)
#define fmaxf(x, y) loopbook_maximum(x, y)
#define fminf(x, y) loopbook_minimum(x, y)
REST
#ifdef LOOPBOOK_MEMORY
#undef expf
#define expf(x) loopbook_short_expf(x)
#endif
#endif
""".replace("REST\n", extremes.TEXT + vector_functions.TEXT + powers.REAL)
