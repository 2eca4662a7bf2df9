"""Comparing a function with its loops, run as Python."""

from __future__ import annotations

import itertools
import linecache
import math
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from loopbook.client.variants.dispatch import Dispatcher
from loopbook.frontend import Lowered, lower
from loopbook.frontend.check import copied
from loopbook.sdfg.build import build_baseline
from loopbook.sdfg.traced import Traced

__all__ = ["agree", "as_docc", "check", "copied", "data", "flat", "function"]

COUNT = itertools.count()


def function(body: str, names: str = "A, B, x, y, s") -> Any:
    """A function out of the text of its body."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    text, file = f"def kernel({names}):\n{lines}", f"<construct {next(COUNT)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    scope: dict[str, Any] = {"np": np, "math": math}
    exec(compile(text, file, "exec"), scope)
    return scope["kernel"]


def flat(value: Any) -> list[Any]:
    if value is None:
        return []
    return [y for x in value for y in flat(x)] if isinstance(value, tuple) else [value]


def check(function: Callable[..., Any], *args: Any) -> Lowered:
    """Lower, run both, compare results and all arguments: values, shapes, types."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first, second = copied(args), copied(args)
        expected = function(*first)
        lowered = lower(function, args)
        assert lowered is not None
        got = lowered.plain(*second)
        agree([*flat(expected), *first], [*flat(got), *second], lowered.kernel_source)
    assert lowered.holds(*args), lowered.guards
    return lowered


def as_docc(kernel: Callable[..., Any]) -> Dispatcher:
    """A kernel as docc compiles it, without a schedule."""

    def built(reading: Traced, args: Sequence[Any], folder: Path) -> Sequence[Path]:
        return [build_baseline(reading.text, "none", folder).library]

    return Dispatcher(kernel, built, strict=True)


def agree(expected: Sequence[Any], got: Sequence[Any], source: str = "") -> None:
    assert len(expected) == len(got)
    for one, other in zip(expected, got, strict=True):
        a, b = np.asarray(one), np.asarray(other)
        assert (a.shape, a.dtype) == (b.shape, b.dtype), source
        tolerance = 2e-4 if a.dtype in (np.float32, np.complex64) else 1e-9
        scale = 1.0
        if a.dtype.kind in "fc":
            scale = max(1.0, float(np.max(np.abs(a[np.isfinite(a)]), initial=0)))
        close = np.allclose(a, b, rtol=tolerance, atol=tolerance * scale, equal_nan=True)
        assert close, f"{source}\n{a}\n{b}"


def data(*shape: int, dtype: Any = np.float64, seed: int = 0) -> np.ndarray:
    """Elements that are all different, some of them negative."""
    rng = np.random.default_rng(seed + sum(shape))
    if np.dtype(dtype).kind == "f":
        return rng.uniform(-2, 2, shape).astype(dtype)
    if np.dtype(dtype).kind == "c":
        return (rng.uniform(-2, 2, shape) + 1j * rng.uniform(-2, 2, shape)).astype(dtype)
    if np.dtype(dtype).kind == "b":
        return rng.random(shape) < 0.5
    return rng.integers(-9, 10, shape).astype(dtype)
