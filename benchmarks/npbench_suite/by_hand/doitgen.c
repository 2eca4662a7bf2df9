/* The library's product for as many rows as stay in the second cache, and back in place. */
#include <cblas.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 128 };

void run(int64_t nr, int64_t nq, int64_t np, double *restrict a, int64_t d0, int64_t d1, int64_t d2,
         const double *restrict c4, int64_t rows, int64_t columns)
{
    double *restrict block = malloc(ROWS * np * sizeof *block);
    for (int64_t i = 0; i < nr * nq; i += ROWS) {
        int64_t count = nr * nq - i < ROWS ? nr * nq - i : ROWS;
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, count, np, np, 1, a + i * np, np, c4,
                    np, 0, block, np);
        memcpy(a + i * np, block, count * np * sizeof *block);
    }
    free(block);
}
