/* One pass for each field and step, between two buffers each; nothing else is stored. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void swap(double **one, double **other)
{
    double *kept = *one;
    *one = *other;
    *other = kept;
}

static void source(double *restrict b, const double *restrict u, const double *restrict v,
                   int64_t ny, int64_t nx, double rho, double dt, double dx, double dy)
{
    double by_dt = 1 / dt, by_dx = 1 / (2 * dx), by_dy = 1 / (2 * dy);
    for (int64_t i = 1; i < ny - 1; i++)
        for (int64_t j = 1; j < nx - 1; j++) {
            int64_t c = i * nx + j;
            double ux = (u[c + 1] - u[c - 1]) * by_dx, uy = (u[c + nx] - u[c - nx]) * by_dy;
            double vx = (v[c + 1] - v[c - 1]) * by_dx, vy = (v[c + nx] - v[c - nx]) * by_dy;
            b[c] = rho * (by_dt * (ux + vy) - ux * ux - 2 * uy * vx - vy * vy);
        }
}

static void pressure(double *restrict p, const double *restrict old, const double *restrict b,
                     int64_t ny, int64_t nx, double dx, double dy)
{
    double both = 1 / (2 * (dx * dx + dy * dy)), along = dy * dy * both, across = dx * dx * both;
    double rest = dx * dx * dy * dy * both;
    for (int64_t i = 1; i < ny - 1; i++) {
        for (int64_t j = 1; j < nx - 1; j++) {
            int64_t c = i * nx + j;
            p[c] = (old[c + 1] + old[c - 1]) * along + (old[c + nx] + old[c - nx]) * across -
                   rest * b[c];
        }
        p[i * nx] = p[i * nx + 1];
        p[i * nx + nx - 1] = p[i * nx + nx - 2];
    }
    memcpy(p, p + nx, nx * sizeof *p);
    memset(p + (ny - 1) * nx, 0, nx * sizeof *p);
}

static void velocities(double *restrict u, double *restrict v, const double *restrict un,
                       const double *restrict vn, const double *restrict p, int64_t ny, int64_t nx,
                       double dt, double dx, double dy, double rho, double nu)
{
    double along = dt / dx, across = dt / dy, px = dt / (2 * rho * dx), py = dt / (2 * rho * dy);
    double nx2 = nu * dt / (dx * dx), ny2 = nu * dt / (dy * dy);
    for (int64_t i = 1; i < ny - 1; i++) {
        for (int64_t j = 1; j < nx - 1; j++) {
            int64_t c = i * nx + j;
            double a = un[c], b = vn[c];
            u[c] = a - a * along * (a - un[c - 1]) - b * across * (a - un[c - nx]) -
                   px * (p[c + 1] - p[c - 1]) + nx2 * (un[c + 1] - 2 * a + un[c - 1]) +
                   ny2 * (un[c + nx] - 2 * a + un[c - nx]);
            v[c] = b - a * along * (b - vn[c - 1]) - b * across * (b - vn[c - nx]) -
                   py * (p[c + nx] - p[c - nx]) + nx2 * (vn[c + 1] - 2 * b + vn[c - 1]) +
                   ny2 * (vn[c + nx] - 2 * b + vn[c - nx]);
        }
        u[i * nx] = u[i * nx + nx - 1] = v[i * nx] = v[i * nx + nx - 1] = 0;
    }
    for (int64_t j = 0; j < nx; j++) {
        u[j] = v[j] = v[(ny - 1) * nx + j] = 0;
        u[(ny - 1) * nx + j] = 1;
    }
}

void run(int64_t nx, int64_t ny, int64_t nt, int64_t nit, double *u, int64_t u0, int64_t u1,
         double *v, int64_t v0, int64_t v1, double dt, double dx, double dy, double *p, int64_t p0,
         int64_t p1, double rho, double nu)
{
    size_t bytes = ny * nx * sizeof(double);
    double *b = malloc(bytes), *other[3], *now[3] = {u, v, p};
    for (int f = 0; f < 3; f++) other[f] = malloc(bytes);
    for (int64_t n = 0; n < nt; n++) {
        source(b, now[0], now[1], ny, nx, rho, dt, dx, dy);
        for (int64_t q = 0; q < nit; q++) {
            pressure(other[2], now[2], b, ny, nx, dx, dy);
            swap(&other[2], &now[2]);
        }
        velocities(other[0], other[1], now[0], now[1], now[2], ny, nx, dt, dx, dy, rho, nu);
        swap(&other[0], &now[0]);
        swap(&other[1], &now[1]);
    }
    double *given[3] = {u, v, p};
    for (int f = 0; f < 3; f++) {
        if (now[f] != given[f]) memcpy(given[f], now[f], bytes);
        free(now[f] != given[f] ? now[f] : other[f]);
    }
    free(b);
}
