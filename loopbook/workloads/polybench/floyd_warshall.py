"""PolyBench/C 4.2.1 ``floyd-warshall``: all shortest paths of a dense graph, integer weights."""

import numpy as np

PARAMETERS = {
    "MINI": {"N": 60},
    "SMALL": {"N": 180},
    "MEDIUM": {"N": 500},
    "LARGE": {"N": 2800},
    "EXTRALARGE": {"N": 5600},
}


def initialize(N):
    i, j = np.ogrid[:N, :N]
    path = (i * j % 7 + 1).astype(np.int32)
    path[((i + j) % 13 == 0) | ((i + j) % 7 == 0) | ((i + j) % 11 == 0)] = 999
    return {"path": path}


def kernel(path):
    for k in range(path.shape[0]):
        for i in range(path.shape[0]):
            for j in range(path.shape[0]):
                # With C's conditional expression docc 0.8 moves k inwards, which is wrong.
                if path[i, k] + path[k, j] < path[i, j]:
                    path[i, j] = path[i, k] + path[k, j]


def reference(path):
    for k in range(path.shape[0]):
        np.minimum(path, path[:, k, None] + path[None, k], out=path)
