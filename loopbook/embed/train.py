"""Trains the encoder.

Nearness is learnt from what recipes did on other nests than their own, where that is known
(`loopbook.embed.lessons`), and by contrast: two variants of a nest should get near vectors, other
nests' vectors should be far (see `loopbook.embed.losses`). Training keeps a checkpoint beside its
result after every epoch, and goes on from there when it is called again with the same settings.
"""

from __future__ import annotations

import datetime
import json
import random
import zlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from loopbook.embed.corpus import Document, NestClass, View, collect, nest_classes
from loopbook.embed.evaluation import Quality, evaluate
from loopbook.embed.graph import SCHEMA, side_by_side
from loopbook.embed.inference import Encoder
from loopbook.embed.lessons import Lesson, standardised
from loopbook.embed.losses import facts_loss, matching_loss, nest_loss, regret_loss
from loopbook.embed.model import NestEncoder
from loopbook.embed.weights import DIMENSION, save

HELD_OUT = 0.15
"""Share of the classes that is kept for judging the result."""

LESSONS = 12
"""Lessons in a batch."""

DONORS = 10
"""Of a lesson's donors, that a batch looks at."""

CONTRAST = 0.5
"""Weight of contrast between whole nests beside lessons; without these it is 1."""

FACTS = 0.3
"""Weight of what else a nest's vector should tell."""


@dataclass(frozen=True)
class Progress:
    """Where training stands.

    Attributes:
        stage: "tracing" (kernels into nests) or "training".
        done, total: kernels or epochs.
        loss: mean loss of the last epoch, once there is one.
    """

    stage: str
    done: int
    total: int
    loss: float | None = None


@dataclass(frozen=True)
class TrainingReport:
    """What came out.

    Attributes:
        path: the weights.
        version: the encoder's version.
        losses: mean loss of each epoch.
        nests, classes: what it was trained on.
        quality: on classes that it was not trained on.
    """

    path: Path
    version: str
    losses: list[float]
    nests: int
    classes: int
    quality: Quality


