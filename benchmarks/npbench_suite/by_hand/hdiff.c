/* One pass over planes i: three planes of the Laplacian and two of the flux along i are kept, and one
   row of the flux along j. */
#include <stdint.h>
#include <stdlib.h>

void run(const double *restrict in, int64_t i4, int64_t j4, int64_t k1, double *restrict out,
         int64_t ni, int64_t nj, int64_t nk, const double *restrict coeff, int64_t c0, int64_t c1,
         int64_t c2)
{
    int64_t row = nk, plane = j4 * nk, width = (nj + 2) * nk;
    double *laps = malloc(3 * width * sizeof *laps);
    double *fluxes = malloc(2 * nj * nk * sizeof *fluxes), *across = malloc(2 * nk * sizeof *across);
    for (int64_t i = 0; i < ni + 2; i++) { /* plane i of the Laplacian is at plane i + 1 of in */
        double *restrict lap = laps + i % 3 * width;
        for (int64_t j = 0; j < nj + 2; j++) {
            const double *restrict c = in + (i + 1) * plane + (j + 1) * row;
            for (int64_t k = 0; k < nk; k++)
                lap[j * nk + k] = 4 * c[k] - (c[k + plane] + c[k - plane] + c[k + row] + c[k - row]);
        }
        if (i == 0) continue;
        const double *restrict before = laps + (i - 1) % 3 * width;
        double *restrict flux = fluxes + i % 2 * nj * nk;
        for (int64_t j = 0; j < nj; j++) {
            const double *restrict c = in + (i + 1) * plane + (j + 2) * row;
            for (int64_t k = 0; k < nk; k++) {
                double d = lap[(j + 1) * nk + k] - before[(j + 1) * nk + k];
                flux[j * nk + k] = d * (c[k] - c[k - plane]) > 0 ? 0 : d;
            }
        }
        if (i == 1) continue;
        /* The output's plane i - 2 needs the Laplacian's plane i - 1. */
        const double *restrict last = fluxes + (i - 1) % 2 * nj * nk;
        for (int64_t j = 0; j < nj + 1; j++) {
            const double *restrict c = in + i * plane + (j + 2) * row;
            double *restrict here = across + j % 2 * nk, *restrict there = across + (j + 1) % 2 * nk;
            for (int64_t k = 0; k < nk; k++) {
                double d = before[(j + 1) * nk + k] - before[j * nk + k];
                here[k] = d * (c[k] - c[k - row]) > 0 ? 0 : d;
            }
            if (j == 0) continue;
            int64_t place = ((i - 2) * nj + j - 1) * nk;
            const double *restrict b = in + i * plane + (j + 1) * row;
            for (int64_t k = 0; k < nk; k++)
                out[place + k] = b[k] - coeff[place + k] * (flux[(j - 1) * nk + k] -
                    last[(j - 1) * nk + k] + here[k] - there[k]);
        }
    }
    free(laps);
    free(fluxes);
    free(across);
}
