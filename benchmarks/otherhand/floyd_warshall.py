"""floyd-warshall of PolyBench as others might have written it: see `benchmarks/otherhand.py`."""

from __future__ import annotations

from loopbook.workloads.polybench.floyd_warshall import PARAMETERS, initialize, kernel

__all__ = ["PARAMETERS", "initialize", "kernel"]


def permuted(path):
    for k in range(path.shape[0]):
        for j in range(path.shape[0]):
            for i in range(path.shape[0]):
                if path[i, k] + path[k, j] < path[i, j]:
                    path[i, j] = path[i, k] + path[k, j]


def temporaries(path):
    for k in range(path.shape[0]):
        for i in range(path.shape[0]):
            for j in range(path.shape[0]):
                around = path[i, k] + path[k, j]
                if around < path[i, j]:
                    path[i, j] = around


def swapped(path):
    for k in range(path.shape[0]):
        for i in range(path.shape[0]):
            for j in range(path.shape[0]):
                if path[k, i] + path[j, k] < path[j, i]:
                    path[j, i] = path[k, i] + path[j, k]
