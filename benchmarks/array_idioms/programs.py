"""Programs in NumPy's form as people write them, many of one line, some of a page."""

from __future__ import annotations

import numpy as np


def kmeans(X, C):
    d = ((X[:, None, :] - C[None, :, :]) ** 2).sum(axis=-1)
    lab = d.argmin(axis=1)
    new = np.zeros_like(C)
    cnt = np.zeros(C.shape[0])
    np.add.at(new, lab, X)
    np.add.at(cnt, lab, 1.0)
    return new / np.maximum(cnt, 1.0)[:, None]


def rbf(X, gamma):
    sq = (X**2).sum(axis=1)
    D = sq[:, None] + sq[None, :] - 2.0 * (X @ X.T)
    return np.exp(-gamma * D)


def water(h, u, v, steps, dt):
    for _ in range(steps):
        dhx = (np.roll(h, -1, 0) - np.roll(h, 1, 0)) * 0.5
        dhy = (np.roll(h, -1, 1) - np.roll(h, 1, 1)) * 0.5
        u -= dt * 9.81 * dhx
        v -= dt * 9.81 * dhy
        div = (np.roll(u, -1, 0) - np.roll(u, 1, 0)) * 0.5 + (
            np.roll(v, -1, 1) - np.roll(v, 1, 1)
        ) * 0.5
        h -= dt * div


def lbm(f, w, cx, cy, omega):
    for i in range(9):
        f[i] = np.roll(np.roll(f[i], cx[i], axis=0), cy[i], axis=1)
    rho = f.sum(axis=0)
    ux = (f * cx[:, None, None]).sum(axis=0) / rho
    uy = (f * cy[:, None, None]).sum(axis=0) / rho
    usq = 1.5 * (ux**2 + uy**2)
    for i in range(9):
        cu = 3.0 * (cx[i] * ux + cy[i] * uy)
        feq = rho * w[i] * (1.0 + cu + 0.5 * cu**2 - usq)
        f[i] += omega * (feq - f[i])


def mlp_grad(x, W1, b1, W2, b2, t):
    z = x @ W1 + b1
    h = np.maximum(z, 0.0)
    y = h @ W2 + b2
    dy = 2.0 * (y - t) / y.size
    dW2 = h.T @ dy
    db2 = dy.sum(axis=0)
    dz = (dy @ W2.T) * (z > 0)
    dW1 = x.T @ dz
    db1 = dz.sum(axis=0)
    return dW1, db1, dW2, db2


def batchnorm(x, g, b):
    m = x.mean(axis=(0, 2, 3), keepdims=True)
    v = x.var(axis=(0, 2, 3), keepdims=True)
    return g[None, :, None, None] * (x - m) / np.sqrt(v + 1e-5) + b[None, :, None, None]


def filter_of_windows(x, k):
    w = np.lib.stride_tricks.sliding_window_view(x, k.shape[0])
    return w @ k


def sobel(a):
    gx = (a[:-2, 2:] + 2 * a[1:-1, 2:] + a[2:, 2:]) - (a[:-2, :-2] + 2 * a[1:-1, :-2] + a[2:, :-2])
    gy = (a[2:, :-2] + 2 * a[2:, 1:-1] + a[2:, 2:]) - (a[:-2, :-2] + 2 * a[:-2, 1:-1] + a[:-2, 2:])
    m = np.hypot(gx, gy)
    return m / m.max()


def bilateral(a, ss, sr):
    p = np.pad(a, 2, mode="edge")
    n, m = a.shape
    num = np.zeros_like(a)
    den = np.zeros_like(a)
    for dy in range(-2, 3):
        for dx in range(-2, 3):
            s = p[2 + dy : 2 + dy + n, 2 + dx : 2 + dx + m]
            wt = np.exp(-(dx * dx + dy * dy) / (2 * ss * ss) - (s - a) ** 2 / (2 * sr * sr))
            num += wt * s
            den += wt
    return num / den


