"""Commands about the models: train and evaluate."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from loopbook.cli import options, style
from loopbook.cli.progress import Progress, progress
from loopbook.errors import InputError
from loopbook.targets import DEFAULT, here, runnable

if TYPE_CHECKING:
    from rich.table import Table

    from loopbook.learn.evaluate import Result
    from loopbook.learn.train import Progress as Stage

QUICK_SECONDS = 480.0
"""`--quick` begins no kernel after this."""

LEGEND = (
    "share: of the tuner's gain. gain: over docc's own compile, the geometric mean. slower:"
    " kernels that lost over 5 %. declined: kernels with something to gain that got nothing."
)


def train(
    out: Annotated[
        Path,
        typer.Option("--out", "-o", help="where the encoder goes; cost_model.npz goes beside it"),
    ],
    transfers: Annotated[
        Path | None, typer.Option(help="corpus of transfers: recipes measured on other nests")
    ] = None,
    logs: Annotated[
        list[Path] | None,
        typer.Option(
            help="logs of searches on synthetic programs, or a corpus of them; repeatable"
        ),
    ] = None,
    book: Annotated[
        list[Path] | None,
        typer.Option(
            help="book of synthetic nests, whose records the cost model hears; repeatable"
        ),
    ] = None,
    epochs: Annotated[int, typer.Option(help="of the encoder", min=1)] = 40,
    classes: Annotated[int, typer.Option(help="classes of generated nests", min=8)] = 300,
    cost_model_only: Annotated[
        bool, typer.Option(help="keep the encoder that is at --out")
    ] = False,
    seed: Annotated[int, typer.Option(help="the same seed and data give the same models")] = 0,
    threads: Annotated[int, typer.Option(help="default all cores")] = 0,
    json: options.Json = False,
) -> None:
    """Train encoder and cost model on synthetic nests: on how recipes did on other nests than their
    own.

    Stop it any time; the same command goes on from its last checkpoint. PolyBench is not learnt
    from, so that 'loopbook evaluate' can judge the result by it.
    """
    checkpoint = "the last checkpoint is kept, and the same command goes on from it"
    with progress("reading", stopped=checkpoint) as shown, ExitStack() as opened:
        from loopbook.learn.train import train as run
        from loopbook.recipes.book import Book

        report = run(
            out,
            corpus=transfers,
            logs=tuple(logs or ()),
            books=[opened.enter_context(Book.open(path, readonly=True)) for path in book or ()],
            keep_encoder=cost_model_only,
            seed=seed,
            threads=threads or os.cpu_count() or 1,
            tell=lambda state: _staged(shown, state),
            epochs=epochs,
            classes=classes,
        )
    told: dict[str, Any] = {}
    if report.encoder is not None:
        made = report.encoder
        told["encoder"] = {
            "path": str(made.path),
            "version": made.version,
            "nests": made.nests,
            "classes": made.classes,
            "loss": made.losses[-1] if made.losses else None,
            "top1": made.quality.top1,
            "loops": made.quality.loops,
        }
    if report.cost_model is not None:
        cost_model = report.cost_model
        told["cost_model"] = {
            "path": str(cost_model.path),
            "version": cost_model.version,
            "examples": cost_model.examples,
            "transfers": cost_model.transfers,
            **asdict(cost_model.calibration),
        }
    if json:
        options.print_json(told)
        return
    for name, values in told.items():
        style.tell(style.heading(name.replace("_", " ")))
        style.tell(style.pairs(*((f"  {key}", _figure(value)) for key, value in values.items())))


def _staged(shown: Progress, state: Stage) -> None:
    """Show where training stands."""
    if state.stage != shown.what:
        shown.stage(state.stage)
    shown.at(state.done, state.total, "" if state.loss is None else f"loss {state.loss:.3f}")


def _figure(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def evaluate(
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="folder for tables, figures and the log")
    ] = None,
    quick: Annotated[
        bool, typer.Option(help="our method only, one target, kernels left out; under 10 minutes")
    ] = False,
    kernels: Annotated[list[str] | None, typer.Option("--kernel", help="repeatable")] = None,
    target: Annotated[list[str] | None, typer.Option(help="repeatable; default both")] = None,
    leave_out: Annotated[
        list[str] | None,
        typer.Option(help="kernel, family, polybench or hardware; repeatable"),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(help="ours, nearest, contrastive, raw, untrained or random; repeatable"),
    ] = None,
    preset: Annotated[str, typer.Option(help="of PolyBench")] = "MEDIUM",
    book: options.BookPath = None,
    contrastive: Annotated[
        Path | None, typer.Option(help="weights trained without transfers, to compare with")
    ] = None,
    transfers: Annotated[
        Path | None, typer.Option(help="corpus of transfers, for the recall of the best record")
    ] = None,
    encoder: Annotated[Path | None, typer.Option(help="weights of the encoder")] = None,
    cost_model: Annotated[Path | None, typer.Option(help="the cost model")] = None,
    json: options.Json = False,
) -> None:
    """Serve PolyBench from records of other kernels; compile, run and time what is served.

    With --out, the log of measurements is kept there, and a later call goes on from it.
    """
    suite = _kernels(kernels, preset)
    chosen = method or (["ours"] if quick else ["ours", "nearest", "raw", "untrained", "random"])
    rules = leave_out or (["kernel"] if quick else ["kernel", "polybench"])
    kept = "what was measured is kept in the log, and the same command goes on from it"
    with progress("reading the models", stopped=kept if out is not None else "") as shown:
        from loopbook.client.opening import open_book
        from loopbook.embed.inference import Encoder
        from loopbook.learn import report
        from loopbook.learn import transfers as corpus
        from loopbook.learn.evaluate import LOG, Settings
        from loopbook.learn.evaluate import evaluate as run
        from loopbook.learn.holdout import HOLDOUTS
        from loopbook.learn.methods import methods
        from loopbook.learn.retrieval import judge
        from loopbook.predict.cost_model import CostModel

        for rule in rules:
            if rule not in HOLDOUTS:
                raise InputError(f"there is nothing to leave out called {rule!r}")
        settings = Settings(
            kernels=suite,
            targets=tuple(runnable(t).name for t in target or ([DEFAULT] if quick else here())),
            holdouts=tuple(rules),
            preset=preset,
            until=QUICK_SECONDS if quick else 0.0,
        )
        entrants = methods(chosen, Encoder.load(encoder), CostModel.load(cost_model), contrastive)
        log = out / LOG if out is not None else None
        with open_book(book) as layered:
            shown.stage("kernels")
            results = list(run(layered.books, entrants, settings, log, shown.at))
            found = {}
            if transfers is not None:
                shown.stage("what is retrieved of the transfers")
                examples = corpus.load(transfers)
                found = {one.name: judge(examples, one, layered.books) for one in entrants}
            if out is not None:
                shown.stage("tables and figures")
                report.write(out, results, entrants, settings, layered.books, found)
    told: dict[str, Any] = {"preset": preset, "targets": list(settings.targets)}
    told |= _judged(results, rules, chosen, settings.ways)
    if found:
        told["retrieval"] = {name: report.told(one) for name, one in found.items()}
    if json:
        options.print_json(told)
        return
    for rule in rules:
        style.tell(style.heading(HOLDOUTS[rule].title, f"PolyBench {preset}"))
        style.tell(_table(told[f"methods_{rule}"]), "")
    style.tell(style.text(LEGEND, style.QUIET))
    if out is not None:
        style.tell("", style.pairs(("tables and figures", out / "evaluate.md"), ("log", log)))


def _kernels(named: Sequence[str] | None, preset: str) -> tuple[str, ...]:
    """The kernels to evaluate.

    Raises:
        LoopbookError: there is no such kernel, or it has no such size.
    """
    from loopbook.workloads import polybench

    unknown = set(named or ()) - set(polybench.names())
    if unknown:
        known = ", ".join(polybench.names())
        raise InputError(f"PolyBench has no kernel {', '.join(sorted(unknown))}; it has {known}")
    chosen = tuple(named or polybench.names())
    polybench.load(chosen[0]).sizes(preset)
    return chosen


def _judged(
    results: Sequence[Result], rules: Sequence[str], chosen: Sequence[str], ways: Sequence[int]
) -> dict[str, Any]:
    """Figures of all methods, for each way of holding out."""
    from loopbook.learn.summary import headline, score

    told: dict[str, Any] = {}
    names = {"kernel": "leave_one_out", "polybench": "leave_polybench_out"}
    for rule in rules:
        own = [one for one in results if one.holdout == rule]
        if "ours" in chosen:
            told[names.get(rule, f"leave_{rule}_out")] = headline(own)
        told[f"methods_{rule}"] = {
            f"{name} {way}": score(own, name, way).to_json() for name in chosen for way in ways
        }
    return told


def _table(methods: Mapping[str, Mapping[str, Any]]) -> Table:
    """The figures of the methods."""
    columns = ("method", "measured", "kernels", "share", "gain", "tuner", "slower", "declined")
    rows = style.table(*columns, right=columns[1:])
    for name, one in methods.items():
        method, _, way = name.rpartition(" ")
        share, slower = one["share_of_gain"], len(one["slowdowns"])
        style.add(
            rows,
            method,
            "none" if way == "1" else way,
            one["kernels"],
            "-" if math.isnan(share) else f"{100 * share:.0f} %",
            style.gain(one["speedup"]) if one["kernels"] else "-",
            style.gain(one["tuner"]) if one["kernels"] else "-",
            style.text(f"▼ {slower}", style.BAD) if slower else 0,
            len(one["declined"]),
        )
    return rows
