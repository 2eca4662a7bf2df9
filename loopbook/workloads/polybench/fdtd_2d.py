"""PolyBench/C 4.2.1 ``fdtd-2d``: finite-difference time-domain kernel for Maxwell's equations."""

import numpy as np

PARAMETERS = {
    "MINI": {"TMAX": 20, "NX": 20, "NY": 30},
    "SMALL": {"TMAX": 40, "NX": 60, "NY": 80},
    "MEDIUM": {"TMAX": 100, "NX": 200, "NY": 240},
    "LARGE": {"TMAX": 500, "NX": 1000, "NY": 1200},
    "EXTRALARGE": {"TMAX": 1000, "NX": 2000, "NY": 2600},
}


def initialize(TMAX, NX, NY):
    return {
        "ex": np.fromfunction(lambda i, j: i * (j + 1) / NX, (NX, NY), dtype=np.int64),
        "ey": np.fromfunction(lambda i, j: i * (j + 2) / NY, (NX, NY), dtype=np.int64),
        "hz": np.fromfunction(lambda i, j: i * (j + 3) / NX, (NX, NY), dtype=np.int64),
        "_fict_": np.arange(TMAX, dtype=np.float64),
    }


def kernel(TMAX, ex, ey, hz, _fict_):
    for t in range(TMAX):
        for j in range(ey.shape[1]):
            ey[0, j] = _fict_[t]
        # Row indices of their own: docc 0.8 shares one that other loops use between threads.
        for i1 in range(1, ey.shape[0]):
            for j in range(ey.shape[1]):
                ey[i1, j] = ey[i1, j] - 0.5 * (hz[i1, j] - hz[i1 - 1, j])
        for i2 in range(ex.shape[0]):
            for j in range(1, ex.shape[1]):
                ex[i2, j] = ex[i2, j] - 0.5 * (hz[i2, j] - hz[i2, j - 1])
        for i3 in range(hz.shape[0] - 1):
            for j in range(hz.shape[1] - 1):
                hz[i3, j] = hz[i3, j] - 0.7 * (
                    ex[i3, j + 1] - ex[i3, j] + ey[i3 + 1, j] - ey[i3, j]
                )


def reference(TMAX, ex, ey, hz, _fict_):
    for t in range(TMAX):
        ey[0] = _fict_[t]
        ey[1:] -= 0.5 * np.diff(hz, axis=0)
        ex[:, 1:] -= 0.5 * np.diff(hz, axis=1)
        hz[:-1, :-1] -= 0.7 * (np.diff(ex, axis=1)[:-1] + np.diff(ey, axis=0)[:, :-1])
