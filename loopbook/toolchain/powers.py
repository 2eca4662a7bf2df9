"""Powers of whole numbers, of 64 bits where docc's own have 32.

docc writes a product of equal whole numbers as a power, ``x * x * x`` as ``__daisy_sym_pow(x, 3)``,
which its header computes in `int` (0.8.1): of 2,000 it gave -589934592.
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

__all__ = ["HEADER", "TEXT"]