def redblack(u, f, n):
    for _ in range(n):
        u[1:-1:2, 1:-1:2] = 0.25 * (
            u[:-2:2, 1:-1:2]
            + u[2::2, 1:-1:2]
            + u[1:-1:2, :-2:2]
            + u[1:-1:2, 2::2]
            - f[1:-1:2, 1:-1:2]
        )
        u[2:-1:2, 2:-1:2] = 0.25 * (
            u[1:-2:2, 2:-1:2]
            + u[3::2, 2:-1:2]
            + u[2:-1:2, 1:-2:2]
            + u[2:-1:2, 3::2]
            - f[2:-1:2, 2:-1:2]
        )
        u[1:-1:2, 2:-1:2] = 0.25 * (
            u[:-2:2, 2:-1:2]
            + u[2::2, 2:-1:2]
            + u[1:-1:2, 1:-2:2]
            + u[1:-1:2, 3::2]
            - f[1:-1:2, 2:-1:2]
        )
        u[2:-1:2, 1:-1:2] = 0.25 * (
            u[1:-2:2, 1:-1:2]
            + u[3::2, 1:-1:2]
            + u[2:-1:2, :-2:2]
            + u[2:-1:2, 2::2]
            - f[2:-1:2, 1:-1:2]
        )


def flux(U):
    r, m, E = U
    v = m / r
    p = 0.4 * (E - 0.5 * r * v * v)
    return np.array([m, m * v + p, (E + p) * v])


def euler(U, steps, lam):
    for _ in range(steps):
        F = flux(U)
        c = np.abs(U[1] / U[0]) + np.sqrt(1.4 * 0.4 * (U[2] / U[0] - 0.5 * (U[1] / U[0]) ** 2))
        a = np.maximum(c[:-1], c[1:])
        G = 0.5 * (F[:, :-1] + F[:, 1:]) - 0.5 * a * (U[:, 1:] - U[:, :-1])
        U[:, 1:-1] -= lam * (G[:, 1:] - G[:, :-1])
    return U


def nbody(pos, mass):
    d = pos[None, :, :] - pos[:, None, :]
    r2 = (d**2).sum(axis=2) + 0.01
    inv = mass[None, :] * r2**-1.5
    return (d * inv[:, :, None]).sum(axis=1)


def kalman(z, A, H, Q, R):
    n = z.shape[0]
    x = np.zeros(A.shape[0])
    P = np.eye(A.shape[0])
    out = np.zeros((n, A.shape[0]))
    for t in range(n):
        x = A @ x
        P = A @ P @ A.T + Q
        S = H @ P @ H + R
        K = P @ H / S
        x = x + K * (z[t] - H @ x)
        P = P - np.outer(K, H @ P)
        out[t] = x
    return out


def garch(r, a0, a1, b1):
    n = r.shape[0]
    s = np.empty(n)
    s[0] = r.var()
    for t in range(1, n):
        s[t] = a0 + a1 * r[t - 1] ** 2 + b1 * s[t - 1]
    return -0.5 * np.sum(np.log(2 * np.pi) + np.log(s) + r**2 / s)


def em(x, mu, sig, w, it):
    for _ in range(it):
        p = w * np.exp(-0.5 * ((x[:, None] - mu) / sig) ** 2) / (sig * np.sqrt(2 * np.pi))
        g = p / p.sum(axis=1, keepdims=True)
        nk = g.sum(axis=0)
        mu = (g * x[:, None]).sum(axis=0) / nk
        sig = np.sqrt((g * (x[:, None] - mu) ** 2).sum(axis=0) / nk)
        w = nk / x.shape[0]
    return mu, sig, w


def cg(A, b, it):
    x = np.zeros_like(b)
    r = b - A @ x
    p = r.copy()
    rs = r @ r
    for _ in range(it):
        Ap = A @ p
        a = rs / (p @ Ap)
        x += a * p
        r -= a * Ap
        rn = r @ r
        p = r + (rn / rs) * p
        rs = rn
    return x


