"""Examples from the corpus of transfers: recipes of records, ported to other nests and measured."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from loopbook.learn.examples import Example, Examples, Source, gain_of
from loopbook.program.load import load_json
from loopbook.program.nests import read_nests
from loopbook.recipes.hardware import HardwareProfile
from loopbook.tuner import parquet
from loopbook.tuner.preparing import Place, place_of
from loopbook.tuner.transfers import corpus

MEASURED = frozenset({"faster", "same", "slower", "wrong", "crash", "hang", "memory"})
"""Outcomes of recipes that were run."""

UNFIT = frozenset({"no match", "illegal"})
"""Outcomes of recipes that cannot be applied to the nest."""

Row = Mapping[str, Any]


def load(
    folder: Path = corpus.FOLDER,
    preparing: Mapping[Place, float] | None = None,
    *,
    own: bool = True,
) -> Examples:
    """All transfers that were run, or refused as unfit.

    Args:
        preparing: what preparing each program gains, see `loopbook.tuner.preparing.load`.
        own: also records of the very nests that were measured again, as recipes without a donor.

    Raises:
        CorpusError: there are none, or a file is damaged or of another make.
    """
    found = Examples()
    for row in parquet.rows_of(corpus.side("profiles", folder)):
        profile = HardwareProfile.from_json(json.loads(row["profile"]))
        found.hardware[row["hardware"]] = profile
    for row in parquet.rows_of(corpus.side("donors", folder)):
        found.sources[row["record"]] = _source(row)
    for row in parquet.rows_of(corpus.side("nests", folder)):
        found.nests[row["fingerprint"]] = read_nests(load_json(row["nest_json"]))[0]
    places = {_place(row): row for row in parquet.rows_of(corpus.side("places", folder))}
    for kind in (False, True)[: 1 + own]:
        if kind and not any(folder.glob("own-*.parquet")):
            continue
        table = corpus.load(folder, own=kind, outcome=MEASURED | UNFIT)
        for row in parquet.rows_of(table):
            if _place(row) in places:
                place = place_of(row["program"], row["preset"], row["target"], row["sizes"])
                gained = (preparing or {}).get(place, 0.0)
                one = _example(row, places[_place(row)], gained, ported=not kind)
                found.examples.append(one)
    return found


def _place(row: Row) -> tuple[Any, ...]:
    """What names a nest of a program at a size on a machine."""
    return (row["program"], row["preset"], row["nest"], row["target"], row["hardware"])


def _source(row: Row) -> Source:
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


def _example(row: Row, place: Row, gained: float, *, ported: bool) -> Example:
    return Example(
        program=row["program"],
        family=row["family"],
        fingerprint=row["fingerprint"],
        target=row["target"],
        hardware=row["hardware"],
        trips=dict(place["trips"]),
        steps=row["ported"],
        gain=gain_of(row["speedup"], gained),
        best=max(0.0, gain_of(place["best"], gained)),
        fits=row["outcome"] in MEASURED,
        baseline_s=row["baseline_s"] or 0.0,
        dropped=len((row["dropped"] or "").splitlines()),
        donor=row["record"] if ported else "",
    )
