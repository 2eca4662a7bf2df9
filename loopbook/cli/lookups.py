"""Commands that look nests up: nearest, explain, optimize, bench.

SDFG files may come from anywhere, and damaged ones can crash docc's C++. So whatever touches docc
runs in a child process; its crash or hang is an error message here.
"""

from __future__ import annotations

import difflib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from loopbook import targets
from loopbook.cli import options
from loopbook.cli.query import Query, asking
from loopbook.cli.source import load_workload
from loopbook.errors import InputError, LoopbookError, SdfgError
from loopbook.printable import show

if TYPE_CHECKING:
    from loopbook.client.decision import Plan


@asking
def nearest(
    query: Query,
    k: Annotated[int, typer.Option("-k", help="how many", min=1, max=1000)] = 5,
) -> None:
    """Show the nearest records for each nest of a program."""
    found = query.run(_nearest, k)
    if query.json:
        options.print_json({"program": query.source.name, "target": query.target, "nests": found})
        return
    for nest in found:
        show(f"nest {nest['position']}: {' '.join(nest['loops'])}")
        for near in nest["neighbours"]:
            show(
                f"  {near['nest']:<22} distance {near['distance']:.3f}  hardware"
                f" {near['hardware_distance']:.2f}  {near['speedup']:.2f}× on {near['hardware']}"
            )
        if not nest["neighbours"]:
            show("  nothing in the book")


def _nearest(query: Query, k: int) -> list[dict[str, Any]]:
    from loopbook.client.opening import open_book
    from loopbook.sdfg import program

    nests = _some(program.prepare_nests(query.source.text)[1], query.source.name)
    with open_book(query.book) as layered:
        return [
            {
                "position": nest.position,
                "loops": query.source.told([loop.indvar for loop in nest.loops]),
                "fingerprint": nest.fingerprint,
                "neighbours": [
                    {
                        "record": near.record.id,
                        "nest": near.record.nest,
                        "kernel": near.record.kernel,
                        "distance": round(near.distance, 5),
                        "hardware_distance": round(near.hardware_distance, 4),
                        "speedup": round(near.speedup, 3),
                        "hardware": near.record.hardware.cpu or near.record.hardware.isa,
                        "recipe": near.record.recipe.text(),
                    }
                    for near in layered.nearest(nest, k, target=query.target, exclude=query.exclude)
                ],
            }
            for nest in nests
        ]


def _some(nests: list[Any], name: str) -> list[Any]:
    if not nests:
        raise SdfgError(f"{name} has no loops: there is nothing to look up")
    return nests


@asking
def explain(
    query: Query,
    code: Annotated[bool, typer.Option(help="show what changes in the generated C++")] = True,
    lowered: Annotated[
        bool, typer.Option("--lowered", help="show the function as explicit loops, no more")
    ] = False,
) -> None:
    """Show what was found for each nest, how near it is, which steps it takes, and the C++ before
    and after."""
    if lowered:
        _show_lowered(query)
        return
    told = query.run(_explain)
    if query.json:
        options.print_json(told)
        return
    if told["lowered"]:
        show("as explicit loops (--lowered prints them)")
    if told["not_lowered"]:
        show(f"not turned into loops: {told['not_lowered']}")
    for nest in told["nests"]:
        show(f"nest {nest['position']}: {' '.join(nest['loops'])}")
        if nest["neighbour"]:
            show(f"  nearest: {nest['neighbour']} at distance {nest['distance']:.3f}")
        show(f"  {nest['tier']}: {nest['reason'] or 'docc’s own schedule'}")
        if nest["recipe"]:
            show(f"  predicted speedup {nest['predicted_speedup']:.2f}×")
            show("".join(f"    {line}\n" for line in nest["recipe"].splitlines()), end="")
    if code:
        before, after = told["before"].splitlines(), told["after"].splitlines()
        changes = difflib.unified_diff(before, after, "docc", "loopbook", lineterm="")
        show("\n".join(changes) or "the generated C++ is docc's own")


def _show_lowered(query: Query) -> None:
    """Print a workload's kernel as loops; numbers behind lines are those of its file."""
    found = query.run(_lowered)
    if query.json:
        options.print_json(found)
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


def _explain(query: Query) -> dict[str, Any]:
    from loopbook.sdfg import build, program

    source, target = query.source, query.target
    plan = _plan(query)
    before = program.baseline(source.text, target).to_cpp()
    after = before
    if plan.active:
        after = build.transform(source.text, target, plan.recipes)[0].to_cpp()
    nests = [
        {
            **source.told(nest.to_json()),
            "position": nest.position,
            "fingerprint": nest.fingerprint,
            "record": nest.record,
            "reason": source.told(nest.reason),
        }
        for nest in plan.nests
    ]
    code = {"before": source.told(before), "after": source.told(after)}
    call = source.call
    form = {
        "lowered": call is not None and call.lowered is not None,
        "not_lowered": str(call.refusal or "") if call is not None else "",
    }
    return {"target": target, **form, "nests": nests, **code}


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
        _write(out, text)
    if query.json:
        told = {"out": str(out) if out else None, "target": query.target, "nests": nests}
        options.print_json(told)
        return
    for number, nest in enumerate(nests):
        used = f"{nest['neighbour']} at distance {nest['distance']:.3f}" if nest["recipe"] else ""
        show(f"nest {number}: {nest['tier']} {used}".rstrip())
    if out is None:
        show("nothing was written: name a file with --out", file=sys.stderr)


