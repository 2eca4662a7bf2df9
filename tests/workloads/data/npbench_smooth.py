# A benchmark file in the NPBench form: tuple-returning initialize with a datatype default.
import numpy as np

PARAMETERS = {
    "S": {"TSTEPS": 4, "N": 12},
    "M": {"TSTEPS": 10, "N": 60},
}


def initialize(N, datatype=np.float64):
    grid = np.fromfunction(lambda i, j: i * (j + 2) / N, (N, N), dtype=datatype)
    weights = np.array([0.25, 0.5, 0.25], dtype=datatype)
    return grid, weights


def kernel(TSTEPS, grid, weights):
    for t in range(TSTEPS):  # noqa: B007
        for i in range(grid.shape[0]):
            for j in range(1, grid.shape[1] - 1):
                grid[i, j] = (
                    weights[0] * grid[i, j - 1]
                    + weights[1] * grid[i, j]
                    + weights[2] * grid[i, j + 1]
                )
