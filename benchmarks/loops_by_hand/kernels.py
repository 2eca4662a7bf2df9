"""Kernels as people write them in loops; `kernels.c` has the same by hand."""

import math


def prolong(c, f):
    n = c.shape[0]
    for i in range(n - 1):
        for j in range(n - 1):
            f[2 * i, 2 * j] = c[i, j]
            f[2 * i + 1, 2 * j] = 0.5 * (c[i, j] + c[i + 1, j])
            f[2 * i, 2 * j + 1] = 0.5 * (c[i, j] + c[i, j + 1])
            f[2 * i + 1, 2 * j + 1] = 0.25 * (c[i, j] + c[i + 1, j] + c[i, j + 1] + c[i + 1, j + 1])


def restricted(f, c):
    n = c.shape[0]
    for i in range(1, n - 1):
        for j in range(1, n - 1):
            c[i, j] = (
                0.25 * f[2 * i, 2 * j]
                + 0.125
                * (
                    f[2 * i - 1, 2 * j]
                    + f[2 * i + 1, 2 * j]
                    + f[2 * i, 2 * j - 1]
                    + f[2 * i, 2 * j + 1]
                )
                + 0.0625
                * (
                    f[2 * i - 1, 2 * j - 1]
                    + f[2 * i + 1, 2 * j + 1]
                    + f[2 * i - 1, 2 * j + 1]
                    + f[2 * i + 1, 2 * j - 1]
                )
            )


def small(A, B, C):
    for b in range(A.shape[0]):
        for i in range(4):
            for j in range(4):
                s = 0.0
                for k in range(4):
                    s += A[b, i, k] * B[b, k, j]
                C[b, i, j] = s


def conv_nhwc(x, w, y):
    for i in range(y.shape[0]):
        for j in range(y.shape[1]):
            for o in range(y.shape[2]):
                s = 0.0
                for di in range(3):
                    for dj in range(3):
                        for c in range(x.shape[2]):
                            s += x[i + di, j + dj, c] * w[di, dj, c, o]
                y[i, j, o] = max(s, 0.0)


def maxpool(x, y):
    for c in range(y.shape[0]):
        for i in range(y.shape[1]):
            for j in range(y.shape[2]):
                m = x[c, 2 * i, 2 * j]
                m = max(m, x[c, 2 * i, 2 * j + 1])
                m = max(m, x[c, 2 * i + 1, 2 * j])
                m = max(m, x[c, 2 * i + 1, 2 * j + 1])
                y[c, i, j] = m


def integral(x, s):
    for i in range(1, s.shape[0]):
        for j in range(1, s.shape[1]):
            s[i, j] = x[i - 1, j - 1] + s[i - 1, j] + s[i, j - 1] - s[i - 1, j - 1]


def dtw(a, b, d):
    for i in range(1, d.shape[0]):
        for j in range(1, d.shape[1]):
            c = abs(a[i - 1] - b[j - 1])
            d[i, j] = c + min(d[i - 1, j], min(d[i, j - 1], d[i - 1, j - 1]))


def resize(x, y):
    h = x.shape[0]
    w = x.shape[1]
    for i in range(y.shape[0]):
        for j in range(y.shape[1]):
            v = i * (h - 1) / y.shape[0]
            u = j * (w - 1) / y.shape[1]
            a = int(v)
            b = int(u)
            p = v - a
            q = u - b
            y[i, j] = (1 - p) * ((1 - q) * x[a, b] + q * x[a, b + 1]) + p * (
                (1 - q) * x[a + 1, b] + q * x[a + 1, b + 1]
            )


def batched_thomas(a, b, c, d):
    n = a.shape[0]
    for i in range(1, n):
        for k in range(a.shape[1]):
            m = a[i, k] / b[i - 1, k]
            b[i, k] = b[i, k] - m * c[i - 1, k]
            d[i, k] = d[i, k] - m * d[i - 1, k]
    for k in range(a.shape[1]):
        d[n - 1, k] = d[n - 1, k] / b[n - 1, k]
    for i in range(n - 2, -1, -1):
        for k in range(a.shape[1]):
            d[i, k] = (d[i, k] - c[i, k] * d[i + 1, k]) / b[i, k]


def horner(x, c, y):
    for i in range(x.shape[0]):
        s = 0.0
        for k in range(c.shape[0]):
            s = s * x[i] + c[k]
        y[i] = s


def life(a, b):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            n = (
                a[i - 1, j - 1]
                + a[i - 1, j]
                + a[i - 1, j + 1]
                + a[i, j - 1]
                + a[i, j + 1]
                + a[i + 1, j - 1]
                + a[i + 1, j]
                + a[i + 1, j + 1]
            )
            if n == 3 or (n == 2 and a[i, j] == 1):
                b[i, j] = 1
            else:
                b[i, j] = 0


