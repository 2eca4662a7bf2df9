"""PolyBench/C 4.2.1 ``adi``: 2-D heat equation by alternating-direction implicit steps.

PolyBench's coefficients a..f are named after what they are: ``d_`` the off-diagonal, ``m_`` the
main diagonal of the implicit step along columns (x) and rows (y).
"""

import numpy as np

PARAMETERS = {
    "MINI": {"TSTEPS": 20, "N": 20},
    "SMALL": {"TSTEPS": 40, "N": 60},
    "MEDIUM": {"TSTEPS": 100, "N": 200},
    "LARGE": {"TSTEPS": 500, "N": 1000},
    "EXTRALARGE": {"TSTEPS": 1000, "N": 2000},
}


def initialize(N):
    return {
        "u": np.fromfunction(lambda i, j: (i + N - j) / N, (N, N), dtype=np.int64),
        "v": np.zeros((N, N)),
        "p": np.zeros((N, N)),
        "q": np.zeros((N, N)),
    }


def kernel(TSTEPS, N, u, v, p, q):
    DX = 1.0 / N
    DY = 1.0 / N
    DT = 1.0 / TSTEPS
    mul1 = 2.0 * DT / (DX * DX)
    mul2 = 1.0 * DT / (DY * DY)
    d_x = -mul1 / 2.0
    m_x = 1.0 + mul1
    d_y = -mul2 / 2.0
    m_y = 1.0 + mul2

    for t in range(1, TSTEPS + 1):  # noqa: B007
        for i in range(1, u.shape[0] - 1):
            v[0, i] = 1.0
            p[i, 0] = 0.0
            q[i, 0] = v[0, i]
            for j in range(1, u.shape[0] - 1):
                p[i, j] = -d_x / (d_x * p[i, j - 1] + m_x)
                q[i, j] = (
                    -d_y * u[j, i - 1]
                    + (1.0 + 2.0 * d_y) * u[j, i]
                    - d_y * u[j, i + 1]
                    - d_x * q[i, j - 1]
                ) / (d_x * p[i, j - 1] + m_x)
            v[u.shape[0] - 1, i] = 1.0
            for j in range(u.shape[0] - 2, 0, -1):
                v[j, i] = p[i, j] * v[j + 1, i] + q[i, j]
        for i in range(1, u.shape[0] - 1):
            u[i, 0] = 1.0
            p[i, 0] = 0.0
            q[i, 0] = u[i, 0]
            for j in range(1, u.shape[0] - 1):
                p[i, j] = -d_y / (d_y * p[i, j - 1] + m_y)
                q[i, j] = (
                    -d_x * v[i - 1, j]
                    + (1.0 + 2.0 * d_x) * v[i, j]
                    - d_x * v[i + 1, j]
                    - d_y * q[i, j - 1]
                ) / (d_y * p[i, j - 1] + m_y)
            u[i, u.shape[0] - 1] = 1.0
            for j in range(u.shape[0] - 2, 0, -1):
                u[i, j] = p[i, j] * u[i, j + 1] + q[i, j]


def _half_step(off_in, off, grid, p, q):
    """Solve (1 - off*D2) x = (1 + ...) for the interior rows of `grid`; returns the new grid^T.

    Each interior column of `grid` gives a tridiagonal system along its length, boundary values 1.
    """
    n = grid.shape[0]
    main = 1.0 - 2.0 * off
    inner = slice(1, n - 1)
    p[inner, 0] = 0.0
    q[inner, 0] = 1.0
    for j in range(1, n - 1):
        pivot = off * p[inner, j - 1] + main
        explicit = -off_in * (grid[j, :-2] + grid[j, 2:]) + (1.0 + 2.0 * off_in) * grid[j, inner]
        p[inner, j] = -off / pivot
        q[inner, j] = (explicit - off * q[inner, j - 1]) / pivot
    solution = np.ones(n - 2)
    columns = [solution]
    for j in range(n - 2, 0, -1):
        solution = p[inner, j] * solution + q[inner, j]
        columns.append(solution)
    columns.append(np.ones(n - 2))
    return np.array(columns[::-1])


def reference(TSTEPS, N, u, v, p, q):
    d_x = -(2.0 / TSTEPS) * N**2 / 2.0
    d_y = -(1.0 / TSTEPS) * N**2 / 2.0
    for _ in range(TSTEPS):
        v[:, 1:-1] = _half_step(d_y, d_x, u, p, q)
        u[1:-1, :] = _half_step(d_x, d_y, v.T, p, q).T
