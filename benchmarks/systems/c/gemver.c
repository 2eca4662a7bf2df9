/* A += u1 v1^T + u2 v2^T, x += beta A^T y + z, w += alpha A x. */
void kernel(double alpha, double beta, double A[N][N], double u1[N], double v1[N], double u2[N],
            double v2[N], double w[N], double x[N], double y[N], double z[N]) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            A[i][j] = A[i][j] + u1[i] * v1[j] + u2[i] * v2[j];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            x[i] = x[i] + beta * A[j][i] * y[j];
    for (int i = 0; i < N; i++)
        x[i] = x[i] + z[i];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            w[i] = w[i] + alpha * A[i][j] * x[j];
}
