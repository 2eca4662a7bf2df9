# A benchmark file in the NPBench form whose kernel calls the data otherwise than initialize does.
import numpy as np

PARAMETERS = {"S": {"M": 6, "N": 9}, "L": {"M": 600, "N": 900}}


def initialize(M, N, datatype=np.float64):
    rng = np.random.default_rng(42)
    alpha = datatype(1.5)
    out = np.zeros((M, N), dtype=datatype)
    return alpha, out, rng.random(M, dtype=datatype), rng.random(N, dtype=datatype)


def rank_one(alpha, A, x, y):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            A[i, j] += alpha * x[i] * y[j]
