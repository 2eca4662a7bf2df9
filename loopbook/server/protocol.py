"""docc's answers: what its public client reads of a server's response.

``sdfg_result`` is a finished program that takes the place of what the client has sent; ``results``
say what was done for each nest. ``{"error": …}`` makes the client fall back on docc's own schedule.
There is a third thing that the client would read, ``local_replay``: steps of docc's recorder. Most
of our steps are none of docc's, so it is left out.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from loopbook.client.decision import NestReport, Plan
from loopbook.printable import one_line
from loopbook.program.json_text import dumped_bytes
from loopbook.program.members import Json
from loopbook.program.nest import Nest
from loopbook.program.regions import is_region
from loopbook.sdfg.untrusted import Admitted, Names
from loopbook.server.grafting import graft

NO_MATCH = "No match found"
"""What docc's own server says where it has nothing better than docc."""

MAX_ERROR = 300


def error_answer(words: str) -> bytes:
    """The answer that says why there is none."""
    return json.dumps({"error": one_line(words, MAX_ERROR)}).encode()


def session_answer(session: str) -> bytes:
    """The answer to a client that opens a session."""
    return json.dumps({"session_id": session}).encode()


def program_answer(sdfg: Json, nests: Sequence[Nest], plan: Plan, given: Admitted) -> bytes:
    """The answer about a whole program, in the client's own names.

    Args:
        sdfg: the finished program.
        nests: of the prepared program, which the plan is about.
        given: what the client has sent.
    """
    names = given.names
    told = {
        "sdfg_result": {"sdfg": names.restored_program(sdfg)},
        "results": [_result(n, r, names) for n, r in zip(nests, plan.nests, strict=True)],
    }
    return dumped_bytes(told)


def single_answer(sdfg: Json, nests: Sequence[Nest], plan: Plan, given: Admitted) -> bytes:
    """The answer about one nest that was sent by itself (docc before 0.7), in the client's own
    names: a program to take the nest from (see `loopbook.server.grafting`).

    Args:
        sdfg, given: as in `program_answer`.
        nests: what it is now; there may be several.

    Raises:
        SdfgError: the client could not put it back.
    """
    told = {
        "sdfg_result": {"sdfg": given.names.restored_program(graft(sdfg, given))},
        "metadata": _metadata(max(plan.nests, key=lambda nest: nest.predicted_speedup)),
    }
    return dumped_bytes(told)


def _result(nest: Nest, report: NestReport, names: Names) -> dict[str, Any]:
    first = nest.loops[1 if is_region(nest.loop) else 0]  # a region's own loop is ours
    return {
        "element_id": first.element_id,
        "loops": names.restored(list(report.loops)),
        "tier": report.tier,
        "neighbour": report.neighbour,
        "recipe": report.recipe,
        "reason": names.words(report.reason),
        "metadata": _metadata(report),
    }


def _metadata(report: NestReport) -> dict[str, Any]:
    return {
        "region_id": report.record or "",
        "speedup": report.predicted_speedup,
        "vector_distance": 0.0 if report.distance is None else report.distance,
    }
