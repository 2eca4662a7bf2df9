"""PolyBench/C 4.2.1 ``gramschmidt``: modified Gram-Schmidt, A = Q*R column by column.

PolyBench's data sets have more columns than rows, and many equal columns. From the first column
that depends on those before it, Q and R hold amplified rounding, or NaN where the remainder is
exactly zero: right programs that merely add up in another order differ there completely.
``results`` names what they must agree on.
"""

import numpy as np

PARAMETERS = {
    "MINI": {"M": 20, "N": 30},
    "SMALL": {"M": 60, "N": 80},
    "MEDIUM": {"M": 200, "N": 240},
    "LARGE": {"M": 1000, "N": 1200},
    "EXTRALARGE": {"M": 2000, "N": 2600},
}


def initialize(M, N):
    return {
        "A": np.fromfunction(lambda i, j: ((i * j) % M) / M * 100 + 10, (M, N), dtype=np.int64),
        "R": np.zeros((N, N)),
        "Q": np.zeros((M, N)),
    }


def kernel(A, R, Q):
    for k in range(A.shape[1]):
        nrm = 0.0
        for i in range(A.shape[0]):
            nrm += A[i, k] * A[i, k]
        R[k, k] = np.sqrt(nrm)
        for i in range(A.shape[0]):
            Q[i, k] = A[i, k] / R[k, k]
        for j in range(k + 1, A.shape[1]):
            R[k, j] = 0.0
            for i in range(A.shape[0]):
                R[k, j] += Q[i, k] * A[i, j]
            for i in range(A.shape[0]):
                A[i, j] = A[i, j] - Q[i, k] * R[k, j]


def reference(A, R, Q):
    for k in range(A.shape[1]):
        R[k, k] = np.linalg.norm(A[:, k])
        Q[:, k] = A[:, k] / R[k, k]
        R[k, k + 1 :] = Q[:, k] @ A[:, k + 1 :]
        A[:, k + 1 :] -= np.outer(Q[:, k], R[k, k + 1 :])


def results(A, R, Q):
    """What rounding cannot turn around: all that belongs to the columns before a dependent one."""
    lengths = np.diag(R)
    dependent = np.flatnonzero(~(lengths > 1e-6 * lengths[0]))
    independent = int(dependent[0]) if dependent.size else lengths.size
    return [R[:independent], Q[:, :independent], A[:, :independent]]
