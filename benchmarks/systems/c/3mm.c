/* AB = A B, CD = C D, G = AB CD. */
void kernel(double AB[NI][NJ], double A[NI][NK], double B[NK][NJ], double CD[NJ][NL],
            double C[NJ][NM], double D[NM][NL], double G[NI][NL]) {
    for (int i = 0; i < NI; i++)
        for (int j = 0; j < NJ; j++) {
            AB[i][j] = 0.0;
            for (int k = 0; k < NK; k++)
                AB[i][j] += A[i][k] * B[k][j];
        }
    for (int i = 0; i < NJ; i++)
        for (int j = 0; j < NL; j++) {
            CD[i][j] = 0.0;
            for (int k = 0; k < NM; k++)
                CD[i][j] += C[i][k] * D[k][j];
        }
    for (int i = 0; i < NI; i++)
        for (int j = 0; j < NL; j++) {
            G[i][j] = 0.0;
            for (int k = 0; k < NJ; k++)
                G[i][j] += AB[i][k] * CD[k][j];
        }
}
