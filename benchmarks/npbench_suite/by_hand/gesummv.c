/* One pass over both matrices. */
#include <stdint.h>

void run(double alpha, double beta, const double *restrict a, int64_t n, int64_t m,
         const double *restrict b, int64_t rows, int64_t columns, const double *restrict x,
         int64_t length, double *restrict out)
{
    for (int64_t i = 0; i < n; i++) {
        const double *restrict one = a + i * m, *restrict other = b + i * m;
        double first = 0, second = 0;
        for (int64_t j = 0; j < m; j++) {
            first += one[j] * x[j];
            second += other[j] * x[j];
        }
        out[i] = alpha * first + beta * second;
    }
}
