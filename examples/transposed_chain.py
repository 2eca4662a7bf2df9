"""Two products in a row, the second with a transposed operand: (first @ second) @ third.T"""

import numpy as np

PARAMETERS = {
    "S": {"N": 90, "M": 110, "K": 100},
    "M": {"N": 360, "M": 440, "K": 400},
    "L": {"N": 760, "M": 840, "K": 800},
}


def initialize(N, M, K):
    numbers = np.random.default_rng(11)
    return {
        "first": numbers.random((N, K)),
        "second": numbers.random((K, M)),
        "third": numbers.random((N, M)),
        "between": np.zeros((N, M)),
        "result": np.zeros((N, N)),
    }


def kernel(first, second, third, between, result):
    for row in range(first.shape[0]):
        for col in range(second.shape[1]):
            for mid in range(first.shape[1]):
                between[row, col] += first[row, mid] * second[mid, col]
    for row in range(first.shape[0]):
        for col in range(third.shape[0]):
            for mid in range(third.shape[1]):
                result[row, col] += between[row, mid] * third[col, mid]


def reference(first, second, third, between, result):
    between += first @ second
    result += between @ third.T
