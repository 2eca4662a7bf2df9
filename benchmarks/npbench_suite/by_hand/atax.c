/* Each row is read once, and used for both products while it is in a cache. */
#include <stdint.h>
#include <string.h>

void run(const double *restrict a, int64_t m, int64_t n, const double *restrict x, int64_t length,
         double *restrict out)
{
    memset(out, 0, n * sizeof *out);
    for (int64_t i = 0; i < m; i++) {
        const double *restrict row = a + i * n;
        double sum = 0;
        for (int64_t j = 0; j < n; j++) sum += row[j] * x[j];
        for (int64_t j = 0; j < n; j++) out[j] += sum * row[j];
    }
}
