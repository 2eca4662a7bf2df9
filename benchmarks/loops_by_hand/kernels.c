/* The kernels of `kernels.py` in C, as somebody who knows the machine writes them in a few minutes:
   loops in the order of memory, sums that may be added in any order, no intrinsics. */
#include <math.h>

#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#pragma clang fp reassociate(on)

void prolong(double* restrict c, double* restrict f, long n) {
    long m = 2 * n;
    for (long i = 0; i < n - 1; i++)
        for (long j = 0; j < n - 1; j++) {
            f[2 * i * m + 2 * j] = c[i * n + j];
            f[(2 * i + 1) * m + 2 * j] = .5 * (c[i * n + j] + c[(i + 1) * n + j]);
            f[2 * i * m + 2 * j + 1] = .5 * (c[i * n + j] + c[i * n + j + 1]);
            f[(2 * i + 1) * m + 2 * j + 1] = .25 * (c[i * n + j] + c[(i + 1) * n + j] +
                                                    c[i * n + j + 1] + c[(i + 1) * n + j + 1]);
        }
}
void restricted(double* restrict f, double* restrict c, long n) {
    long m = 2 * n;
    for (long i = 1; i < n - 1; i++)
        for (long j = 1; j < n - 1; j++)
            c[i * n + j] =
                .25 * f[2 * i * m + 2 * j] +
                .125 * (f[(2 * i - 1) * m + 2 * j] + f[(2 * i + 1) * m + 2 * j] +
                        f[2 * i * m + 2 * j - 1] + f[2 * i * m + 2 * j + 1]) +
                .0625 * (f[(2 * i - 1) * m + 2 * j - 1] + f[(2 * i + 1) * m + 2 * j + 1] +
                         f[(2 * i - 1) * m + 2 * j + 1] + f[(2 * i + 1) * m + 2 * j - 1]);
}
void small(double* restrict A, double* restrict B, double* restrict out, long n) {
    for (long b = 0; b < n; b++)
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) {
                double s = 0;
                for (int k = 0; k < 4; k++) s += A[b * 16 + i * 4 + k] * B[b * 16 + k * 4 + j];
                out[b * 16 + i * 4 + j] = s;
            }
}
void conv_nhwc(double* restrict x, double* restrict w, double* restrict y, long H, long W, long Ci,
               long Co) {
    for (long i = 0; i < H; i++)
        for (long j = 0; j < W; j++) {
            for (long o = 0; o < Co; o++) y[(i * W + j) * Co + o] = 0;
            for (int di = 0; di < 3; di++)
                for (int dj = 0; dj < 3; dj++)
                    for (long c = 0; c < Ci; c++) {
                        double v = x[((i + di) * (W + 2) + j + dj) * Ci + c];
                        for (long o = 0; o < Co; o++)
                            y[(i * W + j) * Co + o] += v * w[((di * 3 + dj) * Ci + c) * Co + o];
                    }
            for (long o = 0; o < Co; o++) y[(i * W + j) * Co + o] = MAX(y[(i * W + j) * Co + o], 0);
        }
}
void maxpool(double* restrict x, double* restrict y, long c, long h, long w) {
    for (long k = 0; k < c; k++)
        for (long i = 0; i < h; i++)
            for (long j = 0; j < w; j++) {
                double* p = x + (k * 2 * h + 2 * i) * 2 * w + 2 * j;
                double m = p[0];
                m = MAX(m, p[1]);
                m = MAX(m, p[2 * w]);
                m = MAX(m, p[2 * w + 1]);
                y[(k * h + i) * w + j] = m;
            }
}
void integral(double* restrict x, double* restrict s, long n) {
    long m = n + 1;
    for (long i = 1; i < m; i++) {
        double r = 0;
        for (long j = 1; j < m; j++) {
            r += x[(i - 1) * n + j - 1];
            s[i * m + j] = s[(i - 1) * m + j] + r;
        }
    }
}
void dtw(double* restrict a, double* restrict b, double* restrict d, long n) {
    long m = n + 1;
    for (long i = 1; i < m; i++)
        for (long j = 1; j < m; j++) {
            double c = fabs(a[i - 1] - b[j - 1]);
            d[i * m + j] =
                c + MIN(d[(i - 1) * m + j], MIN(d[i * m + j - 1], d[(i - 1) * m + j - 1]));
        }
}
void resize(double* restrict x, double* restrict y, long h, long w, long H, long W) {
    for (long i = 0; i < H; i++) {
        double v = (double)(i * (h - 1)) / H;
        long a = v;
        double p = v - a;
        for (long j = 0; j < W; j++) {
            double u = (double)(j * (w - 1)) / W;
            long b = u;
            double q = u - b;
            y[i * W + j] = (1 - p) * ((1 - q) * x[a * w + b] + q * x[a * w + b + 1]) +
                           p * ((1 - q) * x[(a + 1) * w + b] + q * x[(a + 1) * w + b + 1]);
        }
    }
}
void batched_thomas(double* restrict a, double* restrict b, double* restrict c, double* restrict d,
                    long n, long K) {
    for (long i = 1; i < n; i++)
        for (long k = 0; k < K; k++) {
            double m = a[i * K + k] / b[(i - 1) * K + k];
            b[i * K + k] -= m * c[(i - 1) * K + k];
            d[i * K + k] -= m * d[(i - 1) * K + k];
        }
    for (long k = 0; k < K; k++) d[(n - 1) * K + k] /= b[(n - 1) * K + k];
    for (long i = n - 2; i >= 0; i--)
        for (long k = 0; k < K; k++)
            d[i * K + k] = (d[i * K + k] - c[i * K + k] * d[(i + 1) * K + k]) / b[i * K + k];
}
void horner(double* restrict x, double* restrict c, double* restrict y, long n, long m) {
    for (long i = 0; i < n; i += 32) {
        double s[32] = {0};
        for (long k = 0; k < m; k++)
            for (int q = 0; q < 32; q++) s[q] = s[q] * x[i + q] + c[k];
        for (int q = 0; q < 32; q++) y[i + q] = s[q];
    }
}
void life(long* restrict a, long* restrict b, long n) {
    for (long i = 1; i < n - 1; i++)
        for (long j = 1; j < n - 1; j++) {
            long* p = a + i * n + j;
            long s = p[-n - 1] + p[-n] + p[-n + 1] + p[-1] + p[1] + p[n - 1] + p[n] + p[n + 1];
            b[i * n + j] = (s == 3) | ((s == 2) & (p[0] == 1));
        }
}
void nbody(double* restrict p, double* restrict m, double* restrict f, long n) {
    for (long i = 0; i < n; i++) {
        double fx = 0, fy = 0, fz = 0;
        for (long j = 0; j < n; j++) {
            double dx = p[3 * j] - p[3 * i], dy = p[3 * j + 1] - p[3 * i + 1],
                   dz = p[3 * j + 2] - p[3 * i + 2];
            double r = 1 / sqrt(dx * dx + dy * dy + dz * dz + .01);
            double s = m[j] * r * r * r;
            fx += s * dx;
            fy += s * dy;
            fz += s * dz;
        }
        f[3 * i] += fx;
        f[3 * i + 1] += fy;
        f[3 * i + 2] += fz;
    }
}
void layernorm(double* restrict x, double* restrict g, double* restrict b, double* restrict y,
               long n, long m) {
    for (long i = 0; i < n; i++) {
        double s = 0;
        for (long j = 0; j < m; j++) s += x[i * m + j];
        double mu = s / m;
        double v = 0;
        for (long j = 0; j < m; j++) v += (x[i * m + j] - mu) * (x[i * m + j] - mu);
        double r = 1 / sqrt(v / m + 1e-5);
        for (long j = 0; j < m; j++) y[i * m + j] = (x[i * m + j] - mu) * r * g[j] + b[j];
    }
}
void softmax_grad(double* restrict y, double* restrict g, double* restrict d, long n, long m) {
    for (long i = 0; i < n; i++) {
        double s = 0;
        for (long j = 0; j < m; j++) s += y[i * m + j] * g[i * m + j];
        for (long j = 0; j < m; j++) d[i * m + j] = y[i * m + j] * (g[i * m + j] - s);
    }
}
void lstm(double* restrict x, double* restrict h, double* restrict c, double* restrict W,
          double* restrict U, double* restrict b, double* restrict z, long n, long m) {
    for (long k = 0; k < 4 * n; k++) {
        double s = b[k];
        for (long j = 0; j < m; j++) s += W[k * m + j] * x[j];
        for (long j = 0; j < n; j++) s += U[k * n + j] * h[j];
        z[k] = s;
    }
    for (long k = 0; k < n; k++) {
        double i = 1 / (1 + exp(-z[k])), f = 1 / (1 + exp(-z[n + k])),
               o = 1 / (1 + exp(-z[2 * n + k])), g = tanh(z[3 * n + k]);
        c[k] = f * c[k] + i * g;
        h[k] = o * tanh(c[k]);
    }
}
void ewma(double* restrict x, double* restrict y, double a, long n, long m) {
    for (long k = 0; k < m; k++) y[k] = x[k];
    for (long i = 1; i < n; i++)
        for (long k = 0; k < m; k++) y[i * m + k] = a * x[i * m + k] + (1 - a) * y[(i - 1) * m + k];
}
void rgb2gray(double* restrict x, double* restrict y, long n) {
    for (long i = 0; i < n * n; i++)
        y[i] = .299 * x[3 * i] + .587 * x[3 * i + 1] + .114 * x[3 * i + 2];
}
void spmv(double* restrict v, long* restrict col, long* restrict ptr, double* restrict x,
          double* restrict y, long n) {
    for (long i = 0; i < n; i++) {
        double s = 0;
        for (long k = ptr[i]; k < ptr[i + 1]; k++) s += v[k] * x[col[k]];
        y[i] = s;
    }
}
void householder(double* restrict A, double* restrict v, double* restrict w, long n) {
    for (long k = 0; k < n - 1; k++) {
        double s = 0;
        for (long i = k; i < n; i++) s += A[i * n + k] * A[i * n + k];
        double r = sqrt(s);
        if (A[k * n + k] > 0) r = -r;
        for (long i = k; i < n; i++) v[i] = A[i * n + k];
        v[k] -= r;
        double q = 0;
        for (long i = k; i < n; i++) q += v[i] * v[i];
        for (long j = k; j < n; j++) w[j] = 0;
        for (long i = k; i < n; i++)
            for (long j = k; j < n; j++) w[j] += v[i] * A[i * n + j];
        for (long j = k; j < n; j++) w[j] = 2 * w[j] / q;
        for (long i = k; i < n; i++)
            for (long j = k; j < n; j++) A[i * n + j] -= v[i] * w[j];
    }
}
void fft(double* restrict re, double* restrict im, double* restrict wr, double* restrict wi,
         long n) {
    for (long size = 2; size <= n; size *= 2) {
        long half = size / 2, step = n / size;
        for (long i = 0; i < n; i += size)
            for (long k = 0; k < half; k++) {
                double a = wr[k * step], b = wi[k * step];
                double tr = re[i + k + half] * a - im[i + k + half] * b,
                       ti = re[i + k + half] * b + im[i + k + half] * a;
                re[i + k + half] = re[i + k] - tr;
                im[i + k + half] = im[i + k] - ti;
                re[i + k] += tr;
                im[i + k] += ti;
            }
    }
}
void blackscholes(double* restrict s, double* restrict k, double* restrict t, double r, double v,
                  double* restrict c, long n) {
    for (long i = 0; i < n; i++) {
        double d1 = (log(s[i] / k[i]) + (r + .5 * v * v) * t[i]) / (v * sqrt(t[i]));
        double d2 = d1 - v * sqrt(t[i]);
        double n1 = .5 * (1 + erf(d1 / sqrt(2.))), n2 = .5 * (1 + erf(d2 / sqrt(2.)));
        c[i] = s[i] * n1 - k[i] * exp(-r * t[i]) * n2;
    }
}
void binomial(double* restrict v, double s0, double k, double u, double d, double p, double disc,
              long n1) {
    long n = n1 - 1;
    for (long j = 0; j <= n; j++) v[j] = MAX(k - s0 * pow(u, j) * pow(d, n - j), 0);
    for (long i = n - 1; i >= 0; i--)
        for (long j = 0; j <= i; j++) v[j] = disc * (p * v[j + 1] + (1 - p) * v[j]);
}
void viterbi(double* restrict A, double* restrict B, long* restrict obs, double* restrict dp,
             long* restrict bp, long T, long n, long M) {
    for (long t = 1; t < T; t++) {
        for (long j = 0; j < n; j++) {
            dp[t * n + j] = dp[(t - 1) * n] + A[j];
            bp[t * n + j] = 0;
        }
        for (long i = 1; i < n; i++) {
            double q = dp[(t - 1) * n + i];
            for (long j = 0; j < n; j++) {
                double v = q + A[i * n + j];
                int g = v > dp[t * n + j];
                dp[t * n + j] = g ? v : dp[t * n + j];
                bp[t * n + j] = g ? i : bp[t * n + j];
            }
        }
        for (long j = 0; j < n; j++) dp[t * n + j] += B[j * M + obs[t]];
    }
}
void sor(double* restrict u, double* restrict f, double w, long n) {
    for (long i = 1; i < n - 1; i++)
        for (long j = 1; j < n - 1; j++)
            u[i * n + j] =
                (1 - w) * u[i * n + j] + w * .25 *
                                             (u[(i - 1) * n + j] + u[(i + 1) * n + j] +
                                              u[i * n + j - 1] + u[i * n + j + 1] - f[i * n + j]);
}
void redblack(double* restrict u, double* restrict f, long n) {
    for (int c = 0; c < 2; c++)
        for (long i = 1; i < n - 1; i++)
            for (long j = 1 + (i + c) % 2; j < n - 1; j += 2)
                u[i * n + j] = .25 * (u[(i - 1) * n + j] + u[(i + 1) * n + j] + u[i * n + j - 1] +
                                      u[i * n + j + 1] - f[i * n + j]);
}
void covar(double* restrict x, double* restrict mu, double* restrict s, long n, long m) {
    for (long i = 0; i < m * m; i++) s[i] = 0;
    for (long k = 0; k < n; k++)
        for (long i = 0; i < m; i++) {
            double a = x[k * m + i] - mu[i];
            for (long j = i; j < m; j++) s[i * m + j] += a * (x[k * m + j] - mu[j]);
        }
    for (long i = 0; i < m; i++)
        for (long j = i; j < m; j++) {
            s[i * m + j] /= n - 1;
            s[j * m + i] = s[i * m + j];
        }
}
void colsum(double* restrict A, double* restrict y, long n) {
    for (long j = 0; j < n; j++) y[j] = 0;
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++) y[j] += A[i * n + j];
}
void gemvt(double* restrict A, double* restrict x, double* restrict y, long n) {
    for (long j = 0; j < n; j++) y[j] = 0;
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++) y[j] += A[i * n + j] * x[i];
    for (long j = 0; j < n; j++) y[j] *= 2;
}
void gemm_dot(double* restrict A, double* restrict B, double* restrict C, long n) {
    for (long i = 0; i < n; i++) {
        for (long j = 0; j < n; j++) C[i * n + j] = 0;
        for (long k = 0; k < n; k++)
            for (long j = 0; j < n; j++) C[i * n + j] += fabs(A[i * n + k] - B[k * n + j]);
    }
}
void cumdown(double* restrict A, double* restrict y, long n) {
    for (long j = 0; j < n; j++) y[j] = A[j];
    for (long i = 1; i < n; i++)
        for (long j = 0; j < n; j++) y[i * n + j] = y[(i - 1) * n + j] * .9 + A[i * n + j];
}
void transpose(double* restrict a, double* restrict b, long n) {
    for (long ii = 0; ii < n; ii += 8)
        for (long jj = 0; jj < n; jj += 8)
            for (long i = ii; i < ii + 8; i++)
                for (long j = jj; j < jj + 8; j++) b[j * n + i] = a[i * n + j];
}
void scan_rows(double* restrict a, double* restrict b, long n) {
    for (long i = 0; i < n; i += 4) {
        double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
        for (long j = 0; j < n; j++) {
            b[i * n + j] = s0 += a[i * n + j];
            b[(i + 1) * n + j] = s1 += a[(i + 1) * n + j];
            b[(i + 2) * n + j] = s2 += a[(i + 2) * n + j];
            b[(i + 3) * n + j] = s3 += a[(i + 3) * n + j];
        }
    }
}
void hist(double* restrict x, long* restrict h, long k, long n) {
    for (long i = 0; i < n; i++) h[(long)(x[i] * k)]++;
}
void lcs(long* restrict a, long* restrict b, long* restrict t, long n) {
    long m = n + 1;
    for (long i = 1; i < m; i++)
        for (long j = 1; j < m; j++)
            t[i * m + j] = a[i - 1] == b[j - 1] ? t[(i - 1) * m + j - 1] + 1
                                                : MAX(t[(i - 1) * m + j], t[i * m + j - 1]);
}
void jacobi_conv(double* restrict u, double* restrict v, double tol, long n) {
    long it = 0;
    double err = tol + 1;
    while (err > tol && it < 50) {
        err = 0;
        for (long i = 1; i < n - 1; i++)
            for (long j = 1; j < n - 1; j++) {
                v[i * n + j] = .25 * (u[(i - 1) * n + j] + u[(i + 1) * n + j] + u[i * n + j - 1] +
                                      u[i * n + j + 1]);
                double d = fabs(v[i * n + j] - u[i * n + j]);
                err = d > err ? d : err;
            }
        for (long i = 1; i < n - 1; i++)
            for (long j = 1; j < n - 1; j++) u[i * n + j] = v[i * n + j];
        it++;
    }
}
void csc(double* restrict v, long* restrict row, long* restrict ptr, double* restrict x,
         double* restrict y, long n) {
    for (long j = 0; j < n; j++)
        for (long k = ptr[j]; k < ptr[j + 1]; k++) y[row[k]] += v[k] * x[j];
}
void dist(double* restrict p, double* restrict q, double* restrict d, long n, long m) {
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++) {
            double s = 0;
            for (long k = 0; k < m; k++) {
                double t = p[i * m + k] - q[j * m + k];
                s += t * t;
            }
            d[i * n + j] = sqrt(s);
        }
}
void kde(double* restrict x, double* restrict g, double h, double* restrict out, long n, long m) {
    for (long i = 0; i < m; i++) {
        double s = 0;
        for (long j = 0; j < n; j++) {
            double z = (g[i] - x[j]) / h;
            s += exp(-.5 * z * z);
        }
        out[i] = s / (n * h * 2.5066282746310002);
    }
}
void softmax(double* restrict x, double* restrict y, long n, long m) {
    for (long i = 0; i < n; i++) {
        double mx = x[i * m];
        for (long j = 1; j < m; j++) mx = x[i * m + j] > mx ? x[i * m + j] : mx;
        double s = 0;
        for (long j = 0; j < m; j++) {
            y[i * m + j] = exp(x[i * m + j] - mx);
            s += y[i * m + j];
        }
        for (long j = 0; j < m; j++) y[i * m + j] /= s;
    }
}
void gelu(double* restrict x, double* restrict y, long n) {
    for (long i = 0; i < n; i++)
        y[i] = .5 * x[i] * (1 + tanh(.7978845608 * (x[i] + .044715 * x[i] * x[i] * x[i])));
}
void batchnorm(double* restrict x, double* restrict g, double* restrict b, double* restrict y,
               long N, long C, long S) {
    for (long c = 0; c < C; c++) {
        double s = 0, q = 0;
        for (long k = 0; k < N; k++)
            for (long i = 0; i < S; i++) {
                double t = x[(k * C + c) * S + i];
                s += t;
                q += t * t;
            }
        double n = N * S, m = s / n, r = 1 / sqrt(q / n - m * m + 1e-5);
        for (long k = 0; k < N; k++)
            for (long i = 0; i < S; i++)
                y[(k * C + c) * S + i] = (x[(k * C + c) * S + i] - m) * r * g[c] + b[c];
    }
}
void conv_nchw(double* restrict x, double* restrict w, double* restrict y, long O, long C, long H) {
    long W = H + 2;
    for (long o = 0; o < O; o++)
        for (long i = 0; i < H; i++) {
            double* r = y + (o * H + i) * H;
            for (long j = 0; j < H; j++) r[j] = 0;
            for (long c = 0; c < C; c++)
                for (long p = 0; p < 3; p++) {
                    double* xr = x + (c * W + i + p) * W;
                    double* ww = w + ((o * C + c) * 3 + p) * 3;
                    for (long j = 0; j < H; j++)
                        r[j] += xr[j] * ww[0] + xr[j + 1] * ww[1] + xr[j + 2] * ww[2];
                }
        }
}
void depthwise(double* restrict x, double* restrict w, double* restrict y, long C, long H) {
    long W = H + 2;
    for (long c = 0; c < C; c++)
        for (long i = 0; i < H; i++)
            for (long j = 0; j < H; j++) {
                double s = 0;
                for (int p = 0; p < 3; p++)
                    for (int q = 0; q < 3; q++)
                        s += x[(c * W + i + p) * W + j + q] * w[c * 9 + p * 3 + q];
                y[(c * H + i) * H + j] = s;
            }
}
void attention(double* restrict q, double* restrict k, double* restrict v, double* restrict o,
               double* restrict s, long n, long m) {
    for (long i = 0; i < n; i++) {
        double mx = -1e30;
        for (long j = 0; j < n; j++) {
            double t = 0;
            for (long d = 0; d < m; d++) t += q[i * m + d] * k[j * m + d];
            s[j] = t * .125;
            mx = MAX(mx, s[j]);
        }
        double z = 0;
        for (long j = 0; j < n; j++) {
            s[j] = exp(s[j] - mx);
            z += s[j];
        }
        for (long d = 0; d < m; d++) o[i * m + d] = 0;
        for (long j = 0; j < n; j++)
            for (long d = 0; d < m; d++) o[i * m + d] += s[j] * v[j * m + d];
        for (long d = 0; d < m; d++) o[i * m + d] /= z;
    }
}
void packed(double* restrict a, double* restrict x, double* restrict y, long n) {
    for (long i = 0; i < n; i++) {
        double s = 0;
        double* r = a + i * (i + 1) / 2;
        for (long j = 0; j <= i; j++) s += r[j] * x[j];
        y[i] = s;
    }
}
void autocorr(double* restrict x, double* restrict r, long n, long m) {
    for (long k = 0; k < m; k++) {
        double s = 0;
        for (long i = 0; i < n - k; i++) s += x[i] * x[i + k];
        r[k] = s;
    }
}
void decimate(double* restrict x, double* restrict h, double* restrict y, long n, long m) {
    for (long i = 0; i < n; i++) {
        double s = 0;
        for (long k = 0; k < m; k++) s += x[4 * i + k] * h[k];
        y[i] = s;
    }
}
void dct8(double* restrict x, double* restrict c, double* restrict y, long n) {
    for (long bi = 0; bi < n / 8; bi++)
        for (long bj = 0; bj < n / 8; bj++) {
            double t[64];
            for (int i = 0; i < 8; i++)
                for (int v = 0; v < 8; v++) {
                    double s = 0;
                    for (int j = 0; j < 8; j++)
                        s += x[(8 * bi + i) * n + 8 * bj + j] * c[v * 8 + j];
                    t[i * 8 + v] = s;
                }
            for (int u = 0; u < 8; u++)
                for (int v = 0; v < 8; v++) {
                    double s = 0;
                    for (int i = 0; i < 8; i++) s += c[u * 8 + i] * t[i * 8 + v];
                    y[(8 * bi + u) * n + 8 * bj + v] = s;
                }
        }
}
void lu(double* restrict a, long n) {
    for (long k = 0; k < n; k++)
        for (long i = k + 1; i < n; i++) {
            a[i * n + k] /= a[k * n + k];
            double f = a[i * n + k];
            for (long j = k + 1; j < n; j++) a[i * n + j] -= f * a[k * n + j];
        }
}
void mandel(double* restrict cr, double* restrict ci, long* restrict out, long n) {
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++) {
            double x = 0, y = 0;
            long k = 0;
            while (k < 50 && x * x + y * y < 4) {
                double t = x * x - y * y + cr[j];
                y = 2 * x * y + ci[i];
                x = t;
                k++;
            }
            out[i * n + j] = k;
        }
}
void kmeans(double* restrict x, double* restrict c, long* restrict lab, long n, long K, long m) {
    for (long i = 0; i < n; i++) {
        double best = 1e300;
        long arg = 0;
        for (long k = 0; k < K; k++) {
            double s = 0;
            for (long d = 0; d < m; d++) {
                double t = x[i * m + d] - c[k * m + d];
                s += t * t;
            }
            if (s < best) {
                best = s;
                arg = k;
            }
        }
        lab[i] = arg;
    }
}
void heat3(double* restrict u, double* restrict v, long n) {
    for (long i = 1; i < n - 1; i++)
        for (long j = 1; j < n - 1; j++)
            for (long k = 1; k < n - 1; k++) {
                double* p = u + (i * n + j) * n + k;
                v[(i * n + j) * n + k] =
                    p[0] + .1 * (p[-n * n] + p[n * n] + p[-n] + p[n] + p[-1] + p[1] - 6 * p[0]);
            }
}
void upwind(double* restrict u, double* restrict a, double* restrict b, double* restrict v,
            long n) {
    for (long i = 1; i < n - 1; i++)
        for (long j = 1; j < n - 1; j++) {
            double* p = u + i * n + j;
            double A = a[i * n + j], B = b[i * n + j];
            double fx = A * (A > 0 ? p[0] - p[-n] : p[n] - p[0]),
                   fy = B * (B > 0 ? p[0] - p[-1] : p[1] - p[0]);
            v[i * n + j] = p[0] - .1 * (fx + fy);
        }
}
void gather(double* restrict x, long* restrict idx, double* restrict y, long n) {
    for (long i = 0; i < n; i++) y[i] = x[idx[i]] * 2;
}
void lbp(double* restrict x, long* restrict y, long n) {
    for (long i = 1; i < n - 1; i++)
        for (long j = 1; j < n - 1; j++) {
            double* p = x + i * n + j;
            double c = p[0];
            y[i * n + j] = (p[-n - 1] >= c) | (p[-n] >= c) * 2 | (p[-n + 1] >= c) * 4 |
                           (p[1] >= c) * 8 | (p[n + 1] >= c) * 16;
        }
}