def pyramid(a):
    return 0.25 * (a[::2, ::2] + a[1::2, ::2] + a[::2, 1::2] + a[1::2, 1::2])


def adam(p, g, m, v, t):
    m[:] = 0.9 * m + 0.1 * g
    v[:] = 0.999 * v + 0.001 * g * g
    mh = m / (1 - 0.9**t)
    vh = v / (1 - 0.999**t)
    p -= 1e-3 * mh / (np.sqrt(vh) + 1e-8)


def cross_entropy(z, y):
    z = z - z.max(axis=1, keepdims=True)
    lse = np.log(np.exp(z).sum(axis=1))
    return np.mean(lse - z[np.arange(z.shape[0]), y])


def attention(q, k, v):
    s = q @ k.T / np.sqrt(q.shape[1])
    mask = np.tril(np.ones(s.shape, dtype=bool))
    s = np.where(mask, s, -1e9)
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True) @ v


def bfgs(H, s, y):
    rho = 1.0 / (y @ s)
    V = np.eye(s.shape[0]) - rho * np.outer(s, y)
    return V @ H @ V.T + rho * np.outer(s, s)


def tree(v, p, disc):
    n = v.shape[0]
    for _i in range(n - 1):
        v = disc * (p * v[1:] + (1 - p) * v[:-1])
    return v[0]


def minmod(u, c, steps):
    for _ in range(steps):
        d = np.diff(u)
        a, b = d[:-1], d[1:]
        s = np.where(a * b > 0, np.sign(a) * np.minimum(np.abs(a), np.abs(b)), 0.0)
        f = u[1:-1] + 0.5 * (1 - c) * s
        u[2:-1] -= c * (f[1:] - f[:-1])
    return u


def forward(A, B, pi, obs):
    al = pi * B[:, obs[0]]
    ll = 0.0
    for t in range(1, obs.shape[0]):
        c = al.sum()
        ll += np.log(c)
        al = (al / c) @ A * B[:, obs[t]]
    return ll + np.log(al.sum())


def haversine(a, b):
    dlat = b[:, 0][None, :] - a[:, 0][:, None]
    dlon = b[:, 1][None, :] - a[:, 1][:, None]
    h = (
        np.sin(dlat / 2) ** 2
        + np.cos(a[:, 0])[:, None] * np.cos(b[:, 0])[None, :] * np.sin(dlon / 2) ** 2
    )
    return 2 * 6371.0 * np.arcsin(np.sqrt(h))


def equalise(img):
    h = np.bincount(img.ravel(), minlength=256)
    c = np.cumsum(h)
    lut = (c - c.min()) * 255 // (c.max() - c.min())
    return lut[img]


def thomas(a, b, c, d):
    n = d.shape[0]
    cp = np.zeros_like(d)
    dp = np.zeros_like(d)
    cp[0] = c[0] / b[0]
    dp[0] = d[0] / b[0]
    for i in range(1, n):
        den = b[i] - a[i] * cp[i - 1]
        cp[i] = c[i] / den
        dp[i] = (d[i] - a[i] * dp[i - 1]) / den
    x = np.zeros_like(d)
    x[-1] = dp[-1]
    for i in range(n - 2, -1, -1):
        x[i] = dp[i] - cp[i] * x[i + 1]
    return x


def grayscott(u, v, steps):
    for _ in range(steps):
        lu = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]
        lv = v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:] - 4 * v[1:-1, 1:-1]
        uc, vc = u[1:-1, 1:-1], v[1:-1, 1:-1]
        uvv = uc * vc * vc
        uc += 0.16 * lu - uvv + 0.06 * (1 - uc)
        vc += 0.08 * lv + uvv - 0.122 * vc


def lagrange(xs, ys, x):
    out = np.zeros_like(x)
    for i in range(xs.shape[0]):
        t = np.ones_like(x)
        for j in range(xs.shape[0]):
            if i != j:
                t *= (x - xs[j]) / (xs[i] - xs[j])
        out += ys[i] * t
    return out


