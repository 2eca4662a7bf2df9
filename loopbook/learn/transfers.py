"""Examples from a corpus of transfers: recipes of records, ported to other nests and measured.

A folder of Parquet files: ``pairs-HARDWARE-TARGET.parquet`` has one row for each pair that was
tried, ``targets``, ``donors``, ``nests`` and ``profiles`` say what these speak of. Needs pyarrow,
the extra ``corpus``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from loopbook.errors import CorpusError, LoopbookError
from loopbook.learn.examples import Example, Examples, Source, gain_of
from loopbook.recipes.hardware import HardwareProfile
from loopbook.sdfg.nest import Nest
from loopbook.sdfg.program import load_json
from loopbook.sdfg.reader import read_nests

MEASURED = frozenset({"faster", "same", "slower", "wrong", "crash", "hang", "memory"})
"""Outcomes of recipes that were run."""

UNFIT = frozenset({"no match", "illegal"})
"""Outcomes of recipes that cannot be applied to the nest."""


def load(folder: Path) -> Examples:
    """All transfers that were run, or refused as unfit.

    Raises:
        CorpusError: a file is missing or damaged, or has not the columns that it should have.
    """
    files = sorted(folder.glob("pairs-*.parquet"))
    if not files:
        raise CorpusError(f"there is no corpus of transfers at {folder}")
    found = Examples()
    try:
        targets = {_place(row): row for row in _rows(folder / "targets.parquet")}
        for row in _rows(folder / "profiles.parquet"):
            profile = HardwareProfile.from_json(json.loads(row["profile"]))
            found.hardware[row["hardware"]] = profile
        for row in _rows(folder / "donors.parquet"):
            found.sources[row["record"]] = _source(row)
        for row in _rows(folder / "nests.parquet"):
            found.nests[row["fingerprint"]] = _nest(row["nest_json"])
        for file in files:
            for row in _rows(file):
                if row["outcome"] in MEASURED | UNFIT and _place(row) in targets:
                    found.examples.append(_example(row, targets[_place(row)]))
    except (KeyError, TypeError, ValueError, LoopbookError) as error:
        raise CorpusError(
            f"the corpus of transfers at {folder} is damaged: {type(error).__name__}: {error}"
        ) from None
    return found


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
    except (pa.ArrowException, OSError) as error:
        raise CorpusError(f"cannot read {path}: {error}") from None
    for batch in table.to_batches(max_chunksize=4096):
        yield from batch.to_pylist()


def _place(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """What names a nest of a program at a size on a machine."""
    return (row["program"], row["preset"], row["nest"], row["target"], row["hardware"])


def _source(row: Mapping[str, Any]) -> Source:
    return Source(
        record=row["record"],
        kernel=row["kernel"],
        fingerprint=row["fingerprint"],
        hardware=row["hardware"],
        target=row["target"],
        steps=row["recipe"],
        speedup=row["speedup"],
        trips=dict(row["trips"]),
    )


def _nest(text: str) -> Nest:
    return read_nests(load_json(text))[0]


def _example(row: Mapping[str, Any], target: Mapping[str, Any]) -> Example:
    return Example(
        program=row["program"],
        family=row["family"],
        fingerprint=row["fingerprint"],
        target=row["target"],
        hardware=row["hardware"],
        trips=dict(target["trips"]),
        steps=row["ported"],
        gain=gain_of(row["speedup"]),
        best=max(0.0, gain_of(target["best"])),
        fits=row["outcome"] in MEASURED,
        baseline_s=row["baseline_s"] or 0.0,
        dropped=len((row["dropped"] or "").splitlines()),
        donor=row["record"],
    )
