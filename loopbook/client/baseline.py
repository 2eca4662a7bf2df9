"""What a docc user has without us: docc's own compile of the function as it is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from loopbook.errors import LoopbookError, MistranslationError, WrongResultError
from loopbook.sdfg import frontend
from loopbook.sdfg.build import build_baseline
from loopbook.toolchain.interleaved import Runnable
from loopbook.toolchain.run import compare
from loopbook.toolchain.sandbox import run_limited
from loopbook.workloads.call import Call


@dataclass(frozen=True)
class Baseline:
    """docc's compile of an array program as it is written.

    Attributes:
        program: None if there is none that is right.
        wrong: why its numbers are wrong, or would be.
        failed: why there is none at all.
    """

    program: Runnable | None = None
    wrong: str = ""
    failed: str = ""


def as_written(
    call: Call, target: str, expected: Sequence[np.ndarray], folder: Path, seconds: float
) -> Baseline:
    """Compile the function of a call as docc does, and compare its numbers.

    Args:
        expected: the right ones.
        folder: where the build goes.
        seconds: limit for the run.
    """
    written = Call.as_written(call.workload, call.given)
    try:
        # In a child: there is no telling what its front end makes of arrays.
        text = run_limited(
            frontend.trace, written.kernel, written.arguments, what="docc's front end"
        )
        library = build_baseline(text, target, folder).library
        compare(written.binding().results(library, seconds=seconds), expected, "Python's")
    except (MistranslationError, WrongResultError) as error:
        return Baseline(wrong=str(error))
    except LoopbookError as error:
        return Baseline(failed=str(error))
    return Baseline(written.runnable(library))
