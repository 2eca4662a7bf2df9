/* Three passes over a row that stays in the first cache; exp is a polynomial. */
#include <math.h>
#include <stdint.h>
#include <string.h>

static inline float power(float x)
{
    x = x > -87 ? x : -87;
    float n = rintf(x * 1.44269504f), r = x - n * 6.93145752e-1f - n * 1.42860677e-6f;
    float sum = 1.39336762e-3f;
    sum = sum * r + 8.36319738e-3f;
    sum = sum * r + 4.16664647e-2f;
    sum = sum * r + 1.66665769e-1f;
    sum = sum * r + 0.5f;
    int32_t bits = ((int32_t)n + 127) << 23;
    float scale;
    memcpy(&scale, &bits, sizeof scale);
    return (sum * r * r + r + 1) * scale;
}

void run(const float *restrict x, int64_t n, int64_t h, int64_t s, int64_t m, float *restrict out)
{
    for (int64_t row = 0; row < n * h * s; row++) {
        const float *restrict from = x + row * m;
        float *restrict to = out + row * m, most = from[0], sum = 0;
        for (int64_t i = 0; i < m; i++) most = from[i] > most ? from[i] : most;
        for (int64_t i = 0; i < m; i++) {
            to[i] = power(from[i] - most);
            sum += to[i];
        }
        sum = 1 / sum;
        for (int64_t i = 0; i < m; i++) to[i] *= sum;
    }
}
