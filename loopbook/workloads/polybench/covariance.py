"""PolyBench/C 4.2.1 ``covariance``: the covariance matrix of M variables from N observations."""

import numpy as np

PARAMETERS = {
    "MINI": {"M": 28, "N": 32},
    "SMALL": {"M": 80, "N": 100},
    "MEDIUM": {"M": 240, "N": 260},
    "LARGE": {"M": 1200, "N": 1400},
    "EXTRALARGE": {"M": 2600, "N": 3000},
}


def initialize(M, N):
    data = np.fromfunction(lambda i, j: (i * j) / M, (N, M), dtype=np.int64)
    return {
        "float_n": float(N),
        "data": data,
        "cov": np.zeros((M, M)),
        "mean": np.zeros(M),
    }


def kernel(float_n, data, cov, mean):
    for j in range(data.shape[1]):
        mean[j] = 0.0
        for i in range(data.shape[0]):
            mean[j] += data[i, j]
        mean[j] /= float_n

    # Its own row index: docc 0.8 shares a variable that other loops use between threads.
    for row in range(data.shape[0]):
        for j in range(data.shape[1]):
            data[row, j] -= mean[j]

    for i in range(cov.shape[0]):
        for j in range(i, cov.shape[0]):
            cov[i, j] = 0.0
            for k in range(data.shape[0]):
                cov[i, j] += data[k, i] * data[k, j]
            cov[i, j] /= float_n - 1.0
            cov[j, i] = cov[i, j]


def reference(float_n, data, cov, mean):
    mean[:] = data.sum(axis=0) / float_n
    data -= mean
    cov[:] = (data.T @ data) / (float_n - 1.0)
