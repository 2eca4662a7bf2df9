/* C = alpha (A B^T + B A^T) + beta C, lower half. */
void kernel(double alpha, double beta, double C[N][N], double A[N][M], double B[N][M]) {
    for (int i = 0; i < N; i++) {
        for (int j = 0; j <= i; j++)
            C[i][j] *= beta;
        for (int k = 0; k < M; k++)
            for (int j = 0; j <= i; j++)
                C[i][j] += A[j][k] * alpha * B[i][k] + B[j][k] * alpha * A[i][k];
    }
}
