"""``loopbook evaluate``: what the book is worth on kernels that are left out of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from loopbook.cli import options, style
from loopbook.cli.answers import UNSET, Answer, Left, answers, write
from loopbook.cli.progress import progress
from loopbook.errors import InputError
from loopbook.targets import DEFAULT, here, runnable

if TYPE_CHECKING:
    from rich.table import Table

    from loopbook.learn.evaluate import Result

QUICK_SECONDS = 480.0
"""`--quick` begins no kernel after this."""

LEGEND = (
    "share: of the tuner's gain. gain: over docc's own compile, the geometric mean. slower:"
    " kernels that lost over 5 %. declined: kernels with something to gain that got nothing."
)


class Headline(Answer):
    """The figures by which the book's nearness is judged.

    Attributes:
        share_of_gain_1, share_of_gain_5: of the tuner's gain, with one recipe and with the best of
            five measured.
        slowdowns: kernels that lost.
        declined: kernels with something to gain that got nothing.
        lost_by_declining: of the tuner's gain.
        kernels: on which they were measured.
    """

    share_of_gain_1: float | None
    share_of_gain_5: float | None
    slowdowns: int
    declined: int
    lost_by_declining: float
    kernels: int


class Score(Answer):
    """How a method does.

    Attributes:
        kernels: on which it was measured.
        share_of_gain: of the tuner's.
        speedup: over docc's own compile, geometric mean.
        tuner: the same, of the tuner.
        regret: share of the tuner's speedup that is missed, on average.
        slowdowns: kernels and targets that lost.
        declined: those with something to gain that got nothing.
        lost_by_declining: of the tuner's gain.
    """

    kernels: int
    share_of_gain: float | None
    speedup: float | None
    tuner: float | None
    regret: float | None
    slowdowns: list[str]
    declined: list[str]
    lost_by_declining: float


class Retrieval(Answer):
    """Whether the best record is among the nearest.

    Attributes:
        nests: that were asked for.
        recall: how many nearest ones to the share of nests whose best record is among them.
        regret: the same, to what is lost by taking the best of these.
    """

    nests: int
    recall: dict[str, float | None]
    regret: dict[str, float | None]


class Evaluated(Answer):
    """What the book is worth on kernels that were left out of it, one entry for each way of leaving
    out.

    Attributes:
        preset: of PolyBench.
        leave_one_out: without the kernel.
        leave_family_out: without its family.
        leave_polybench_out: without PolyBench.
        leave_hardware_out: tuned on other machines only.
        methods_kernel, methods_family, methods_polybench, methods_hardware: method, and how many
            recipes it measures, to how it does.
        retrieval: method to what is retrieved of the transfers.
    """

    preset: str
    targets: list[str]
    leave_one_out: Headline | Left = UNSET
    leave_family_out: Headline | Left = UNSET
    leave_polybench_out: Headline | Left = UNSET
    leave_hardware_out: Headline | Left = UNSET
    methods_kernel: dict[str, Score] | Left = UNSET
    methods_family: dict[str, Score] | Left = UNSET
    methods_polybench: dict[str, Score] | Left = UNSET
    methods_hardware: dict[str, Score] | Left = UNSET
    retrieval: dict[str, Retrieval] | Left = UNSET


@answers(Evaluated)
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
    """Judge the books by kernels that are left out of them.

    PolyBench is served from records of other kernels; what is served is compiled, run and timed.
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
        from loopbook.learn.evaluate import Settings
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
        log = out / "evaluate.jsonl" if out is not None else None
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
        write(Evaluated, told)
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
