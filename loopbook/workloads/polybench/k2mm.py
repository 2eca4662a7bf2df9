"""PolyBench/C 4.2.1 ``2mm``: two matrix products, D := alpha*A*B*C + beta*D."""

import numpy as np

PARAMETERS = {
    "MINI": {"NI": 16, "NJ": 18, "NK": 22, "NL": 24},
    "SMALL": {"NI": 40, "NJ": 50, "NK": 70, "NL": 80},
    "MEDIUM": {"NI": 180, "NJ": 190, "NK": 210, "NL": 220},
    "LARGE": {"NI": 800, "NJ": 900, "NK": 1100, "NL": 1200},
    "EXTRALARGE": {"NI": 1600, "NJ": 1800, "NK": 2200, "NL": 2400},
}


def initialize(NI, NJ, NK, NL):
    return {
        "alpha": 1.5,
        "beta": 1.2,
        "tmp": np.zeros((NI, NJ)),
        "A": np.fromfunction(lambda i, j: ((i * j + 1) % NI) / NI, (NI, NK), dtype=np.int64),
        "B": np.fromfunction(lambda i, j: (i * (j + 1) % NJ) / NJ, (NK, NJ), dtype=np.int64),
        "C": np.fromfunction(lambda i, j: ((i * (j + 3) + 1) % NL) / NL, (NJ, NL), dtype=np.int64),
        "D": np.fromfunction(lambda i, j: (i * (j + 2) % NK) / NK, (NI, NL), dtype=np.int64),
    }


def kernel(alpha, beta, tmp, A, B, C, D):
    for i in range(tmp.shape[0]):
        for j in range(tmp.shape[1]):
            tmp[i, j] = 0.0
            for k in range(A.shape[1]):
                tmp[i, j] += alpha * A[i, k] * B[k, j]
    for i in range(D.shape[0]):
        for j in range(D.shape[1]):
            D[i, j] *= beta
            for k in range(tmp.shape[1]):
                D[i, j] += tmp[i, k] * C[k, j]


def reference(alpha, beta, tmp, A, B, C, D):
    tmp[:] = alpha * (A @ B)
    D[:] = beta * D + tmp @ C
