"""PolyBench/C 4.2.1 ``correlation``: the correlation matrix of M variables from N observations."""

import numpy as np

PARAMETERS = {
    "MINI": {"M": 28, "N": 32},
    "SMALL": {"M": 80, "N": 100},
    "MEDIUM": {"M": 240, "N": 260},
    "LARGE": {"M": 1200, "N": 1400},
    "EXTRALARGE": {"M": 2600, "N": 3000},
}


def initialize(M, N):
    data = np.fromfunction(lambda i, j: (i * j) / M + i, (N, M), dtype=np.int64)
    return {
        "float_n": float(N),
        "data": data,
        "corr": np.zeros((M, M)),
        "mean": np.zeros(M),
        "stddev": np.zeros(M),
    }


def kernel(float_n, data, corr, mean, stddev):
    for j in range(data.shape[1]):
        mean[j] = 0.0
        for i in range(data.shape[0]):
            mean[j] += data[i, j]
        mean[j] /= float_n

    for j in range(data.shape[1]):
        stddev[j] = 0.0
        for i in range(data.shape[0]):
            stddev[j] += (data[i, j] - mean[j]) * (data[i, j] - mean[j])
        stddev[j] /= float_n
        stddev[j] = np.sqrt(stddev[j])
        # A column that hardly varies would divide by almost nothing below.
        stddev[j] = 1.0 if stddev[j] <= 0.1 else stddev[j]

    # Its own row index: docc 0.8 shares a variable that other loops use between threads.
    for row in range(data.shape[0]):
        for j in range(data.shape[1]):
            data[row, j] -= mean[j]
            data[row, j] = data[row, j] / (np.sqrt(float_n) * stddev[j])

    for i in range(corr.shape[0] - 1):
        corr[i, i] = 1.0
        for j in range(i + 1, corr.shape[0]):
            corr[i, j] = 0.0
            for k in range(data.shape[0]):
                corr[i, j] += data[k, i] * data[k, j]
            corr[j, i] = corr[i, j]
    corr[corr.shape[0] - 1, corr.shape[0] - 1] = 1.0


def reference(float_n, data, corr, mean, stddev):
    mean[:] = data.sum(axis=0) / float_n
    stddev[:] = np.sqrt(((data - mean) ** 2).sum(axis=0) / float_n)
    stddev[stddev <= 0.1] = 1.0
    data[:] = (data - mean) / (np.sqrt(float_n) * stddev)
    corr[:] = data.T @ data
    np.fill_diagonal(corr, 1.0)
