"""Measuring a machine's peak arithmetic rate and memory bandwidth with two short C kernels."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
from pathlib import Path

from loopbook.errors import CompilerError, DeadlineError, KernelError
from loopbook.recipes.hardware import HardwareProfile
from loopbook.toolchain import scratch

_MIB = 2**20
_RUN_LIMIT_S = 10.0

# Both kernels take the best of several rounds: others on the machine can only slow a round down.
# Peak: two pipelines of latency 4 to 5 want ten chains of multiply-adds; with twelve, and the two
# factors, the sixteen registers of AVX2 still suffice.
# Bandwidth: the triad of the STREAM benchmark, counting two reads and one write.
_SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#define LANES (VECTOR_BITS / 64)
#define CHAINS 12
typedef double vec __attribute__((vector_size(VECTOR_BITS / 8)));

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

static double chains(long rounds, double seed) {
  vec x[CHAINS], a, b;
  for (int l = 0; l < LANES; l++) { a[l] = 0.999999 + 1e-9 * seed; b[l] = 1e-7; }
  for (int c = 0; c < CHAINS; c++) x[c] = b * (double)(c + 1);
  for (long r = 0; r < rounds; r++) {
#pragma clang loop unroll(full)
    for (int c = 0; c < CHAINS; c++) x[c] = x[c] * a + b;
  }
  double sum = 0;
  for (int c = 0; c < CHAINS; c++) for (int l = 0; l < LANES; l++) sum += x[c][l];
  return sum;
}

static volatile double sink;

static double peak(void) {
  long rounds = 1000000;
  double best = 0, until = now() + 0.2;
  do {
    double total = 0, start = now();
#pragma omp parallel for num_threads(THREADS) reduction(+ : total) schedule(static)
    for (int t = 0; t < THREADS; t++) total += chains(rounds, t);
    double rate = 2.0 * CHAINS * LANES * THREADS * rounds / (now() - start);
    sink = total;
    if (rate > best) best = rate;
  } while (now() < until);
  return best * 1e-9;
}

static double bandwidth(void) {
  long n = ARRAY_BYTES / sizeof(double);
  double *a = malloc(ARRAY_BYTES), *b = malloc(ARRAY_BYTES), *c = malloc(ARRAY_BYTES);
  if (!a || !b || !c) return 0;
#pragma omp parallel for num_threads(THREADS) schedule(static)
  for (long i = 0; i < n; i++) { a[i] = 0; b[i] = 1; c[i] = i; }
  double best = 0, until = now() + 0.2;
  do {
    double start = now();
#pragma omp parallel for num_threads(THREADS) schedule(static)
    for (long i = 0; i < n; i++) a[i] = b[i] + 0.5 * c[i];
    double rate = 3.0 * ARRAY_BYTES / (now() - start);
    sink = a[n / 2];
    if (rate > best) best = rate;
  } while (now() < until);
  return best * 1e-9;
}

int main(void) {
  double gflops = peak(), gbs = bandwidth();
  printf("{\"peak_gflops\": %.4f, \"bandwidth_gbs\": %.4f}\n", gflops, gbs);
  return 0;
}
"""


def measure(profile: HardwareProfile, compiler: Path, march: str = "native") -> HardwareProfile:
    """The profile with peak GFLOP/s (double) and bandwidth filled in; takes about a second.

    Vectors of the profile's own width are used, with the profile's number of threads.

    Args:
        profile: as read from the machine.
        compiler: a clang++ of version 17 or newer.
        march: instruction set to compile for, where it is not the machine's own.

    Raises:
        CompilerError: the kernels don't compile; with more than one thread they need OpenMP.
        KernelError: they crashed.
        DeadlineError: they took longer than ten seconds.
        FolderError: there is no folder to build them in.
    """
    # Arrays larger than the last-level cache, but never so large that a small machine would swap.
    array_bytes = min(max(16 * _MIB, profile.l3_bytes), 64 * _MIB)
    flags = ["-O3", f"-march={march}", "-ffp-contract=fast", "-x", "c"]
    flags += [f"-DVECTOR_BITS={profile.vector_bits}", f"-DTHREADS={profile.threads}"]
    flags += [f"-DARRAY_BYTES={array_bytes}l"]
    if profile.threads > 1:
        flags.append("-fopenmp")
    with scratch.folder() as own:
        source, program = own / "measure.c", own / "measure"
        source.write_text(_SOURCE)
        _run([str(compiler), *flags, str(source), "-o", str(program)], own, compiling=True)
        figures = json.loads(_run([str(program)], own, compiling=False))
    return dataclasses.replace(profile, **figures)


def _run(command: list[str], own: Path, *, compiling: bool) -> str:
    """Run a program, which leaves what it writes for itself in a folder of ours: that goes even if
    we are killed together with it."""
    environment = {**os.environ, "LC_ALL": "C", "TMPDIR": str(own)}
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_RUN_LIMIT_S,
            env=environment,
            check=False,
        )
    except OSError as error:
        kind = CompilerError if compiling else KernelError
        raise kind(f"{command[0]} can't be run: {error.strerror}") from error
    except subprocess.TimeoutExpired:
        raise DeadlineError(
            f"measuring the machine took longer than {_RUN_LIMIT_S:.0f} s"
        ) from None
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        if compiling:
            raise CompilerError(f"{command[0]} can't compile the measuring kernels: {lines[0]}")
        raise KernelError(f"measuring the machine failed: {lines[0]}")
    return done.stdout
