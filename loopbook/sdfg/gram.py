"""Products of a matrix with its own transpose, of which a BLAS computes one half.

NumPy hands ``A @ A.T`` to ``syrk`` and copies the half that this gives; docc knows ``gemm`` alone.
Whether both operands are one matrix is seen when the program runs: then what is called instead does
as NumPy does, if what it adds to is as symmetric as the product, such as nought. (1,400 by 1,200
doubles: 143 to 65 ms, OpenBLAS 0.3.21, AVX2, 2026-11-26.)
"""

from __future__ import annotations

import re

_CALL = re.compile(r"\bcblas_([ds])gemm\(")

_TYPES = {"d": "double", "s": "float"}

_HALF = """\
static void loopbook_KINDgemm(CBLAS_ORDER order, CBLAS_TRANSPOSE left, CBLAS_TRANSPOSE right,
        int64_t m, int64_t n, int64_t k, TYPE alpha, const TYPE *a, int64_t lda, const TYPE *b,
        int64_t ldb, TYPE beta, TYPE *c, int64_t ldc) {
    const int64_t tile = 32;
    bool half = a == b && lda == ldb && m == n && left != right && order == CblasRowMajor
        && k >= tile && n >= tile;
    if (beta != 0)
        for (int64_t i0 = 0; half && i0 < n; i0 += tile)
            for (int64_t j0 = 0; half && j0 <= i0; j0 += tile)
                for (int64_t i = i0; i < i0 + tile && i < n; i++)
                    for (int64_t j = j0; j < j0 + tile && j < i; j++)
                        half &= c[i * ldc + j] == c[j * ldc + i];
    if (!half) {
        cblas_KINDgemm(order, left, right, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
        return;
    }
    cblas_KINDsyrk(order, CblasUpper, left, n, k, alpha, a, lda, beta, c, ldc);
    for (int64_t i0 = 0; i0 < n; i0 += tile)
        for (int64_t j0 = 0; j0 <= i0; j0 += tile)
            for (int64_t i = i0; i < i0 + tile && i < n; i++)
                for (int64_t j = j0; j < j0 + tile && j < i; j++)
                    c[i * ldc + j] = c[j * ldc + i];
}
"""


def with_halves(code: str) -> str:
    """C++ in which products look whether one half of them is enough; itself without products."""
    kinds = sorted(set(_CALL.findall(code)))
    begin = code.find('extern "C" ')
    if not kinds or begin < 0:
        return code
    texts = [_HALF.replace("KIND", kind).replace("TYPE", _TYPES[kind]) for kind in kinds]
    return code[:begin] + "".join(texts) + _CALL.sub(r"loopbook_\1gemm(", code[begin:])
