"""``loopbook train``: encoder and cost model."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from loopbook.cli import options, style
from loopbook.cli.answers import UNSET, Answer, Left, answers, write
from loopbook.cli.progress import Progress, progress

if TYPE_CHECKING:
    from loopbook.learn.train import Progress as Stage
    from loopbook.learn.train import Report


class Encoder(Answer):
    """An encoder that was trained.

    Attributes:
        path: its weights.
        nests, classes: that it learnt from.
        loss: of the last epoch.
        top1: share of nests that are nearest to one of their class.
        loops: share of loops that are matched rightly.
    """

    path: str
    version: str
    nests: int
    classes: int
    loss: float | None
    top1: float | None
    loops: float | None


class CostModel(Answer):
    """A cost model that was trained, and how it does on families that it has not seen.

    Attributes:
        path: its file.
        examples, transfers: that it learnt from.
        rows: how many were predicted.
        error: mean absolute error of the mean, in powers of two.
        explained: share of the variance that the mean explains.
        order: Spearman's rank correlation within a nest, averaged over nests.
        covered: share of the promising rows at or above the low quantile.
        shifts: target to what is taken off it.
    """

    path: str
    version: str
    examples: int
    transfers: int
    rows: int
    error: float | None
    explained: float | None
    order: float | None
    covered: float | None
    shifts: dict[str, float]


class Trained(Answer):
    """The models that were trained."""

    encoder: Encoder | Left = UNSET
    cost_model: CostModel | Left = UNSET


@answers(Trained)
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
    """Train encoder and cost model on synthetic nests.

    They learn how recipes did on other nests than their own. Stop it any time; the same command
    goes on from its last checkpoint. PolyBench is not learnt from, so that 'loopbook evaluate' can
    judge the result by it.
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
    told = told_of(report)
    if json:
        write(Trained, told)
        return
    for name, values in told.items():
        style.tell(style.heading(name.replace("_", " ")))
        style.tell(style.pairs(*((f"  {key}", _figure(value)) for key, value in values.items())))


def told_of(report: Report) -> dict[str, Any]:
    """What ``--json`` says of a training."""
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
    return told


def _staged(shown: Progress, state: Stage) -> None:
    """Show where training stands."""
    if state.stage != shown.what:
        shown.stage(state.stage)
    shown.at(state.done, state.total, "" if state.loss is None else f"loss {state.loss:.3f}")


def _figure(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
