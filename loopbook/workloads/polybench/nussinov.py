"""PolyBench/C 4.2.1 ``nussinov``: RNA secondary structure by dynamic programming, integers."""

import numpy as np

PARAMETERS = {
    "MINI": {"N": 60},
    "SMALL": {"N": 180},
    "MEDIUM": {"N": 500},
    "LARGE": {"N": 2500},
    "EXTRALARGE": {"N": 5500},
}


def initialize(N):
    # The bases A, G, C, T are 0..3; two of them match when they add up to 3.
    return {
        "seq": ((np.arange(N) + 1) % 4).astype(np.int8),
        "table": np.zeros((N, N), dtype=np.int32),
    }


def kernel(seq, table):
    for i in range(table.shape[0] - 1, -1, -1):
        for j in range(i + 1, table.shape[0]):
            if j - 1 >= 0:
                table[i, j] = max(table[i, j], table[i, j - 1])
            if i + 1 < table.shape[0]:
                table[i, j] = max(table[i, j], table[i + 1, j])
            if j - 1 >= 0 and i + 1 < table.shape[0]:
                # Neighbouring bases must not bond.
                if i < j - 1:
                    match = 1 if seq[i] + seq[j] == 3 else 0
                    table[i, j] = max(table[i, j], table[i + 1, j - 1] + match)
                else:
                    table[i, j] = max(table[i, j], table[i + 1, j - 1])
            for k in range(i + 1, j):
                table[i, j] = max(table[i, j], table[i, k] + table[k + 1, j])


def reference(seq, table):
    # By growing length of the interval [i, j]; the kernel goes by falling i.
    n = seq.shape[0]
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            best = max(table[i, j - 1], table[i + 1, j], table[i, j])
            bond = int(length > 1 and seq[i] + seq[j] == 3)
            best = max(best, table[i + 1, j - 1] + bond)
            if length > 1:
                best = max(best, int((table[i, i + 1 : j] + table[i + 2 : j + 1, j]).max()))
            table[i, j] = best