def zscore(x, w):
    c = np.cumsum(np.concatenate((np.zeros(1), x)))
    c2 = np.cumsum(np.concatenate((np.zeros(1), x * x)))
    m = (c[w:] - c[:-w]) / w
    s = np.sqrt((c2[w:] - c2[:-w]) / w - m * m)
    return (x[w - 1 :] - m) / s


def dft(x):
    n = x.shape[0]
    k = np.arange(n)
    return np.exp(-2j * np.pi * k[:, None] * k[None, :] / n) @ x


def correlations_of_columns(X):
    Y = X - X.mean(axis=0)
    C = Y.T @ Y / (X.shape[0] - 1)
    d = np.sqrt(np.diag(C))
    return C / np.outer(d, d)


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def attention_plain(q, k, v):
    return softmax(q @ k.T / np.sqrt(q.shape[1])) @ v


def attention_added(q, k, v):
    n = q.shape[0]
    mask = np.triu(np.full((n, n), -1e9), 1)
    return softmax(q @ k.T / np.sqrt(q.shape[1]) + mask) @ v


def attention_where(q, k, v):
    s = q @ k.T / np.sqrt(q.shape[1])
    s = np.where(np.tril(np.ones(s.shape, dtype=bool)), s, -np.inf)
    return softmax(s) @ v


def attention_by_index(q, k, v):
    s = q @ k.T * (1.0 / np.sqrt(q.shape[1]))
    i = np.arange(s.shape[0])
    s[i[:, None] < i[None, :]] = -1e9
    return softmax(s) @ v