def nbody(p, m, f):
    for i in range(p.shape[0]):
        for j in range(p.shape[0]):
            dx = p[j, 0] - p[i, 0]
            dy = p[j, 1] - p[i, 1]
            dz = p[j, 2] - p[i, 2]
            r = 1.0 / math.sqrt(dx * dx + dy * dy + dz * dz + 0.01)
            s = m[j] * r * r * r
            f[i, 0] += s * dx
            f[i, 1] += s * dy
            f[i, 2] += s * dz


def layernorm(x, g, b, y):
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(x.shape[1]):
            s += x[i, j]
        m = s / x.shape[1]
        v = 0.0
        for j in range(x.shape[1]):
            v += (x[i, j] - m) * (x[i, j] - m)
        r = 1.0 / math.sqrt(v / x.shape[1] + 1e-5)
        for j in range(x.shape[1]):
            y[i, j] = (x[i, j] - m) * r * g[j] + b[j]


def softmax_grad(y, g, d):
    for i in range(y.shape[0]):
        s = 0.0
        for j in range(y.shape[1]):
            s += y[i, j] * g[i, j]
        for j in range(y.shape[1]):
            d[i, j] = y[i, j] * (g[i, j] - s)


def lstm(x, h, c, W, U, b, z):
    n = h.shape[0]
    for k in range(4 * n):
        s = b[k]
        for j in range(x.shape[0]):
            s += W[k, j] * x[j]
        for j in range(n):
            s += U[k, j] * h[j]
        z[k] = s
    for k in range(n):
        i = 1.0 / (1.0 + math.exp(-z[k]))
        f = 1.0 / (1.0 + math.exp(-z[n + k]))
        o = 1.0 / (1.0 + math.exp(-z[2 * n + k]))
        g = math.tanh(z[3 * n + k])
        c[k] = f * c[k] + i * g
        h[k] = o * math.tanh(c[k])


def ewma(x, y, a):
    for k in range(x.shape[1]):
        y[0, k] = x[0, k]
    for i in range(1, x.shape[0]):
        for k in range(x.shape[1]):
            y[i, k] = a * x[i, k] + (1 - a) * y[i - 1, k]


def rgb2gray(x, y):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            y[i, j] = 0.299 * x[i, j, 0] + 0.587 * x[i, j, 1] + 0.114 * x[i, j, 2]


def spmv(v, col, ptr, x, y):
    for i in range(y.shape[0]):
        s = 0.0
        for k in range(ptr[i], ptr[i + 1]):
            s += v[k] * x[col[k]]
        y[i] = s


def covar(x, mu, s):
    for i in range(s.shape[0]):
        for j in range(i, s.shape[0]):
            t = 0.0
            for k in range(x.shape[0]):
                t += (x[k, i] - mu[i]) * (x[k, j] - mu[j])
            s[i, j] = t / (x.shape[0] - 1)
            s[j, i] = s[i, j]


def householder(A, v, w):
    n = A.shape[0]
    for k in range(n - 1):
        s = 0.0
        for i in range(k, n):
            s += A[i, k] * A[i, k]
        r = math.sqrt(s)
        if A[k, k] > 0:
            r = -r
        for i in range(k, n):
            v[i] = A[i, k]
        v[k] = v[k] - r
        q = 0.0
        for i in range(k, n):
            q += v[i] * v[i]
        for j in range(k, n):
            t = 0.0
            for i in range(k, n):
                t += v[i] * A[i, j]
            w[j] = 2.0 * t / q
        for i in range(k, n):
            for j in range(k, n):
                A[i, j] = A[i, j] - v[i] * w[j]


def fft(re, im, wr, wi):
    n = re.shape[0]
    size = 2
    while size <= n:
        half = size // 2
        step = n // size
        for i in range(0, n, size):
            for k in range(half):
                tr = re[i + k + half] * wr[k * step] - im[i + k + half] * wi[k * step]
                ti = re[i + k + half] * wi[k * step] + im[i + k + half] * wr[k * step]
                re[i + k + half] = re[i + k] - tr
                im[i + k + half] = im[i + k] - ti
                re[i + k] = re[i + k] + tr
                im[i + k] = im[i + k] + ti
        size = size * 2


def blackscholes(s, k, t, r, v, c):
    for i in range(s.shape[0]):
        d1 = (math.log(s[i] / k[i]) + (r + 0.5 * v * v) * t[i]) / (v * math.sqrt(t[i]))
        d2 = d1 - v * math.sqrt(t[i])
        n1 = 0.5 * (1.0 + math.erf(d1 / math.sqrt(2.0)))
        n2 = 0.5 * (1.0 + math.erf(d2 / math.sqrt(2.0)))
        c[i] = s[i] * n1 - k[i] * math.exp(-r * t[i]) * n2


