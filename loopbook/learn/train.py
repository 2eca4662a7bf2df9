"""Trains encoder and cost model on synthetic nests, so that they can be judged by others.

Nothing of PolyBench is learnt from: neither its programs, nor nests with the fingerprint of one of
its nests, as target or as donor. One pair of models is then honest for every kernel that is held
out. The models' metadata lists what they learnt from, and `loopbook.learn.holdout.check_unseen`
refuses to evaluate them on any of that.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loopbook.embed import train as encoder_training
from loopbook.embed.corpus import polybench_documents
from loopbook.embed.inference import Encoder
from loopbook.embed.train import TrainingReport
from loopbook.learn import candidates, cost_model, transfers
from loopbook.learn.cost_model import CostModelReport
from loopbook.learn.examples import Examples
from loopbook.learn.expectations import with_expectations
from loopbook.learn.lessons import lessons
from loopbook.program.load import load_json
from loopbook.program.nests import read_nests
from loopbook.recipes.book import Book
from loopbook.tuner import preparing
from loopbook.workloads import polybench


@dataclass(frozen=True)
class Progress:
    """Where training stands.

    Attributes:
        stage: "reading", "tracing", "training" (the encoder, in epochs), "expecting" (what records
            say of each recipe) or "boosting" (the cost model, in forests).
        loss: mean loss of the last epoch, once there is one.
    """

    stage: str
    done: int
    total: int
    loss: float | None = None


@dataclass(frozen=True)
class Report:
    """What came out; None for what was not trained."""

    encoder: TrainingReport | None
    cost_model: CostModelReport | None


Tell = Callable[[Progress], None]


def train(
    out: Path,
    *,
    corpus: Path | None = None,
    logs: Sequence[Path] = (),
    books: Sequence[Book] = (),
    avoid: Collection[str] | None = None,
    keep_encoder: bool = False,
    seed: int = 0,
    threads: int = 1,
    rounds: int | None = None,
    tell: Tell = lambda _: None,
    **settings: Any,
) -> Report:
    """Train an encoder, written to `out`, and a cost model, written beside it as
    ``cost_model.npz``.

    Without transfers and logs there is no cost model, and nearness is learnt by contrast alone.

    Args:
        corpus: folder of transfers, see `loopbook.learn.transfers`.
        logs: logs of searches on synthetic programs, see `loopbook.learn.candidates`.
        books: whose records say what to expect of the recipes, as when they are served; PolyBench's
            are left out.
        avoid: fingerprints not to learn from; default those of PolyBench's nests.
        keep_encoder: use the encoder at `out` as it is, and train the cost model only.
        settings: of the encoder's training, see `loopbook.embed.train.train`.

    Raises:
        CorpusError: transfers or logs cannot be read, or are too few.
        EncoderError: there is no encoder to keep.
    """
    held = frozenset(suite_fingerprints() if avoid is None else avoid)
    examples = gather(corpus, logs, held, tell)
    origin = {
        "data": digest(examples),
        "programs": sorted(examples.programs),
        "fingerprints": sorted(examples.fingerprints),
        "avoided": len(held),
    }
    trained = None
    if not keep_encoder:
        trained = encoder_training.train(
            out,
            seed=seed,
            threads=threads,
            suite=False,
            avoid=held,
            lessons=lessons(examples),
            origin=origin,
            progress=lambda p: tell(Progress(p.stage, p.done, p.total, p.loss)),
            **settings,
        )
    if not len(examples):
        return Report(trained, None)
    encoder = Encoder.load(out)
    examples = _expecting(examples, books, encoder, held, tell)
    origin |= {
        "data": digest(examples),
        "programs": sorted(examples.programs),
        "fingerprints": sorted(examples.fingerprints),
    }
    made = cost_model.train_cost_model(
        out.with_name("cost_model.npz"),
        examples,
        encoder,
        seed=seed,
        threads=threads,
        origin=origin,
        progress=lambda done, total: tell(Progress("boosting", done, total)),
        **({} if rounds is None else {"rounds": rounds}),
    )
    return Report(trained, made)


def _expecting(
    examples: Examples,
    books: Sequence[Book],
    encoder: Encoder,
    held: Collection[str],
    tell: Tell,
) -> Examples:
    """The examples with what records say of them: twice, as a nest of a kind that the book knows
    and as a stranger to it, as nests are that it is asked about."""
    if not books:
        return examples
    told = Examples()
    for strangers in (False, True):
        told += with_expectations(
            examples,
            books,
            encoder,
            exclude=polybench.names(),
            without=held,
            strangers=strangers,
            progress=lambda done, total, half=strangers: tell(
                Progress("expecting", done + half * total, 2 * total)
            ),
        )
    return told


def gather(
    corpus: Path | None, logs: Sequence[Path], avoid: Collection[str], tell: Tell = lambda _: None
) -> Examples:
    """All that there is to learn from, without PolyBench and the nests to avoid. What preparing
    programs gains is taken from the folders of logs.

    Raises:
        CorpusError: transfers or logs cannot be read.
    """
    examples = Examples()
    gains = {}
    for folder in logs:
        gains |= preparing.load(folder / preparing.PATH.name)
    if corpus is not None:
        examples += transfers.load(corpus, gains)
    if logs:
        examples += candidates.from_logs(
            logs, gains, lambda done, total: tell(Progress("reading", done, total))
        )
    return examples.without(polybench.names(), avoid)


def suite_fingerprints() -> set[str]:
    """Of the nests of all PolyBench kernels."""
    return {
        nest.fingerprint
        for document in polybench_documents()
        for nest in read_nests(load_json(document.text))
    }


def digest(examples: Examples) -> str:
    """A short hash of all examples: models of the same data and seed are the same."""
    text = hashlib.sha256()
    for one in sorted(map(repr, examples.examples)):
        text.update(one.encode())
    return text.hexdigest()[:16]
