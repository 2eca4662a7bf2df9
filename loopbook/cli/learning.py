"""Commands about the models: train and evaluate."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from loopbook.cli import options
from loopbook.cli.bars import bars
from loopbook.errors import InputError
from loopbook.printable import show
from loopbook.targets import DEFAULT, here, runnable

if TYPE_CHECKING:
    from loopbook.learn.train import Progress

QUICK_SECONDS = 480.0
"""`--quick` begins no kernel after this."""

LINE_SECONDS = 60.0
"""A line of progress in a log, if the stage stays the same."""


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
    from loopbook.learn.train import train as run
    from loopbook.recipes.book import Book

    with stages(hidden=json) as tell, ExitStack() as opened:
        report = run(
            out,
            corpus=transfers,
            logs=tuple(logs or ()),
            books=[opened.enter_context(Book.open(path, readonly=True)) for path in book or ()],
            keep_encoder=cost_model_only,
            seed=seed,
            threads=threads or os.cpu_count() or 1,
            tell=tell,
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
        show(name, *(f"{key} {value}" for key, value in values.items()), sep="\n  ")


@contextmanager
def stages(*, hidden: bool) -> Iterator[Callable[[Progress], None]]:
    """A bar for the stage that training is in; where there is no terminal, now and then a line."""
    with bars(hidden=hidden, elapsed=True) as shown:
        bar = shown.add_task("", total=None)
        stage, due = "", 0.0

        def tell(state: Progress) -> None:
            nonlocal stage, due
            loss = "" if state.loss is None else f" loss {state.loss:.3f}"
            shown.update(
                bar,
                completed=state.done,
                total=state.total,
                description=f"{state.stage}{loss}",
            )
            now = time.monotonic()
            if shown.disable and not hidden and (state.stage != stage or now >= due):
                stage, due = state.stage, now + LINE_SECONDS
                show(f"{stage} {state.done}/{state.total}{loss}", file=sys.stderr, flush=True)

        yield tell


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
    from loopbook.client.opening import open_book
    from loopbook.embed.inference import Encoder
    from loopbook.learn import report
    from loopbook.learn import transfers as corpus
    from loopbook.learn.evaluate import LOG, Settings
    from loopbook.learn.evaluate import evaluate as run
    from loopbook.learn.holdout import HOLDOUTS
    from loopbook.learn.methods import methods
    from loopbook.learn.retrieval import judge
    from loopbook.learn.summary import headline, score
    from loopbook.predict.cost_model import CostModel
    from loopbook.workloads import polybench

    chosen = method or (["ours"] if quick else ["ours", "nearest", "raw", "untrained", "random"])
    targets = target or ([DEFAULT] if quick else list(here()))
    rules = leave_out or (["kernel"] if quick else ["kernel", "polybench"])
    for rule in rules:
        if rule not in HOLDOUTS:
            raise InputError(f"there is nothing to leave out called {rule!r}")
    settings = Settings(
        kernels=tuple(kernels or polybench.names()),
        targets=tuple(runnable(one).name for one in targets),
        holdouts=tuple(rules),
        preset=preset,
        until=QUICK_SECONDS if quick else 0.0,
    )
    entrants = methods(chosen, Encoder.load(encoder), CostModel.load(cost_model), contrastive)
    log = out / LOG if out is not None else None

    def tell(done: int, total: int, line: str) -> None:
        show(f"[{done}/{total}] {line}", file=sys.stderr, flush=True)

    with open_book(book) as layered:
        results = list(run(layered.books, entrants, settings, log, tell))
        examples = corpus.load(transfers) if transfers is not None else None
        found = {}
        if examples is not None:
            found = {one.name: judge(examples, one, layered.books) for one in entrants}
        if out is not None:
            report.write(out, results, entrants, settings, layered.books, found)
    told: dict[str, Any] = {"preset": preset, "targets": list(settings.targets)}
    names = {"kernel": "leave_one_out", "polybench": "leave_polybench_out"}
    for rule in rules:
        own = [one for one in results if one.holdout == rule]
        if "ours" in chosen:
            told[names.get(rule, f"leave_{rule}_out")] = headline(own)
        told[f"methods_{rule}"] = {
            f"{name} {way}": score(own, name, way).to_json()
            for name in chosen
            for way in settings.ways
        }
    if found:
        told["retrieval"] = {name: report.told(one) for name, one in found.items()}
    if json:
        options.print_json(told)
    else:
        for rule in rules:
            for name, row in told[f"methods_{rule}"].items():
                show(f"{rule:<10} {name:<14} {row}")