def binomial(v, s0, k, u, d, p, disc):
    n = v.shape[0] - 1
    for j in range(n + 1):
        v[j] = max(k - s0 * u**j * d ** (n - j), 0.0)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1):
            v[j] = disc * (p * v[j + 1] + (1 - p) * v[j])
    return v[0]


def viterbi(logA, logB, obs, dp, bp):
    for t in range(1, dp.shape[0]):
        for j in range(dp.shape[1]):
            best = dp[t - 1, 0] + logA[0, j]
            arg = 0
            for i in range(1, dp.shape[1]):
                v = dp[t - 1, i] + logA[i, j]
                if v > best:
                    best = v
                    arg = i
            dp[t, j] = best + logB[j, obs[t]]
            bp[t, j] = arg


def sor(u, f, w):
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            u[i, j] = (1 - w) * u[i, j] + w * 0.25 * (
                u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - f[i, j]
            )


def redblack(u, f):
    for c in range(2):
        for i in range(1, u.shape[0] - 1):
            for j in range(1 + (i + c) % 2, u.shape[1] - 1, 2):
                u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - f[i, j])


def colsum(A, y):
    for j in range(A.shape[1]):
        s = 0.0
        for i in range(A.shape[0]):
            s += A[i, j]
        y[j] = s


def gemvt(A, x, y):
    for j in range(A.shape[1]):
        s = 0.0
        for i in range(A.shape[0]):
            s += A[i, j] * x[i]
        y[j] = 2.0 * s


def gemm_dot(A, B, C):
    for i in range(A.shape[0]):
        for j in range(B.shape[1]):
            s = 0.0
            for k in range(A.shape[1]):
                s += abs(A[i, k] - B[k, j])
            C[i, j] = s


def cumdown(A, y):
    for j in range(A.shape[1]):
        s = 0.0
        for i in range(A.shape[0]):
            s = s * 0.9 + A[i, j]
            y[i, j] = s


def transpose(a, b):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[j, i] = a[i, j]


def scan_rows(a, b):
    for i in range(a.shape[0]):
        s = 0.0
        for j in range(a.shape[1]):
            s += a[i, j]
            b[i, j] = s


def hist(x, h, n):
    for i in range(x.shape[0]):
        k = int(x[i] * n)
        h[k] += 1


def lcs(a, b, t):
    for i in range(1, t.shape[0]):
        for j in range(1, t.shape[1]):
            if a[i - 1] == b[j - 1]:
                t[i, j] = t[i - 1, j - 1] + 1
            else:
                t[i, j] = max(t[i - 1, j], t[i, j - 1])


def jacobi_conv(u, v, tol):
    it = 0
    err = tol + 1.0
    while err > tol and it < 50:
        err = 0.0
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
                d = abs(v[i, j] - u[i, j])
                if d > err:
                    err = d
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                u[i, j] = v[i, j]
        it += 1
    return it


def csc(v, row, ptr, x, y):
    for j in range(x.shape[0]):
        for k in range(ptr[j], ptr[j + 1]):
            y[row[k]] += v[k] * x[j]


def dist(p, q, d):
    for i in range(p.shape[0]):
        for j in range(q.shape[0]):
            s = 0.0
            for k in range(p.shape[1]):
                t = p[i, k] - q[j, k]
                s += t * t
            d[i, j] = math.sqrt(s)


def kde(x, g, h, out):
    for i in range(g.shape[0]):
        s = 0.0
        for j in range(x.shape[0]):
            z = (g[i] - x[j]) / h
            s += math.exp(-0.5 * z * z)
        out[i] = s / (x.shape[0] * h * 2.5066282746310002)


def softmax(x, y):
    for i in range(x.shape[0]):
        m = x[i, 0]
        for j in range(1, x.shape[1]):
            if x[i, j] > m:
                m = x[i, j]
        s = 0.0
        for j in range(x.shape[1]):
            y[i, j] = math.exp(x[i, j] - m)
            s += y[i, j]
        for j in range(x.shape[1]):
            y[i, j] /= s


def gelu(x, y):
    for i in range(x.shape[0]):
        y[i] = 0.5 * x[i] * (1.0 + math.tanh(0.7978845608 * (x[i] + 0.044715 * x[i] ** 3)))


def batchnorm(x, g, b, y):
    n = x.shape[0] * x.shape[2] * x.shape[3]
    for c in range(x.shape[1]):
        s = 0.0
        q = 0.0
        for k in range(x.shape[0]):
            for i in range(x.shape[2]):
                for j in range(x.shape[3]):
                    s += x[k, c, i, j]
                    q += x[k, c, i, j] * x[k, c, i, j]
        m = s / n
        r = 1.0 / math.sqrt(q / n - m * m + 1e-5)
        for k in range(x.shape[0]):
            for i in range(x.shape[2]):
                for j in range(x.shape[3]):
                    y[k, c, i, j] = (x[k, c, i, j] - m) * r * g[c] + b[c]


