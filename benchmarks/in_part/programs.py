"""Programs that hold something without a form in loops, as people write them."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass

import numpy as np

LOG = logging.getLogger("in_part")


def diffusion_by_modes(u, nu, dt):
    k = np.fft.fftfreq(u.shape[0]) * 2 * np.pi
    modes = np.fft.fft(u)
    for i in range(modes.shape[0]):
        modes[i] = modes[i] * np.exp(-nu * k[i] ** 2 * dt)
    return np.real(np.fft.ifft(modes))


def band_energy(x, edges):
    power = np.abs(np.fft.rfft(x)) ** 2
    energy = np.zeros(edges.shape[0] - 1)
    for b in range(edges.shape[0] - 1):
        for i in range(edges[b], edges[b + 1]):
            energy[b] += power[i]
    return energy / energy.sum()


def principal_components(X, count):
    mean = X.mean(axis=0)
    C = np.zeros((X.shape[1], X.shape[1]))
    for i in range(X.shape[0]):
        for a in range(X.shape[1]):
            for b in range(X.shape[1]):
                C[a, b] += (X[i, a] - mean[a]) * (X[i, b] - mean[b])
    C /= X.shape[0] - 1
    _, vectors = np.linalg.eigh(C)
    P = np.zeros((X.shape[0], count))
    for i in range(X.shape[0]):
        for j in range(count):
            for a in range(X.shape[1]):
                P[i, j] += (X[i, a] - mean[a]) * vectors[a, vectors.shape[1] - 1 - j]
    return np.abs(P)


def low_rank(A, rank):
    U, s, V = np.linalg.svd(A, full_matrices=False)
    B = np.zeros(A.shape)
    for r in range(rank):
        for i in range(A.shape[0]):
            for j in range(A.shape[1]):
                B[i, j] += U[i, r] * s[r] * V[r, j]
    rest = 0.0
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            rest += (A[i, j] - B[i, j]) ** 2
    return B, math.sqrt(rest)


def pairs_and_counts(x, width):
    total = 0.0
    for i in range(x.shape[0]):
        for j in range(i):
            total += abs(x[i] - x[j])
    counts = {}
    for value in x:
        key = int(value / width)
        counts[key] = counts.get(key, 0) + 1
    return total, max(counts.values())


def relaxed_with_log(u, f, steps):
    history = []
    for step in range(steps):
        worst = 0.0
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                new = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - f[i, j])
                worst = max(worst, abs(new - u[i, j]))
                u[i, j] = new
        history.append(f"{step}: {worst:.3e}")
        LOG.debug("step %d: %g", step, worst)
    return u, len(history)


def area_of_circle(count, seed):
    numbers = np.random.default_rng(seed)
    points = numbers.random((count, 2))
    inside = 0
    for i in range(count):
        if points[i, 0] ** 2 + points[i, 1] ** 2 < 1.0:
            inside += 1
    return 4.0 * inside / count


def bootstrap(x, rounds, seed):
    numbers = np.random.RandomState(seed)
    means = np.empty(rounds)
    for r in range(rounds):
        chosen = numbers.randint(0, x.shape[0], x.shape[0])
        total = 0.0
        for i in range(chosen.shape[0]):
            total += x[chosen[i]] * x[chosen[i]]
        means[r] = total / chosen.shape[0]
    return np.percentile(means, [2.5, 97.5])


def gaussian_process(X, y, Z, length, noise):
    n = X.shape[0]
    K = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            d = 0.0
            for k in range(X.shape[1]):
                d += (X[i, k] - X[j, k]) ** 2
            K[i, j] = np.exp(-0.5 * d / length**2)
        K[i, i] += noise
    weights = np.linalg.solve(K, y)
    found = np.zeros(Z.shape[0])
    for i in range(Z.shape[0]):
        for j in range(n):
            d = 0.0
            for k in range(X.shape[1]):
                d += (Z[i, k] - X[j, k]) ** 2
            found[i] += np.exp(-0.5 * d / length**2) * weights[j]
    return found


def regression_on_kernels(X, y, Z, length, noise):
    d = ((X[:, None, :] - X[None, :, :]) ** 2).sum(-1)
    K = np.exp(-0.5 * d / length**2) + noise * np.eye(len(X))
    weights = np.linalg.solve(K, y)
    e = ((Z[:, None, :] - X[None, :, :]) ** 2).sum(-1)
    return np.exp(-0.5 * e / length**2) @ weights


def distances_to_mean(X):
    centred = X - X.mean(axis=0)
    inverse = np.linalg.inv(centred.T @ centred / (len(X) - 1))
    return np.sqrt(np.einsum("ij,jk,ik->i", centred, inverse, centred))


def roots_or_nothing(x, shift):
    out = np.empty_like(x)
    try:
        for i in range(x.shape[0]):
            out[i] = math.sqrt(x[i] - shift) + math.log(x[i])
    except ValueError:
        out[:] = np.nan
    return out


def _stiffness(z):
    largest = np.linalg.norm(z, 2)
    total = 0.0
    for i in range(z.shape[0]):
        for j in range(z.shape[1]):
            total += math.sin(z[i, j]) ** 2
    return largest + total


def calls_another(z, count):
    total = 0.0
    for k in range(count):
        total += _stiffness(z * (k + 1))
    return total


def mean_of_smallest(x, count):
    smallest = np.partition(x, count)[:count]
    total = 0.0
    for i in range(count):
        total += smallest[i] * smallest[i]
    outliers = 0
    for i in range(x.shape[0]):
        if x[i] > 3.0 * total / count:
            outliers += 1
    return total / count, outliers


@dataclass
class Report:
    name: str
    mean: float
    lags: np.ndarray


def report_of(x, lags, name):
    mean = 0.0
    for i in range(x.shape[0]):
        mean += x[i]
    mean /= x.shape[0]
    r = np.zeros(lags)
    for lag in range(lags):
        for i in range(x.shape[0] - lag):
            r[lag] += (x[i] - mean) * (x[i + lag] - mean)
    report = Report(name.upper(), float(mean), r / r[0])
    return report.mean, report.lags, len(report.name)


def letters_by_distance(x, words):
    found = []
    for word in words.split():
        shift = sum(ord(letter) for letter in word) % x.shape[0]
        best = 1e30
        for i in range(x.shape[0]):
            d = abs(x[i] - x[shift]) + (1e30 if i == shift else 0.0)
            if d < best:
                best = d
        found.append(best)
    return np.array(found)
