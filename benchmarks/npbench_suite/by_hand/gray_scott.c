/* One pass over both fields for each step, in place: of the row above, which has been updated, a copy
   is kept as it was. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void wrap(double *a, int64_t rows, int64_t columns)
{
    memcpy(a, a + (rows - 2) * columns, columns * sizeof *a);
    memcpy(a + (rows - 1) * columns, a + columns, columns * sizeof *a);
    for (int64_t i = 0; i < rows; i++) {
        a[i * columns] = a[i * columns + columns - 2];
        a[i * columns + columns - 1] = a[i * columns + 1];
    }
}

void run(double *U, int64_t rows, int64_t columns, double *V, int64_t v0, int64_t v1, int64_t steps)
{
    double *kept = malloc(4 * columns * sizeof *kept);
    for (int64_t t = 0; t < steps; t++) {
        double *above_u = kept, *above_v = kept + columns;
        double *next_u = kept + 2 * columns, *next_v = kept + 3 * columns;
        memcpy(above_u, U, columns * sizeof *U);
        memcpy(above_v, V, columns * sizeof *V);
        for (int64_t i = 1; i < rows - 1; i++) {
            double *restrict u = U + i * columns, *restrict v = V + i * columns;
            const double *restrict below_u = u + columns, *restrict below_v = v + columns;
            memcpy(next_u, u, columns * sizeof *u);
            memcpy(next_v, v, columns * sizeof *v);
            const double *restrict a = next_u, *restrict b = next_v;
            const double *restrict up = above_u, *restrict vp = above_v;
            for (int64_t j = 1; j < columns - 1; j++) {
                double r = a[j] * b[j] * b[j];
                double lu = up[j] + a[j - 1] - 4 * a[j] + a[j + 1] + below_u[j];
                double lv = vp[j] + b[j - 1] - 4 * b[j] + b[j + 1] + below_v[j];
                u[j] = a[j] + (0.16 * lu - r + 0.06 * (1 - a[j]));
                v[j] = b[j] + (0.08 * lv + r - 0.122 * b[j]);
            }
            double *swap = above_u;
            above_u = next_u;
            next_u = swap;
            swap = above_v;
            above_v = next_v;
            next_v = swap;
        }
        wrap(U, rows, columns);
        wrap(V, rows, columns);
    }
    free(kept);
}
