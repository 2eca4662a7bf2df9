"""Pearson's form of the equations (Science 261, 1993), explicit Euler, periodic."""


def gray_scott(U, V, steps):
    for _ in range(steps):
        u = U[1:-1, 1:-1]
        v = V[1:-1, 1:-1]
        Lu = U[:-2, 1:-1] + U[1:-1, :-2] - 4.0 * u + U[1:-1, 2:] + U[2:, 1:-1]
        Lv = V[:-2, 1:-1] + V[1:-1, :-2] - 4.0 * v + V[1:-1, 2:] + V[2:, 1:-1]
        uvv = u * v * v
        u += 0.16 * Lu - uvv + 0.06 * (1.0 - u)
        v += 0.08 * Lv + uvv - 0.122 * v
        U[0, :] = U[-2, :]
        U[-1, :] = U[1, :]
        U[:, 0] = U[:, -2]
        U[:, -1] = U[:, 1]
        V[0, :] = V[-2, :]
        V[-1, :] = V[1, :]
        V[:, 0] = V[:, -2]
        V[:, -1] = V[:, 1]