def conv_nchw(x, w, y):
    for o in range(y.shape[0]):
        for i in range(y.shape[1]):
            for j in range(y.shape[2]):
                s = 0.0
                for c in range(x.shape[0]):
                    for p in range(3):
                        for q in range(3):
                            s += x[c, i + p, j + q] * w[o, c, p, q]
                y[o, i, j] = s


def depthwise(x, w, y):
    for c in range(y.shape[0]):
        for i in range(y.shape[1]):
            for j in range(y.shape[2]):
                s = 0.0
                for p in range(3):
                    for q in range(3):
                        s += x[c, i + p, j + q] * w[c, p, q]
                y[c, i, j] = s


def attention(q, k, v, o, s):
    n = q.shape[0]
    for i in range(n):
        m = -1e30
        for j in range(n):
            t = 0.0
            for d in range(q.shape[1]):
                t += q[i, d] * k[j, d]
            s[j] = t * 0.125
            m = max(m, s[j])
        z = 0.0
        for j in range(n):
            s[j] = math.exp(s[j] - m)
            z += s[j]
        for d in range(q.shape[1]):
            t = 0.0
            for j in range(n):
                t += s[j] * v[j, d]
            o[i, d] = t / z


def packed(ap, x, y):
    n = x.shape[0]
    for i in range(n):
        s = 0.0
        for j in range(i + 1):
            s += ap[i * (i + 1) // 2 + j] * x[j]
        y[i] = s


def autocorr(x, r):
    for k in range(r.shape[0]):
        s = 0.0
        for i in range(x.shape[0] - k):
            s += x[i] * x[i + k]
        r[k] = s


def decimate(x, h, y):
    for i in range(y.shape[0]):
        s = 0.0
        for k in range(h.shape[0]):
            s += x[4 * i + k] * h[k]
        y[i] = s


def dct8(x, c, y):
    for bi in range(x.shape[0] // 8):
        for bj in range(x.shape[1] // 8):
            for u in range(8):
                for v in range(8):
                    s = 0.0
                    for i in range(8):
                        for j in range(8):
                            s += x[8 * bi + i, 8 * bj + j] * c[u, i] * c[v, j]
                    y[8 * bi + u, 8 * bj + v] = s


def lu(a):
    n = a.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] = a[i, k] / a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]


def mandel(cr, ci, out):
    for i in range(ci.shape[0]):
        for j in range(cr.shape[0]):
            x = 0.0
            y = 0.0
            n = 0
            while n < 50 and x * x + y * y < 4.0:
                t = x * x - y * y + cr[j]
                y = 2.0 * x * y + ci[i]
                x = t
                n += 1
            out[i, j] = n


def kmeans(x, c, lab):
    for i in range(x.shape[0]):
        best = 1e300
        arg = 0
        for k in range(c.shape[0]):
            s = 0.0
            for d in range(x.shape[1]):
                t = x[i, d] - c[k, d]
                s += t * t
            if s < best:
                best = s
                arg = k
        lab[i] = arg


def heat3(u, v):
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            for k in range(1, u.shape[2] - 1):
                v[i, j, k] = u[i, j, k] + 0.1 * (
                    u[i - 1, j, k]
                    + u[i + 1, j, k]
                    + u[i, j - 1, k]
                    + u[i, j + 1, k]
                    + u[i, j, k - 1]
                    + u[i, j, k + 1]
                    - 6.0 * u[i, j, k]
                )


def upwind(u, a, b, v):
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            if a[i, j] > 0:
                fx = a[i, j] * (u[i, j] - u[i - 1, j])
            else:
                fx = a[i, j] * (u[i + 1, j] - u[i, j])
            if b[i, j] > 0:
                fy = b[i, j] * (u[i, j] - u[i, j - 1])
            else:
                fy = b[i, j] * (u[i, j + 1] - u[i, j])
            v[i, j] = u[i, j] - 0.1 * (fx + fy)


def gather(x, idx, y):
    for i in range(idx.shape[0]):
        y[i] = x[idx[i]] * 2.0


def lbp(x, y):
    for i in range(1, x.shape[0] - 1):
        for j in range(1, x.shape[1] - 1):
            c = x[i, j]
            k = 0
            if x[i - 1, j - 1] >= c:
                k = k | 1
            if x[i - 1, j] >= c:
                k = k | 2
            if x[i - 1, j + 1] >= c:
                k = k | 4
            if x[i, j + 1] >= c:
                k = k | 8
            if x[i + 1, j + 1] >= c:
                k = k | 16
            y[i, j] = k
