"""The first call of what was compiled: its numbers, in a child process, and its time."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from loopbook.errors import WrongResultError
from loopbook.toolchain.sandbox import run_limited

Run = Callable[..., Any]

CHECKING_SECONDS = 60.0
CHECKING_BYTES = 64 << 30
"""Of address space, of which torch maps much that it never touches."""

TOLERANCES = {
    torch.float64: 1e-9,
    torch.float32: 1e-4,
    torch.float16: 1e-2,
    torch.bfloat16: 4e-2,
}
"""How far numbers may be off, measured by the largest of their tensor: sums are taken in another
order, and maths functions are other ones. Whole numbers must be equal."""

ROUNDS = 50
"""Calls that both are timed in at most, in turn."""

LEAST_ROUNDS = 5

FASTER = 0.95
"""What was compiled is taken if it needs less than so much of eager's time."""

TIMING_SECONDS = 0.5
"""No further rounds are begun after so long."""


def variants(inputs: Sequence[Tensor], fixed: frozenset[int]) -> list[list[Tensor]]:
    """The inputs, the same with zeros, and the same with their signs turned round.

    Args:
        fixed: positions of weights, which stay as they are.
    """

    def changed(change: Callable[[Tensor], Tensor]) -> list[Tensor]:
        return [
            change(tensor) if tensor.is_floating_point() and place not in fixed else tensor
            for place, tensor in enumerate(inputs)
        ]

    return [list(inputs), changed(torch.zeros_like), changed(torch.neg)]


def check_numbers(run: Run, eager: Run, calls: Sequence[Sequence[Tensor]]) -> None:
    """Run what was compiled in a child process, and compare it with eager.

    Args:
        run, eager: both return a sequence of tensors.
        calls: inputs of each call.

    Raises:
        WrongResultError: it gives other numbers, or writes to its inputs.
        RunError: it crashes or hangs.
    """
    expected = [[one.detach() for one in eager(*inputs)] for inputs in calls]
    run_limited(
        _compare,
        run,
        calls,
        expected,
        seconds=CHECKING_SECONDS,
        memory=CHECKING_BYTES,
        what="the compiled graph",
    )


def _compare(
    run: Run, calls: Sequence[Sequence[Tensor]], expected: Sequence[Sequence[Tensor]]
) -> None:
    torch.set_num_threads(1)  # threads do not survive a fork
    for inputs, want in zip(calls, expected, strict=True):
        before = [tensor.clone() for tensor in inputs]
        got = run(*inputs)
        for number, (mine, theirs) in enumerate(zip(got, want, strict=True)):
            compare(mine, theirs, f"output {number}")
        for number, (now, then) in enumerate(zip(inputs, before, strict=True)):
            compare(now, then, f"input {number}", exact=True)


def compare(got: Tensor, want: Tensor, what: str, *, exact: bool = False) -> None:
    """Raise `WrongResultError` where a tensor is not eager's within `TOLERANCES`.

    Infinities and NaNs must stand in the same places.
    """
    if got.shape != want.shape or got.dtype != want.dtype:
        raise WrongResultError(f"{what} is {got.dtype} of shape {tuple(got.shape)}")
    tolerance = 0.0 if exact else TOLERANCES.get(want.dtype, 0.0)
    if want.is_floating_point():
        finite = torch.isfinite(want)
        if not torch.equal(finite, torch.isfinite(got)):
            raise WrongResultError(f"{what} is not finite where eager's is, or reversed")
        strange = ~finite
        if not torch.equal(
            torch.nan_to_num(got[strange], 0.5), torch.nan_to_num(want[strange], 0.5)
        ):
            raise WrongResultError(f"{what} has other infinities and NaNs than eager's")
        got, want = got[finite].double(), want[finite].double()
    elif not torch.equal(got, want):
        raise WrongResultError(f"{what} differs from eager's")
    if not want.numel() or torch.equal(got, want):
        return
    scale, worst = float(want.abs().max()), float((got - want).abs().max())
    if worst > tolerance * scale:
        raise WrongResultError(f"{what} is off by {worst:.3g}, where the largest is {scale:.3g}")


def times(
    run: Run, eager: Run, inputs: Sequence[Tensor], *, alone: bool = False
) -> tuple[float, float]:
    """Seconds of a call of both, called in turn: the medians.

    Args:
        alone: both run in one thread: what other processes take of it is then not counted.
    """
    clock = time.thread_time if alone else time.perf_counter
    taken: dict[Run, list[float]] = {run: [], eager: []}
    until = time.perf_counter() + TIMING_SECONDS
    for way in taken:  # the first call of each finds nothing in the caches
        way(*inputs)
    for number in range(ROUNDS):
        if number >= LEAST_ROUNDS and time.perf_counter() > until:
            break
        for way, seconds in taken.items():
            begun = clock()
            way(*inputs)
            seconds.append(clock() - begun)
    return statistics.median(taken[run]), statistics.median(taken[eager])
