"""A matrix product with its loops in the worst order: the innermost runs down columns."""

import numpy as np

PARAMETERS = {
    "S": {"N": 120},
    "M": {"N": 480},
    "L": {"N": 1024},
}


def initialize(N):
    numbers = np.random.default_rng(7)
    left = numbers.random((N, N))
    right = numbers.random((N, N))
    product = np.zeros((N, N))
    return {"left": left, "right": right, "product": product}


def kernel(left, right, product):
    for col in range(right.shape[1]):
        for mid in range(left.shape[1]):
            for row in range(left.shape[0]):
                product[row, col] += left[row, mid] * right[mid, col]


def reference(left, right, product):
    product += left @ right
