/* RNA secondary structure: the largest number of matching bases, by dynamic programming. */
static int max(int a, int b) { return a >= b ? a : b; }
static int match(int a, int b) { return a + b == 3 ? 1 : 0; }

void kernel(signed char seq[N], int table[N][N]) {
    for (int i = N - 1; i >= 0; i--)
        for (int j = i + 1; j < N; j++) {
            if (j - 1 >= 0)
                table[i][j] = max(table[i][j], table[i][j - 1]);
            if (i + 1 < N)
                table[i][j] = max(table[i][j], table[i + 1][j]);
            if (j - 1 >= 0 && i + 1 < N) {
                /* Neighbouring bases must not bond. */
                if (i < j - 1)
                    table[i][j] = max(table[i][j], table[i + 1][j - 1] + match(seq[i], seq[j]));
                else
                    table[i][j] = max(table[i][j], table[i + 1][j - 1]);
            }
            for (int k = i + 1; k < j; k++)
                table[i][j] = max(table[i][j], table[i][k] + table[k + 1][j]);
        }
}
