/* Levinson and Durbin's recursion: both passes run forwards over reversed copies, and the second
   one writes into another buffer instead of a temporary. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void run(const double *restrict r, int64_t n, double *restrict out)
{
    double *reversed = malloc(n * sizeof *reversed);
    double *y = malloc(n * sizeof *y), *next = malloc(n * sizeof *next);
    for (int64_t i = 0; i < n; i++) reversed[i] = r[n - 1 - i];
    double alpha = -r[0], beta = 1;
    y[0] = alpha;
    for (int64_t k = 1; k < n; k++) {
        const double *restrict back = reversed + n - k, *restrict old = y;
        double *restrict new = next, sum = 0;
        beta *= 1 - alpha * alpha;
        for (int64_t i = 0; i < k; i++) sum += back[i] * old[i];
        alpha = -(r[k] + sum) / beta;
        for (int64_t i = 0; i < k; i++) new[i] = old[i] + alpha * old[k - 1 - i];
        new[k] = alpha;
        next = y;
        y = new;
    }
    memcpy(out, y, n * sizeof *y);
    free(reversed);
    free(y);
    free(next);
}
