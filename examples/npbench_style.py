"""A file in the form of the NPBench suite: `initialize` returns a tuple and takes a datatype."""

import numpy as np

PARAMETERS = {
    "S": {"M": 200, "N": 300},
    "M": {"M": 1000, "N": 1200},
    "L": {"M": 3000, "N": 3500},
}


def initialize(M, N, datatype=np.float64):
    u = np.fromfunction(lambda i: (i % 13) / 13, (M,), dtype=datatype)
    v = np.fromfunction(lambda j: (j % 7) / 7, (N,), dtype=datatype)
    A = np.fromfunction(lambda i, j: ((i * 3 + j) % 17) / 17, (M, N), dtype=datatype)
    y = np.zeros((N,), dtype=datatype)
    return A, u, v, y


def kernel(A, u, v, y):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            A[i, j] += u[i] * v[j]
    for j in range(A.shape[1]):
        for i in range(A.shape[0]):
            y[j] += A[i, j] * u[i]
