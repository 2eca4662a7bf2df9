"""docc's answers: what its public client reads of a server's response.

``sdfg_result`` is a whole program that takes the place of the client's; ``local_replay`` are steps
of docc's recorder that the client applies itself; ``results`` say what was done for each nest.
``{"error": …}`` makes the client fall back on docc's own schedule.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from loopbook.client.decision import NestReport, Plan
from loopbook.sdfg.nest import Nest

NO_MATCH = "No match found"
"""What docc's own server says where it has nothing better than docc."""

MAX_ERROR = 300


def error_answer(words: str) -> bytes:
    """The answer that says why there is none."""
    return json.dumps({"error": " ".join(words.split())[:MAX_ERROR]}).encode()


def session_answer(session: str) -> bytes:
    """The answer to a client that opens a session."""
    return json.dumps({"session_id": session}).encode()


def program_answer(sdfg: str, nests: Sequence[Nest], plan: Plan) -> bytes:
    """The answer about a whole program.

    Args:
        sdfg: JSON text of the finished program.
        nests: of the prepared program, which the plan is about.
    """
    results = json.dumps([_result(n, r) for n, r in zip(nests, plan.nests, strict=True)])
    return f'{{"sdfg_result": {{"sdfg": {sdfg}}}, "results": {results}}}'.encode()


def single_answer(
    sdfg: str, steps: Sequence[dict[str, Any]], nests: Sequence[Nest], plan: Plan
) -> bytes:
    """The answer about one nest that was sent by itself (docc up to 0.7).

    Args:
        sdfg: JSON text of the finished nest.
        steps: docc's replay sequence, which leads to the same from what the client has.
    """
    replay = json.dumps({"sequence": list(steps)})
    metadata = json.dumps(_metadata(plan.nests[0]) if nests else {})
    return (
        f'{{"sdfg_result": {{"sdfg": {sdfg}}}, "local_replay": {replay}, "metadata": {metadata}}}'
    ).encode()


def _result(nest: Nest, report: NestReport) -> dict[str, Any]:
    return {
        "element_id": nest.loops[0].element_id,
        "loops": list(report.loops),
        "tier": report.tier,
        "neighbour": report.neighbour,
        "recipe": report.recipe,
        "reason": report.reason,
        "metadata": _metadata(report),
    }


def _metadata(report: NestReport) -> dict[str, Any]:
    return {
        "region_id": report.record or "",
        "speedup": report.predicted_speedup,
        "vector_distance": 0.0 if report.distance is None else report.distance,
    }
