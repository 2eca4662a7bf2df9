"""PolyBench/C 4.2.1 ``3mm``: three matrix products, G := (A*B)*(C*D).

PolyBench calls the two intermediate products E and F; here they are ``AB`` and ``CD``, because E is
Euler's number to symbolic engines.
"""

import numpy as np

PARAMETERS = {
    "MINI": {"NI": 16, "NJ": 18, "NK": 20, "NL": 22, "NM": 24},
    "SMALL": {"NI": 40, "NJ": 50, "NK": 60, "NL": 70, "NM": 80},
    "MEDIUM": {"NI": 180, "NJ": 190, "NK": 200, "NL": 210, "NM": 220},
    "LARGE": {"NI": 800, "NJ": 900, "NK": 1000, "NL": 1100, "NM": 1200},
    "EXTRALARGE": {"NI": 1600, "NJ": 1800, "NK": 2000, "NL": 2200, "NM": 2400},
}


def initialize(NI, NJ, NK, NL, NM):
    return {
        "AB": np.zeros((NI, NJ)),
        "A": np.fromfunction(lambda i, j: ((i * j + 1) % NI) / (5 * NI), (NI, NK), dtype=np.int64),
        "B": np.fromfunction(
            lambda i, j: ((i * (j + 1) + 2) % NJ) / (5 * NJ), (NK, NJ), dtype=np.int64
        ),
        "CD": np.zeros((NJ, NL)),
        "C": np.fromfunction(lambda i, j: (i * (j + 3) % NL) / (5 * NL), (NJ, NM), dtype=np.int64),
        "D": np.fromfunction(
            lambda i, j: ((i * (j + 2) + 2) % NK) / (5 * NK), (NM, NL), dtype=np.int64
        ),
        "G": np.zeros((NI, NL)),
    }


def kernel(AB, A, B, CD, C, D, G):
    for i in range(AB.shape[0]):
        for j in range(AB.shape[1]):
            AB[i, j] = 0.0
            for k in range(A.shape[1]):
                AB[i, j] += A[i, k] * B[k, j]
    for i in range(CD.shape[0]):
        for j in range(CD.shape[1]):
            CD[i, j] = 0.0
            for k in range(C.shape[1]):
                CD[i, j] += C[i, k] * D[k, j]
    for i in range(G.shape[0]):
        for j in range(G.shape[1]):
            G[i, j] = 0.0
            for k in range(AB.shape[1]):
                G[i, j] += AB[i, k] * CD[k, j]


def reference(AB, A, B, CD, C, D, G):
    AB[:] = A @ B
    CD[:] = C @ D
    G[:] = AB @ CD
