"""Powers of whole numbers, of 64 bits where docc's own have 32; and powers of real numbers.

docc writes a product of equal whole numbers as a power, ``x * x * x`` as ``__daisy_sym_pow(x, 3)``,
which its header computes in `int` (0.8.1): of 2,000 it gave -589934592.

A real number to the power of 3/2, -1/2 or -3 takes a product, a root and a quotient where clang
sees the exponent. C's ``pow`` takes a logarithm and an exponential, in vectors, too: what 200
bodies do to each other takes 0.28 ms by it, and 0.05 so (AVX-512, 2026-11-27). Products for 2, 3
and 4 are the front end's.
"""

from __future__ import annotations

HEADER = "powers.h"

TEXT = """\
#if __has_include(<daisy_rtl/daisy_rtl.h>)
#include <daisy_rtl/daisy_rtl.h>
static inline long long loopbook_power(long long base, long long exponent) {
    unsigned long long factor = base, result = exponent >= 0;
    for (; exponent > 0; exponent >>= 1) {
        if (exponent & 1) result *= factor;
        factor *= factor;
    }
    return result;
}
#define __daisy_sym_pow(base, exponent) loopbook_power(base, exponent)
#endif
"""

REAL = """\
template <class A> static inline __attribute__((always_inline)) A loopbook_real_power(A x, A y) {
    A size = y < 0 ? -y : y;
    int whole = (int)size;
    bool half = size != whole;
    A product = 1, factor = x;
#pragma clang loop unroll(full)
    for (int bit = 1; bit <= 4; bit *= 2) {
        if (whole & bit) product *= factor;
        factor *= factor;
    }
    A found = half ? (A)fabs(product * (A)sqrt(x)) : product;
    found = y < 0 ? 1 / found : found;
    return half && x == -(A)INFINITY ? y < 0 ? (A)0 : (A)INFINITY : found;
}
#define loopbook_is_short(y) \\
    (__builtin_constant_p(y) && (y) >= -6.5 && (y) <= 6.5 && 2 * (y) == (int)(2 * (y)))
static inline __attribute__((always_inline)) double loopbook_any_pow(double x, double y) {
    return loopbook_is_short(y) ? loopbook_real_power(x, y) : LOOPBOOK_VECTOR(pow)(x, y);
}
static inline __attribute__((always_inline)) float loopbook_any_powf(float x, float y) {
    return loopbook_is_short(y) ? loopbook_real_power(x, y) : LOOPBOOK_VECTOR(powf)(x, y);
}
#define pow(x, y) loopbook_any_pow(x, y)
#define powf(x, y) loopbook_any_powf(x, y)
"""
"""Right to 5 units in the last place. C has infinity, or 0, for minus infinity to the power of a
half, and no sign for what comes of -0."""

__all__ = ["HEADER", "REAL", "TEXT"]