def _optimize(query: Query) -> tuple[str, list[dict[str, Any]]]:
    from loopbook.client.plan import finish_plan

    plan, source = _plan(query), query.source
    text = finish_plan(source.text, plan)
    if source.workload is None:
        text = json.dumps(source.names.restored_program(json.loads(text)))
    return text, [source.told(nest.to_json()) for nest in plan.nests]


def _plan(query: Query) -> Plan:
    from loopbook.client.opening import open_book
    from loopbook.client.plan import make_plan

    source = query.source
    with open_book(query.book) as layered:
        plan = make_plan(
            source.text,
            query.target,
            layered,
            exclude=query.exclude,
            sizes=source.symbols,
            expressions=source.call is not None and source.call.lowered is not None,
        )
    _some(list(plan.nests), source.name)
    return plan


def _write(path: Path, text: str) -> None:
    """All of the file or nothing."""
    partial = path.with_name(f".{path.name}.partial")
    try:
        partial.write_text(text)
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise InputError(f"cannot write {path}: {error.strerror}") from None


def bench(
    files: Annotated[
        list[str], typer.Argument(help="FILE.py[:FUNC]…, PolyBench names, or 'polybench' for all")
    ],
    preset: options.Preset = "",
    target: options.Target = targets.DEFAULT,
    size: options.Size = None,
    book: options.BookPath = None,
    exclude: options.Exclude = None,
    measure: Annotated[
        bool, typer.Option(help="try choices on the spot and keep the fastest")
    ] = True,
    seconds: Annotated[float, typer.Option(help="time for measuring each kernel", min=0.01)] = 4.0,
    timeout: Annotated[float, typer.Option(help="limit for all runs of a kernel, seconds")] = 900.0,
    report: Annotated[
        bool | None,
        typer.Option("--report", help="tell the book and the server how the recipe did"),
    ] = None,
    json: options.Json = False,
) -> int:
    """Time docc's own compile, Python and ours, in turn, and check the numbers.

    A kernel made of arrays is compiled as explicit loops.

    Exit code 1 if some kernel's numbers are wrong or it could not be measured.
    """
    from loopbook.client.bench import bench as bench_one
    from loopbook.client.opening import open_book
    from loopbook.workloads import polybench
    from loopbook.workloads.given import usual_preset

    targets.runnable(target)
    sizes = options.read_sizes(size)
    names = [n for f in files for n in (polybench.names() if f == "polybench" else [f])]
    workloads = [load_workload(name) for name in names]
    failed = False
    with open_book(book) as layered:
        for workload in workloads:
            try:
                told = bench_one(
                    workload,
                    preset or usual_preset(workload.parameters),
                    target,
                    layered,
                    exclude=exclude or [],
                    measure=measure,
                    seconds=seconds,
                    sizes=sizes or None,
                    timeout=timeout,
                    report=report,
                )
            except LoopbookError as error:
                if len(workloads) == 1:
                    raise
                failed = True
                show(f"loopbook: {workload.name}: {error}", file=sys.stderr, flush=True)
                continue
            failed |= not told["correct"]
            if json:
                options.print_json(told)
            else:
                _show(told)
    return 1 if failed else 0


def _show(told: dict[str, Any]) -> None:
    right = "right" if told["correct"] else "WRONG"
    python = options.seconds(told["python_s"]) if told["python_s"] is not None else "-"
    show(
        f"{told['kernel']:<16} {told['preset']:<7} {told['target']:<11}"
        f" {told['baseline']:<5} {options.seconds(told['baseline_s']):>9}"
        f"  Python {python:>9}"
        f"  loopbook {options.seconds(told['optimized_s']):>9}  {told['speedup']:7.2f}×  {right}",
        flush=True,
    )
    for line in _remarks(told):
        show(f"    {line}")
    for number, nest in enumerate(told["nests"]):
        if nest["recipe"] or nest["tier"] != "none":
            steps = "; ".join(nest["recipe"].splitlines()) or "no steps"
            show(
                f"    nest {number}: {nest['tier']}, {nest['neighbour']}"
                f" at {nest['distance']:.3f}: {steps}"
            )


def _remarks(told: dict[str, Any]) -> Iterator[str]:
    """What the times alone do not say."""
    if told["fastest"] == "python":
        yield "Python (NumPy) itself is the fastest here"
    if told["docc_wrong"]:
        at = told["preset"] if told["lowered"] else told["reference_preset"]
        yield f"docc is wrong here, Python says, at {at}: {told['docc_wrong_reason']}"
    elif not told["correct"]:
        yield f"wrong: {told['wrong_reason']}"
    if "docc_failed" in told:
        yield f"docc has no program of its own here: {told['docc_failed']}"
    if told["baseline"] == "loops":
        yield "so it is compared with docc's schedule of the same loops"
    if "not_lowered" in told:
        yield f"it runs as Python: {told['not_lowered']}"
    if "python_skipped" in told:
        yield f"Python was not timed: {told['python_skipped']}"
