"""Traces that docc's runtime library writes: how long each region of a program took.

They come from whoever ran the program: they are read as data, within limits, and what is not as
docc's own schema has it (``docc/benchmarks/daisy_trace.schema.json``) is refused.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, NamedTuple

from loopbook.errors import InputError

MOST_BYTES = 64 << 20
MOST_EVENTS = 1_000_000

ONCE, IN_ALL = "region,daisy", "aggregated_region,daisy"
"""The two kinds of events: one for each run of a region, and one for all of them."""

_MICROSECOND = 1e-6


class Region(NamedTuple):
    """An outermost loop of a program.

    Attributes:
        program: the SDFG's name.
        element: its id in the SDFG that was compiled; -1 where the trace does not say.
    """

    program: str
    element: int


def read(path: Path) -> dict[Region, float]:
    """Seconds of the fastest run of each region.

    Raises:
        InputError: it cannot be read, or is no trace.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InputError(f"the trace {path} has more than {MOST_BYTES} bytes")
        told = json.loads(path.read_bytes())
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is no trace: {str(error)[:120]}") from None
    events = told.get("traceEvents") if isinstance(told, dict) else None
    if not isinstance(events, list) or len(events) > MOST_EVENTS:
        raise InputError(f"{path} is no trace of docc's: it has no traceEvents")
    fastest: dict[Region, float] = {}
    try:
        for event in events:
            region, seconds = _run(event)
            if seconds is not None:
                fastest[region] = min(fastest.get(region, math.inf), seconds)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError(f"{path} is no trace of docc's: an event is damaged") from None
    if not fastest:
        raise InputError(f"the trace {path} tells no times")
    return fastest


def _run(event: dict[str, Any]) -> tuple[Region, float | None]:
    """The region of an event and seconds; None where it has none."""
    about = event["args"]
    docc = about["docc"]
    region = Region(str(docc["sdfg_name"]), int(docc.get("element_id", -1)))
    if event["cat"] == IN_ALL:
        runtime = about["metrics"]["runtime"]
        told = runtime["min"] if runtime["count"] > 0 else None
    elif event["cat"] == ONCE:
        told = event.get("dur")
    else:
        raise ValueError
    if told is None:
        return region, None
    seconds = float(told) * _MICROSECOND
    if not (math.isfinite(seconds) and seconds >= 0):
        raise ValueError
    return region, seconds
