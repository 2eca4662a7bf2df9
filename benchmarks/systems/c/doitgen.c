/* A[r][q][:] = A[r][q][:] C4 for every r and q. */
void kernel(double A[NR][NQ][NP], double C4[NP][NP], double sum_[NP]) {
    for (int r = 0; r < NR; r++)
        for (int q = 0; q < NQ; q++) {
            for (int p = 0; p < NP; p++) {
                sum_[p] = 0.0;
                for (int s = 0; s < NP; s++)
                    sum_[p] += A[r][q][s] * C4[s][p];
            }
            for (int p = 0; p < NP; p++)
                A[r][q][p] = sum_[p];
        }
}