def attention_heads(x, wq, wk, wv, wo, h):
    n, d = x.shape
    q = (x @ wq).reshape(n, h, d // h).transpose(1, 0, 2)
    k = (x @ wk).reshape(n, h, d // h).transpose(1, 0, 2)
    v = (x @ wv).reshape(n, h, d // h).transpose(1, 0, 2)
    s = q @ k.transpose(0, 2, 1) / np.sqrt(d // h)
    p = softmax(s)
    o = (p @ v).transpose(1, 0, 2).reshape(n, d)
    return o @ wo


def attention_batch(q, k, v):
    s = np.einsum("bid,bjd->bij", q, k) / np.sqrt(q.shape[-1])
    return np.einsum("bij,bjd->bid", softmax(s), v)


def dense_relu(x, w, b):
    return np.maximum(x @ w + b, 0)


def logreg(X, y, w, lr, it):
    for _ in range(it):
        p = 1 / (1 + np.exp(-(X @ w)))
        w = w - lr * (X.T @ (p - y)) / X.shape[0]
    return w


def gram_norm(X):
    Z = (X - X.mean(0)) / X.std(0)
    return Z.T @ Z / X.shape[0]


def cosine(A, B):
    A = A / np.linalg.norm(A, axis=1, keepdims=True)
    B = B / np.linalg.norm(B, axis=1, keepdims=True)
    return A @ B.T


def tanh_net(x, w1, w2):
    return np.tanh(np.tanh(x @ w1) @ w2)


def angles(x, y):
    return np.arctan2(y, x)


def logarithms(x):
    return np.log1p(x) + np.log2(x + 1) + np.log10(x + 1)


def tangents(x):
    return np.tan(x)


def hyperbolic(x):
    return np.sinh(x) + np.cosh(x)


def arcs(x):
    return np.arcsin(x)


def arcs_of_cosine(x):
    return np.arccos(x)


def expm1(x):
    return np.expm1(x)


def cbrt(x):
    return np.cbrt(x)


def hypotenuse(x, y):
    return np.hypot(x, y)


def powers_of_data(x, y):
    return x**y


def sincos(x):
    return np.sin(x) * np.cos(x)


def floors_and_remainders(x):
    return np.floor(x * 10) + np.mod(x, 0.3)


def signed_roots(x):
    return np.sign(x - 0.5) * np.sqrt(np.abs(x - 0.5))


def ten_greatest(x):
    return np.sort(x)[::-1][:10].sum()


def distinct(x):
    return np.unique(np.floor(x * 50))


def percentiles(x):
    return np.percentile(x, [5, 50, 95])


def medians_of_rows(X):
    return np.median(X, axis=1)


def sums_down(X):
    return np.cumsum(X, axis=0)


def sums_along(X):
    return np.cumsum(X, axis=1)


def slopes_down(X):
    return np.gradient(X)[0]


def interpolated(x, xp, fp):
    return np.interp(x, xp, fp)


def places_in_sorted(a, v):
    return np.searchsorted(a, v)


def histogram(x):
    return np.histogram(x, bins=50)[0]


def bins(x, e):
    return np.digitize(x, e)


def convolved_same(x, k):
    return np.convolve(x, k, mode="same")


def kronecker(A, B):
    return np.kron(A, B)


def contracted(A, B):
    return np.tensordot(A, B, axes=([1, 2], [0, 1]))


def last_axis_by_vector(A, x):
    return np.einsum("ijk,k->ij", A, x)


def batch_of_grams(A):
    return np.einsum("bij,bkj->bik", A, A)


def pieces_by_where(x):
    return np.where(x < 0.2, 0.0, np.where(x < 0.5, x * x, np.where(x < 0.8, np.sqrt(x), 1.0)))


def pieces_by_select(x):
    return np.select([x < 0.3, x < 0.6], [x, x**2], default=x**3)


def greatest_of_rows(X):
    return np.argmax(X, axis=1)


def greatest_of_columns(X):
    return np.argmax(X, axis=0)


def variances_of_columns(X):
    return X.var(axis=0)


def covariances(X):
    return np.cov(X, rowvar=False)


def norms_of_rows(X):
    return np.linalg.norm(X, axis=1)


def triangles(X):
    return np.triu(X) + np.tril(X, -1) * 2


def turned(X):
    return np.rot90(X) + np.flipud(X)


def mirrored_edges(X):
    return np.pad(X, 3, mode="reflect")


def tiled(x):
    return np.tile(x, (50, 1)) + np.repeat(x[:50], 1)[:, None]


def weighted_counts(x, w, i):
    return np.bincount(i, weights=w, minlength=100)


def running_maximum(x):
    return np.maximum.accumulate(x)


def log_of_sum(x, y):
    return np.logaddexp(x, y)


def sizes_and_angles(z):
    return np.abs(z) ** 2 + np.angle(z)


def rotated_phase(z):
    return (z * np.exp(1j * np.pi / 4)).real


def polynomial(c, x):
    return np.polyval(c, x)


def cross_products(A, B):
    return np.cross(A, B)


def quotients_of_ints(i):
    return (i // 7) * 3 + i % 7


def bits(i):
    return ((i >> 3) ^ (i << 2)) & 1023


def sum_but_nan(x):
    return np.nansum(np.where(x > 0.9, np.nan, x))


def any_bad(x):
    return np.isnan(x).any() or (x > 2).any()


def rows_by_place(X, i):
    return X[i]


def columns_by_place(X, i):
    return np.take(X, i, axis=1)


def product(x):
    return np.prod(1 + x / 1000)


def transposed_copy(X):
    return X.T.copy()


def equal_rows(X, Y):
    return (X[:, None, :] == Y[None, :, :]).all(axis=2).sum()


def mean_of_some(x):
    return x[x > 0.5].mean()


def crossings(x):
    return np.count_nonzero(np.diff(np.sign(x - 0.5)))


def rows_to_shares(X):
    return X / X.sum(axis=1, keepdims=True)


def columns_to_unit(X):
    return (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))


def correlation(x, y):
    return np.corrcoef(x, y)[0, 1]


def two_products_by_vector(X, v):
    return X @ v + (X * X) @ v


def windowed_maximum(x):
    return np.lib.stride_tricks.sliding_window_view(x, 20).max(axis=1)


def distance_on_circle(a, b):
    return np.minimum(np.abs(a - b), 1 - np.abs(a - b))


def remainder(x):
    return x % 0.25


def rounded(x):
    return np.round(x, 2)


def floors(x):
    return np.floor(x * 10).astype(int)


def stacked(X):
    return np.dstack((X, X * 2, X + 1))


def sums_of_tens(X):
    return X.reshape(-1, 10).sum(axis=1)


def means_of_blocks(X):
    return X.reshape(50, 10, 50, 10).mean(axis=(1, 3))


def grey(img):
    return np.dot(img, np.array([0.299, 0.587, 0.114]))


def area(x, y):
    return np.trapezoid(y, x)


def determinant_and_trace(X):
    return np.linalg.det(X[:3, :3]) + np.trace(X)


def bell(x):
    return np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)


def sinc(x):
    return np.sinc(x)


def any_in_rows(X):
    return np.any(X > 0.999, axis=1)


def outer_sums(x, y):
    return np.outer(x, y) + np.add.outer(x, y)


def divisors(i, j):
    return np.gcd(i, j)


def first_of_order(x):
    return np.argsort(x)[:100]


def least_hundred(x):
    return np.partition(x, 100)[:100].sum()


def range_and_deviation(x):
    return np.ptp(x) + np.std(x)


def mean_step(X):
    return np.mean(np.abs(np.diff(X, axis=1)))


def sums_of_parts(x):
    return np.add.reduceat(x, np.arange(0, x.shape[0], 100))


def convolved(x, k):
    return np.convolve(x, k, mode="valid")


def products_of_windows(x, k):
    return np.lib.stride_tricks.sliding_window_view(x, k.shape[0]) @ k


def correlated(x, k):
    return np.correlate(x, k, mode="valid")


def sum_of_shifts(x, k):
    y = np.zeros(x.shape[0] - k.shape[0] + 1)
    for j in range(k.shape[0]):
        y += k[j] * x[j : j + y.shape[0]]
    return y


def dots_of_windows(x, k):
    n = x.shape[0] - k.shape[0] + 1
    y = np.zeros(n)
    for i in range(n):
        y[i] = np.dot(x[i : i + k.shape[0]], k)
    return y


def image_by_shifts(a, w):
    h, v = w.shape
    out = np.zeros((a.shape[0] - h + 1, a.shape[1] - v + 1))
    for i in range(h):
        for j in range(v):
            out += w[i, j] * a[i : i + out.shape[0], j : j + out.shape[1]]
    return out


def image_by_einsum(a, w):
    win = np.lib.stride_tricks.sliding_window_view(a, w.shape)
    return np.einsum("ijkl,kl->ij", win, w)


def image_by_windows(a, w):
    h, v = w.shape
    out = np.zeros((a.shape[0] - h + 1, a.shape[1] - v + 1))
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = np.sum(a[i : i + h, j : j + v] * w)
    return out


def rows_convolved(a, k):
    return np.apply_along_axis(lambda r: np.convolve(r, k, "valid"), 1, a)


def moving_average(x, w):
    return np.convolve(x, np.ones(w) / w, mode="valid")


def fractions(x):
    return x % 0.25


def wrapped(x, L):
    return x % L


def wrapped_by_name(x, L):
    return np.mod(x, L)


def nearest_images(x, L):
    d = x[:, None] - x[None, :]
    d -= L * np.round(d / L)
    return np.abs(d).sum(axis=1)


def phases(x):
    return np.mod(x, 2 * np.pi)


def left_by_division(x, y):
    return np.fmod(x, y)


def periodic_steps(p, v, dt, L, n):
    for _ in range(n):
        p += v * dt
        p %= L
    return p


def wrapped_in_a_loop(x, L):
    y = np.empty_like(x)
    for i in range(x.shape[0]):
        y[i] = x[i] % L
    return y


def floors_of_quotients(x):
    return np.floor(x / 0.3) + x // 0.3


def whole_and_rest(x):
    f, i = np.modf(x * 7)
    return f + i


def remainder_and_quotient(x, L):
    return np.remainder(x, L) - np.floor_divide(x, L)
