"""Extremes of numbers none of which is a NaN, beside a count of the NaNs (see
`loopbook.sdfg.extremes`), under names of C's that docc knows and no program calls.

What is "not precise" has neither NaN nor infinity for a compiler, which makes vectors of a loop
then. It may not conclude from that that the result has none, nor that there is none to begin with:
hence the empty statement, which may do anything to a number for all that is known.

Where the processor has no instruction for a product and a sum, C's ``fma`` takes a hundred: there
it is both (see `loopbook.sdfg.carried_sums`).

Python's own ``max`` gives its first argument unless the second one is greater: with a NaN or a zero
below 0, too, that is one instruction of vectors.
"""

from __future__ import annotations

TEXT = """\
template <class A, class B> static inline auto loopbook_greater(A x, B y) {
#pragma float_control(precise, off)
    decltype(x + y) a = x, b = y;
    return b > a ? b : a;
}
template <class A, class B> static inline auto loopbook_lesser(A x, B y) {
#pragma float_control(precise, off)
    decltype(x + y) a = x, b = y;
    return b < a ? b : a;
}
template <class A> static inline A loopbook_kept(A x, A seen) {
    asm("" : "+m"(x));
    return seen != 0 ? A(NAN) : x;
}
template <class A> static inline A loopbook_number(A x, A y) {
    return x != x ? y : x;
}
template <class A, class B> static inline auto loopbook_max(A x, B y) {
    decltype(x + y) a = x, b = y;
    return b > a ? b : a;
}
template <class A, class B> static inline auto loopbook_min(A x, B y) {
    decltype(x + y) a = x, b = y;
    return b < a ? b : a;
}
#if !defined(__FMA__) && !defined(__ARM_FEATURE_FMA)
#define fma(x, y, z) ((x) * (y) + (z))
#define fmaf(x, y, z) ((x) * (y) + (z))
#endif
#ifndef LOOPBOOK_OWN_NAMES
#define ldexp(x, y) loopbook_max(x, y)
#define ldexpf(x, y) loopbook_max(x, y)
#define frexp(x, y) loopbook_min(x, y)
#define frexpf(x, y) loopbook_min(x, y)
#define fdim(x, y) loopbook_greater(x, y)
#define fdimf(x, y) loopbook_greater(x, y)
#define nextafter(x, y) loopbook_lesser(x, y)
#define nextafterf(x, y) loopbook_lesser(x, y)
#define nexttoward(x, y) loopbook_kept(x, y)
#define nexttowardf(x, y) loopbook_kept(x, y)
#define remainder(x, y) loopbook_number(x, y)
#define remainderf(x, y) loopbook_number(x, y)
#endif
"""

__all__ = ["TEXT"]
