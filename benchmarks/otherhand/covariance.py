"""covariance of PolyBench as others might have written it: see `benchmarks/otherhand.py`."""

from __future__ import annotations

from loopbook.workloads.polybench.covariance import PARAMETERS, initialize, kernel

__all__ = ["PARAMETERS", "initialize", "kernel"]


def permuted(float_n, data, cov, mean):
    for j in range(data.shape[1]):
        mean[j] = 0.0
    for i in range(data.shape[0]):
        for j in range(data.shape[1]):
            mean[j] += data[i, j] / float_n
    for row in range(data.shape[0]):
        for j in range(data.shape[1]):
            data[row, j] -= mean[j]
    for i in range(cov.shape[0]):
        for j in range(i, cov.shape[0]):
            cov[i, j] = 0.0
        for k in range(data.shape[0]):
            for j in range(i, cov.shape[0]):
                cov[i, j] += data[k, i] * data[k, j]
        for j in range(i, cov.shape[0]):
            cov[i, j] /= float_n - 1.0
            cov[j, i] = cov[i, j]


def temporaries(float_n, data, cov, mean):
    for j in range(data.shape[1]):
        total = 0.0
        for i in range(data.shape[0]):
            total += data[i, j]
        mean[j] = total / float_n
    for row in range(data.shape[0]):
        for j in range(data.shape[1]):
            data[row, j] -= mean[j]
    for i in range(cov.shape[0]):
        for j in range(i, cov.shape[0]):
            total = 0.0
            for k in range(data.shape[0]):
                total += data[k, i] * data[k, j]
            cov[i, j] = total / (float_n - 1.0)
            cov[j, i] = cov[i, j]


def swapped(float_n, data, cov, mean):
    for j in range(data.shape[0]):
        mean[j] = 0.0
        for i in range(data.shape[1]):
            mean[j] += data[j, i]
        mean[j] /= float_n
    for row in range(data.shape[1]):
        for j in range(data.shape[0]):
            data[j, row] -= mean[j]
    for i in range(cov.shape[0]):
        for j in range(i, cov.shape[0]):
            cov[j, i] = 0.0
            for k in range(data.shape[1]):
                cov[j, i] += data[i, k] * data[j, k]
            cov[j, i] /= float_n - 1.0
            cov[i, j] = cov[j, i]