def train(
    out: Path,
    *,
    epochs: int = 30,
    seed: int = 0,
    classes: int = 300,
    variants: int = 4,
    views: int = 3,
    steps: int = 40,
    batch: int = 48,
    rate: float = 2e-3,
    threads: int = 1,
    documents: Sequence[Document] | None = None,
    suite: bool = True,
    avoid: Collection[str] = (),
    lessons: Sequence[Lesson] = (),
    origin: dict[str, Any] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> TrainingReport:
    """Train an encoder and write its weights to `out`.

    The same arguments give the same weights on one machine. ``out`` with ``.checkpoint`` and
    ``.nests.gz`` behind its name hold what a later call needs to go on or to start sooner.

    Args:
        out: where the weights go.
        epochs: rounds of `steps` batches each; each is followed by a checkpoint.
        seed: decides kernels, variants, initial weights and batches.
        classes: about how many classes of synthetic nests to make.
        variants: kernels to write for each class.
        views: random variants of each traced nest.
        steps: batches in an epoch.
        batch: classes in a batch.
        rate: highest learning rate; it falls to nothing over the epochs (cosine).
        threads: CPU threads for torch.
        documents: what to train on instead of synthetic nests and PolyBench.
        suite: train on PolyBench's nests as well; an encoder that has cannot be judged by them.
        avoid: fingerprints of nests that must not be learnt from.
        lessons: nests with the records that were tried on them; without any, nearness is learnt by
            contrast alone.
        origin: what the metadata should say of where the lessons come from.
        progress: called now and then.
    """
    settings = {
        "schema": zlib.crc32(repr(SCHEMA).encode()),
        **{"epochs": epochs, "seed": seed, "classes": classes, "variants": variants},
        **{"views": views, "steps": steps, "batch": batch, "rate": rate},
        **{"suite": suite, "lessons": len(lessons)},
    }
    tell = progress or (lambda _: None)
    torch.set_num_threads(threads)
    out.parent.mkdir(parents=True, exist_ok=True)
    if documents is None:
        documents = collect(
            out.with_name(out.name + ".nests.gz"),
            seed,
            classes,
            variants,
            lambda done: tell(Progress("tracing", done, classes * variants)),
            suite=suite,
        )
    known, held_out = _split(nest_classes(documents, seed, views, avoid))
    run = _Run(settings, out.with_name(out.name + ".checkpoint"), known, lessons)
    while len(run.losses) < epochs:
        run.epoch()
        tell(Progress("training", len(run.losses), epochs, run.losses[-1]))
    nests = sum(len(c.views) for c in known)
    told = _metadata(settings, run.losses, nests, len(known)) | (origin or {})
    weights = save(out, run.model.arrays(), told)
    # So few classes that none is held out: judged on what it was trained on, better than nothing.
    judged, others = (held_out, known) if held_out else (known, [])
    quality = evaluate(Encoder(weights), judged, others)
    weights = save(out, run.model.arrays(), {**weights.metadata, "held_out": asdict(quality)})
    return TrainingReport(out, weights.version, run.losses, nests, len(known), quality)


class _Run:
    """Model, optimiser and checkpoint of one training."""

    def __init__(
        self,
        settings: dict[str, Any],
        checkpoint: Path,
        classes: Sequence[NestClass],
        lessons: Sequence[Lesson],
    ) -> None:
        self._settings = settings
        self._checkpoint = checkpoint
        self._classes = classes
        families: dict[int, list[NestClass]] = {}
        shapes: dict[int, list[NestClass]] = {}
        for nest_class in classes:
            families.setdefault(nest_class.family, []).append(nest_class)
            shapes.setdefault(nest_class.shape, []).append(nest_class)
        self._groups = [*families.values(), *shapes.values()]
        torch.manual_seed(settings["seed"])
        self._device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self._lessons = standardised(lessons)
        self.model = NestEncoder().to(self._device)
        facts = len(self._lessons[0].facts) if self._lessons else 1
        self._teller = torch.nn.Linear(DIMENSION, facts).to(self._device)
        learnt = [*self.model.parameters(), *self._teller.parameters()]
        self._optimizer = torch.optim.AdamW(learnt, lr=settings["rate"], weight_decay=1e-2)
        self._schedule = torch.optim.lr_scheduler.OneCycleLR(
            self._optimizer,
            max_lr=settings["rate"],
            total_steps=settings["epochs"] * settings["steps"],
            pct_start=0.1,
        )
        self.losses: list[float] = []
        self._resume()

    def epoch(self) -> None:
        """Train on `steps` batches, then write a checkpoint."""
        # A generator of its own for each epoch: a resumed run draws what an unbroken one would.
        rng = random.Random(f"{self._settings['seed']} {len(self.losses)}")
        total = 0.0
        for _ in range(self._settings["steps"]):
            loss = self._loss(self._batch(rng), rng)
            if self._lessons:
                loss = loss + self._lesson_loss(rng)
            self._optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self._optimizer.step()
            self._schedule.step()
            total += loss.item()
        self.losses.append(total / self._settings["steps"])
        self._save()

    def _batch(self, rng: random.Random) -> list[NestClass]:
        """Classes for one batch, up to four of a family or shape: near misses teach most."""
        size = min(self._settings["batch"], len(self._classes))
        chosen: dict[str, NestClass] = {}
        for group in rng.sample(self._groups, len(self._groups)):
            for nest_class in rng.sample(group, min(4, len(group))):
                if len(chosen) < size:
                    chosen[nest_class.name] = nest_class
        return list(chosen.values())

    def _loss(self, batch: Sequence[NestClass], rng: random.Random) -> torch.Tensor:
        pairs = [rng.sample(nest_class.views, 2) for nest_class in batch]
        views = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        both = [*views[0], *views[1]]
        _, loops, containers = self.model(side_by_side([view.graph for view in both]))
        nests, _, _ = self.model(side_by_side([view.canonical for view in both]))
        family = self._numbers([nest_class.family for nest_class in batch])
        shape = self._numbers([nest_class.shape for nest_class in batch])
        loss = nest_loss(nests[: len(batch)], nests[len(batch) :], family, shape)
        if self._lessons:
            loss = CONTRAST * loss
        loss = loss + _parts_loss(loops, views, family, lambda view: view.loop_parts)
        return loss + _parts_loss(containers, views, family, lambda view: view.container_parts)

    def _lesson_loss(self, rng: random.Random) -> torch.Tensor:
        """Regret and facts of some lessons."""
        chosen = rng.sample(self._lessons, min(LESSONS, len(self._lessons)))
        tried = [
            rng.sample(range(len(lesson.donors)), min(DONORS, len(lesson.donors)))
            for lesson in chosen
        ]
        graphs = [lesson.target for lesson in chosen]
        regrets: list[float] = []
        owner: list[int] = []
        for number, (lesson, places) in enumerate(zip(chosen, tried, strict=True)):
            graphs += [lesson.donors[place] for place in places]
            regrets += [float(lesson.regrets[place]) for place in places]
            owner += [number] * len(places)
        nests, _, _ = self.model(side_by_side(graphs))
        targets, donors = nests[: len(chosen)], nests[len(chosen) :]
        wanted = torch.tensor(regrets, device=self._device)
        loss = regret_loss(targets, donors, self._numbers(owner), wanted)
        facts = torch.from_numpy(np.stack([lesson.facts for lesson in chosen])).to(self._device)
        return loss + FACTS * facts_loss(self._teller(targets), facts)

    def _numbers(self, values: Sequence[int]) -> torch.Tensor:
        return torch.tensor(values, device=self._device)

    def _save(self) -> None:
        partial = self._checkpoint.with_name(self._checkpoint.name + ".part")
        torch.save(
            {
                "settings": json.dumps(self._settings),
                "losses": self.losses,
                "model": self.model.state_dict(),
                "teller": self._teller.state_dict(),
                "optimizer": self._optimizer.state_dict(),
                "schedule": self._schedule.state_dict(),
            },
            partial,
        )
        partial.replace(self._checkpoint)

    def _resume(self) -> None:
        """Take over an earlier run's state, if there is one with these settings."""
        try:
            state = torch.load(self._checkpoint, weights_only=True, map_location=self._device)
        except FileNotFoundError:
            return
        except Exception:  # a damaged checkpoint raises whatever its reader meets: start again
            return
        if state["settings"] != json.dumps(self._settings):
            return
        self.model.load_state_dict(state["model"])
        self._teller.load_state_dict(state["teller"])
        self._optimizer.load_state_dict(state["optimizer"])
        self._schedule.load_state_dict(state["schedule"])
        self.losses = state["losses"]


def _parts_loss(
    vectors: torch.Tensor,
    views: tuple[list[View], list[View]],
    family: torch.Tensor,
    parts: Callable[[View], tuple[str, ...]],
) -> torch.Tensor:
    """`matching_loss` of loops or containers; `vectors` has those of all views in a row."""
    numbers: list[torch.Tensor] = []
    owners: list[torch.Tensor] = []
    for side in views:
        names = [name for view in side for name in parts(view)]
        counts = torch.tensor([len(parts(view)) for view in side])
        numbers.append(torch.tensor([zlib.crc32(name.encode()) for name in names]))
        owners.append(torch.repeat_interleave(torch.arange(len(side)), counts))
    numbers = [tensor.to(vectors.device) for tensor in numbers]
    owners = [tensor.to(vectors.device) for tensor in owners]
    a, b = vectors[: len(numbers[0])], vectors[len(numbers[0]) :]
    return matching_loss(a, b, (numbers[0], numbers[1]), (owners[0], owners[1]), family)


def _split(classes: Sequence[NestClass]) -> tuple[list[NestClass], list[NestClass]]:
    """Classes to train on and to judge by; a class's name decides, not its place."""

    def held_out(nest_class: NestClass) -> bool:
        if nest_class.name.startswith("polybench"):
            return False
        return zlib.crc32(nest_class.name.encode()) % 1000 < 1000 * HELD_OUT

    return [c for c in classes if not held_out(c)], [c for c in classes if held_out(c)]


def _metadata(
    settings: dict[str, Any], losses: list[float], nests: int, classes: int
) -> dict[str, Any]:
    arguments = ", ".join(f"{key}={value}" for key, value in settings.items() if key != "schema")
    return {
        "settings": settings,
        "seed": settings["seed"],
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "nests": nests,
        "classes": classes,
        "losses": [round(loss, 4) for loss in losses],
        "command": f"loopbook.embed.train.train(out, {arguments})",
    }
