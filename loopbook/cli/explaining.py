"""``loopbook explain``: what is served for each nest of a program, why, and what it does to the
C++."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from loopbook.cli import diffs, files, style
from loopbook.cli.answers import Answer, answers, write
from loopbook.cli.plans import Nest, plans_for, whence
from loopbook.cli.query import Query, asking
from loopbook.printable import show

if TYPE_CHECKING:
    from rich.console import RenderableType

    from loopbook.client.decision import Plan

NESTS = 8
"""Nests that are shown without ``--full``."""

STEPS = 14
"""Steps that are shown without ``--full``, of all nests together."""


class Explained(Nest):
    """What is served for a nest, and why.

    Attributes:
        position: in the prepared program.
        line: of the file, where the nest begins; null where that is not known.
        fingerprint: the same however variables are named.
        record: id of the record that the recipe is from.
        reason: why it was taken, or nothing was.
        choices: recipes that 'bench' would measure.
    """

    position: int
    line: int | None
    fingerprint: str
    record: str | None
    reason: str
    choices: int


class Explanation(Answer):
    """What is served for a program.

    Attributes:
        line: of the file, where the kernel begins.
        sizes: of the preset.
        lowered: it was turned into explicit loops.
        not_lowered: why it could not be; empty if it was, or had loops already.
        before, after: the C++ that docc generates without and with the recipes.
    """

    kernel: str
    file: str
    line: int | None
    preset: str
    sizes: dict[str, int]
    target: str
    lowered: bool
    not_lowered: str
    nests: list[Explained]
    before: str
    after: str


class Lowered(Answer):
    """With --lowered: a kernel as explicit loops.

    Attributes:
        lowered: as Python; null for a kernel that consists of loops already.
        lines: line of this text to the line of the file that it comes from.
    """

    lowered: str | None
    lines: dict[int, int]


@answers(Explanation, Lowered)
@asking
def explain(
    query: Query,
    code: Annotated[bool, typer.Option(help="show what changes in the generated C++")] = True,
    full: Annotated[bool, typer.Option("--full", help="all of it, however long")] = False,
    html: Annotated[
        Path | None, typer.Option(help="write a page with the C++ side by side")
    ] = None,
    lowered: Annotated[
        bool, typer.Option("--lowered", help="show the function as explicit loops, no more")
    ] = False,
) -> None:
    """Show which recipe each nest gets, why, and the C++ with it."""
    if lowered:
        _show_lowered(query)
        return
    if html is not None:
        files.check_file(html)
    told = query.run(_explain)
    if html is not None:
        title, text = f"{told['kernel']}, {_size(told)}", style.rendered(*_parts(told, full=True))
        diffs.write_page(html, title, text, told["before"], told["after"])
    if query.json:
        write(Explanation, told)
        return
    shown = style.rendered(*_parts(told, full=full))
    style.put(shown)
    if html is not None:
        show(f"\nthe C++ side by side: {html}")
    elif code:
        room = None if full else max(style.LINES - shown.count("\n") - 4, 3)
        style.tell("", *diffs.changes(told["before"], told["after"], room))


def _size(told: Mapping[str, Any]) -> str:
    """At which size a program is looked at, and what for."""
    sizes = ", ".join(f"{name}={value}" for name, value in told["sizes"].items())
    return f"{told['preset']}{f' ({sizes})' if sizes else ''}, {told['target']}"


def _parts(told: Mapping[str, Any], *, full: bool) -> Iterator[RenderableType]:
    """All but the code."""
    yield style.heading(told["kernel"], _size(told))
    where = f"{told['file']}:{told['line']}" if told["line"] else told["file"]
    yield style.text(where, style.QUIET)
    if told["lowered"]:
        yield style.text("as explicit loops (--lowered prints them)", style.QUIET)
    if told["not_lowered"]:
        yield f"not turned into loops: {told['not_lowered']}"
    nests = told["nests"] if full else told["nests"][:NESTS]
    with_steps = sum(bool(nest["recipe"]) for nest in nests)
    for nest in nests:
        yield ""
        yield from _nest(nest, 1_000_000 if full else max(STEPS // max(with_steps, 1), 3))
    if len(told["nests"]) > len(nests):
        yield f"… {len(told['nests']) - len(nests)} more nests (--full)"
    tried = [f"{n['choices']} for nest {n['position']}" for n in nests if n["choices"]]
    if tried:
        yield ""
        yield style.text(
            "This is what the book says, and what 'bench --no-measure' runs. 'bench' measures"
            f" recipes before it takes one ({', '.join(tried)}) and keeps the fastest, or"
            " docc's own schedule.",
            style.QUIET,
        )


def _nest(nest: Mapping[str, Any], most: int) -> Iterator[RenderableType]:
    where = f"line {nest['line']}: " if nest["line"] else ""
    yield style.heading(f"nest {nest['position']}", f"{where}{' '.join(nest['loops'])}")
    if not nest["recipe"]:
        nearest = ""
        if nest["neighbour"] and nest["distance"]:
            nearest = f"{nest['neighbour']} at distance {nest['distance']:.3f}"
        yield style.pairs(
            ("  schedule", "docc's own"), ("  because", nest["reason"]), ("  nearest", nearest)
        )
        return
    steps = style.some(nest["recipe"].splitlines(), most, "steps (--full)")
    words = whence(nest)
    _, comma, dropped = nest["reason"].rpartition(", ")
    if "refused" in dropped:
        words += comma + dropped
    yield style.pairs(
        ("  recipe", words),
        ("  record", nest["record"]),
        ("  expected", style.gain(nest["predicted_speedup"])),
        ("  steps", "\n".join(steps)),
    )


def _explain(query: Query) -> dict[str, Any]:
    from loopbook.client.thresholds import TRIES
    from loopbook.sdfg.transformed import served_code

    source, target = query.source, query.target
    plan, tried = plans_for(query, 1, TRIES)
    before = after = served_code(source.text, target, {})
    if plan.active:
        after = served_code(plan.normalised or source.text, target, plan.recipes)
    lines = _lines(query, plan)
    nests = [
        {
            **source.told(nest.to_json()),
            "position": nest.position,
            "line": lines.get(nest.position),
            "fingerprint": nest.fingerprint,
            "record": nest.record,
            "reason": source.told(nest.reason),
            "choices": len(tried.choices.get(nest.position, ())),
        }
        for nest in plan.nests
    ]
    call, workload = source.call, source.workload
    form = {
        "lowered": call is not None and call.lowered is not None,
        "not_lowered": str(call.refusal or "") if call is not None else "",
    }
    sizes = source.sizes if workload is None else workload.sizes(source.preset, source.sizes)
    return {
        "kernel": source.name,
        "file": query.file if workload is None else str(workload.path),
        "line": None if workload is None else workload.kernel.__code__.co_firstlineno,
        "preset": source.preset,
        "sizes": dict(sizes),
        "target": target,
        **form,
        "nests": nests,
        "before": source.told(before),
        "after": source.told(after),
    }


def _lines(query: Query, plan: Plan) -> dict[int, int]:
    """Nest position to the first line of its file that it comes from, where docc has noted it."""
    from loopbook.program.load import load_json
    from loopbook.program.nests import read_nests

    call, workload = query.source.call, query.source.workload
    if call is None or workload is None or plan.normalised is None:
        return {}
    document = load_json(plan.normalised)
    elements = dict(_elements(document))
    begin = workload.kernel.__code__.co_firstlineno
    found = {}
    for nest in read_nests(document):
        element = elements.get(nest.loops[0].element_id)
        noted = {int(n) for n in re.findall(r'"start_line": (\d+)', json.dumps(element))} - {0}
        if call.lowered is not None:
            noted = {call.lowered.line_map[line] for line in noted if line in call.lowered.line_map}
        else:
            noted = {begin + line - 1 for line in noted}
        if noted:
            found[nest.position] = min(noted)
    return found


def _elements(value: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    """All elements of an SDFG by their ids."""
    if isinstance(value, dict):
        if isinstance(value.get("element_id"), int):
            yield value["element_id"], value
        value = list(value.values())
    for part in value if isinstance(value, list) else ():
        yield from _elements(part)


def _show_lowered(query: Query) -> None:
    """Print a workload's kernel as loops; numbers behind lines are those of its file."""
    found = query.run(_lowered)
    if query.json:
        write(Lowered, found)
    else:
        text = f"{query.source.name} consists of loops already: it is compiled as it is\n"
        show(found["lowered"] or text, end="")


def _lowered(query: Query) -> dict[str, Any]:
    from loopbook.frontend import lower

    arguments, workload = query.source.arguments, query.source.workload
    assert workload is not None
    made = lower(workload.kernel, arguments)
    if made is None:
        return {"lowered": None, "lines": {}}
    # `line_map` counts the kernel's lines; the text begins with imports.
    before = made.source[: made.source.index(made.kernel_source)].count("\n")
    return {
        "lowered": made.source,
        "lines": {line + before: origin for line, origin in made.line_map.items()},
    }
