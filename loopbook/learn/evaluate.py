"""Evaluates what the book serves kernels that it does not know: compiled, run, numbers checked.

Every kernel is held out in turn (`loopbook.learn.holdout`); what each method (`methods`) then
serves is timed in turn with docc's own compile and with the tuner's recipes of that very kernel
(`comparison`). Each kernel's times are written to a log as soon as they are known, and not measured
again by a later call.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from loopbook.client.layered import LayeredBook
from loopbook.errors import InputError, LoopbookError
from loopbook.learn import holdout
from loopbook.learn.comparison import CHOICES, Comparison, Kernel, Served
from loopbook.learn.holdout import Holdout
from loopbook.learn.methods import Method
from loopbook.recipes.book import Book
from loopbook.targets import here
from loopbook.toolchain import scratch
from loopbook.workloads import polybench


@dataclass(frozen=True)
class Settings:
    """What to evaluate.

    Attributes:
        ways: recipes of each nest that may be measured: 1 serves one without measuring.
        until: no kernel is begun after so many seconds; 0 for no limit.
        timeout: limit for all runs of one comparison together, seconds.
    """

    kernels: Sequence[str] = field(default_factory=polybench.names)
    targets: Sequence[str] = field(default_factory=here)
    holdouts: Sequence[str] = ("kernel", "polybench")
    preset: str = "MEDIUM"
    ways: Sequence[int] = (1, CHOICES)
    until: float = 0.0
    timeout: float = 300.0


@dataclass(frozen=True)
class Result:
    """One kernel, held out in one way."""

    holdout: str
    comparison: Comparison


Progress = Callable[[int, int, str], None]


def evaluate(
    books: Sequence[Book],
    methods: Sequence[Method],
    settings: Settings,
    log: Path | None,
    progress: Progress = lambda done, total, line: None,
) -> Iterator[Result]:
    """Results, those that the log has among them.

    Args:
        books: what is looked up in, and where the tuner's recipes are.
        log: JSON lines; None keeps nothing.
        progress: called with kernels done, in all, and what comes next.

    Raises:
        InputError: a model has learnt from what is to be held out.
    """
    begun = time.monotonic()
    known = dict(_read(log)) if log is not None else {}
    todo = [
        (h, t, k) for h in settings.holdouts for t in settings.targets for k in settings.kernels
    ]
    with scratch.folder() as folder:
        bench = _Bench(books, methods, settings, folder)
        for number, (rule, target, kernel) in enumerate(todo):
            key = bench.key(rule, target, kernel)
            progress(number, len(todo), f"{kernel} {target} {rule}")
            if key in known:
                yield known[key]
                continue
            if settings.until and time.monotonic() - begun > settings.until:
                continue
            try:
                result = Result(rule, bench.comparison(rule, target, kernel))
            except InputError:
                raise
            except LoopbookError as error:
                progress(number, len(todo), f"{kernel} {target}: {error}")
                continue
            if log is not None:
                _write(log, key, result)
            yield result
        progress(len(todo), len(todo), "")


class _Bench:
    """What is needed again and again while evaluating."""

    def __init__(
        self, books: Sequence[Book], methods: Sequence[Method], settings: Settings, folder: Path
    ) -> None:
        self._books, self._methods, self._settings, self._folder = books, methods, settings, folder
        self._filtered: dict[str, Book] = {}
        self._count = 0
        self._state = " ".join(f"{book.name} {len(book)}" for book in books)

    def key(self, rule: str, target: str, kernel: str) -> str:
        """What a result depends on, as one text."""
        used = [
            [m.name, m.encoder.version, m.cost_model.version if m.cost_model else ""]
            for m in self._methods
        ]
        ways = list(self._settings.ways)
        return json.dumps([rule, target, kernel, self._settings.preset, ways, used, self._state])

    def comparison(self, rule: str, target: str, name: str) -> Comparison:
        """Build and time one kernel.

        Raises:
            LoopbookError: docc cannot compile or run it.
        """
        left_out = holdout.HOLDOUTS[rule]
        excluded = tuple(left_out.kernels(name))
        self._count += 1
        folder = self._folder / str(self._count)
        workload = polybench.load(name)
        kernel = Kernel(workload, target, self._settings.preset, folder, self._settings.timeout)
        fingerprints = kernel.fingerprints if left_out.nests else []
        kernel.enter_tuner(LayeredBook(self._books))
        for method in self._methods:
            self._check(method, excluded, fingerprints)
            layered = holdout.layered_for(method, self._held(left_out, target), fingerprints)
            kernel.enter(method, layered, excluded, self._settings.ways)
        return kernel.run()

    def _check(self, method: Method, excluded: Sequence[str], fingerprints: Sequence[str]) -> None:
        """Refuse models that have learnt from what is held out. Baselines may have: it would only
        help them."""
        if method.cost_model is not None:
            for what, told in (
                ("the cost model", method.cost_model.metadata),
                ("the encoder", method.encoder.metadata),
            ):
                holdout.check_unseen(dict(told), what, excluded, fingerprints)

    def _held(self, left_out: Holdout, target: str) -> Sequence[Book]:
        """The books without what is held out beside kernels and nests."""
        if not left_out.hardware:
            return self._books
        if target not in self._filtered:
            profile = LayeredBook(()).hardware(target)
            path = self._folder / f"other-hardware-{target}.db"
            wanted = holdout.other_hardware(profile)
            self._filtered[target] = holdout.filtered(self._books, path, wanted)
        return [self._filtered[target]]


LOG = "evaluate.jsonl"
"""What the log is called in the folder that is evaluated into."""


def results_of(log: Path) -> Iterator[Result]:
    """All results in a log, the latest of each kernel, target and hold-out."""
    found = {(r.holdout, r.comparison.target, r.comparison.kernel): r for _, r in _read(log)}
    yield from found.values()


def _read(log: Path) -> Iterator[tuple[str, Result]]:
    try:
        lines = log.read_text().splitlines()
    except FileNotFoundError:
        return
    for line in lines:
        try:
            told = json.loads(line)
            comparison = told["comparison"]
            comparison["served"] = {k: Served(**v) for k, v in comparison["served"].items()}
            yield told["key"], Result(told["holdout"], Comparison(**comparison))
        except (ValueError, KeyError, TypeError):
            continue  # torn by a kill: measured again


def _write(log: Path, key: str, result: Result) -> None:
    told: dict[str, Any] = {
        "key": key,
        "holdout": result.holdout,
        "comparison": asdict(result.comparison),
    }
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a") as file:
        file.write(json.dumps(told) + "\n")
