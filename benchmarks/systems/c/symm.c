/* C = alpha A B + beta C, A symmetric with its lower half stored. */
void kernel(double alpha, double beta, double C[M][N], double A[M][M], double B[M][N]) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double temp2 = 0.0;
            for (int k = 0; k < i; k++) {
                C[k][j] += alpha * B[i][j] * A[i][k];
                temp2 += B[k][j] * A[i][k];
            }
            C[i][j] = beta * C[i][j] + alpha * B[i][j] * A[i][i] + alpha * temp2;
        }
}
