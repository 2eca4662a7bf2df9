/* Tiles of 4 rows and 8 columns in registers, over a transposed copy. */
#include <stdint.h>
#include <stdlib.h>

enum { ROWS = 4, COLUMNS = 8 };

void run(double alpha, double beta, double *restrict c, int64_t n, int64_t width,
         const double *restrict a, int64_t rows, int64_t m)
{
    int64_t padded = (n + COLUMNS - 1) / COLUMNS * COLUMNS;
    double *restrict t = calloc(m * padded, sizeof *t);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < m; k++) t[k * padded + i] = a[i * m + k];
    for (int64_t i = 0; i < n; i += ROWS) {
        int64_t last = i + ROWS < n ? i + ROWS : n;
        for (int64_t j = 0; j < last; j += COLUMNS) {
            double sums[ROWS][COLUMNS] = {{0}};
            for (int64_t k = 0; k < m; k++)
                for (int r = 0; r < ROWS; r++) {
                    double factor = t[k * padded + (i + r < padded ? i + r : i)];
                    for (int s = 0; s < COLUMNS; s++)
                        sums[r][s] += factor * t[k * padded + j + s];
                }
            for (int64_t r = i; r < last; r++)
                for (int64_t s = j; s < j + COLUMNS && s <= r; s++)
                    c[r * n + s] = beta * c[r * n + s] + alpha * sums[r - i][s - j];
        }
    }
    free(t);
}
