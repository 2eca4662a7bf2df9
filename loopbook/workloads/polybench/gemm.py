"""PolyBench/C 4.2.1 ``gemm``: matrix product, C := alpha*A*B + beta*C."""

import numpy as np

PARAMETERS = {
    "MINI": {"NI": 20, "NJ": 25, "NK": 30},
    "SMALL": {"NI": 60, "NJ": 70, "NK": 80},
    "MEDIUM": {"NI": 200, "NJ": 220, "NK": 240},
    "LARGE": {"NI": 1000, "NJ": 1100, "NK": 1200},
    "EXTRALARGE": {"NI": 2000, "NJ": 2300, "NK": 2600},
}


def initialize(NI, NJ, NK):
    return {
        "alpha": 1.5,
        "beta": 1.2,
        "C": np.fromfunction(lambda i, j: ((i * j + 1) % NI) / NI, (NI, NJ), dtype=np.int64),
        "A": np.fromfunction(lambda i, j: (i * (j + 1) % NK) / NK, (NI, NK), dtype=np.int64),
        "B": np.fromfunction(lambda i, j: (i * (j + 2) % NJ) / NJ, (NK, NJ), dtype=np.int64),
    }


def kernel(alpha, beta, C, A, B):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            C[i, j] *= beta
        for k in range(A.shape[1]):
            for j in range(C.shape[1]):
                C[i, j] += alpha * A[i, k] * B[k, j]


def reference(alpha, beta, C, A, B):
    C[:] = alpha * (A @ B) + beta * C
