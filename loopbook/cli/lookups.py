"""The command that writes a program with what look-ups find.

SDFG files may come from anywhere, and damaged ones can crash docc's C++. So whatever touches docc
runs in a child process; its crash or hang is an error message here.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from loopbook.cli import files, style
from loopbook.cli.answers import Answer, answers, write
from loopbook.cli.plans import Nest, plans_for
from loopbook.cli.query import Query, asking
from loopbook.printable import show


class Optimized(Answer):
    """A program with recipes applied.

    Attributes:
        out: the file that it was written to.
    """

    out: str | None
    target: str
    nests: list[Nest]


@answers(Optimized)
@asking
def optimize(
    query: Query,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="where the optimised SDFG goes (JSON)")
    ] = None,
) -> None:
    """Write a program's SDFG with the recipes of the book applied."""
    text, nests = query.run(_optimize)
    if out is not None:
        files.write(out, text)
    if query.json:
        where = str(out) if out else None
        write(Optimized, {"out": where, "target": query.target, "nests": nests})
        return
    rows = style.table("nest", "recipe", "expected", "of", right=["expected"], cut=["of"])
    for number, nest in enumerate(nests):
        whose = nest["neighbour"] or nest["tier"]
        if nest["distance"]:
            whose += f" at {nest['distance']:.3f}"
        recipe, gain = style.recipe(nest["recipe"], 2), style.gain(nest["predicted_speedup"])
        style.add(rows, number, recipe, gain, whose if nest["recipe"] else "")
    style.tell(rows)
    if out is not None:
        show(f"written: {out}")
    if out is None:
        show("nothing was written: name a file with --out", file=sys.stderr)


def _optimize(query: Query) -> tuple[str, list[dict[str, Any]]]:
    from loopbook.client.plan import finish_plan

    (plan,), source = plans_for(query, 1), query.source
    text = finish_plan(source.text, plan)
    if source.workload is None:
        text = json.dumps(source.names.restored_program(json.loads(text)))
    return text, [source.told(nest.to_json()) for nest in plan.nests]
