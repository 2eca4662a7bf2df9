"""The tasks of `farm_faults`, and whether each of them ended once and left what it should."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random

import client_kit

from loopbook.client.hardware import local_profile
from loopbook.client.places import starter_path
from loopbook.embed.inference import Encoder
from loopbook.errors import InputError, LoopbookError
from loopbook.program.load import load_json
from loopbook.program.nest import Nest
from loopbook.recipes.book import Book
from loopbook.recipes.tasks import DEAD, DONE, REEMBED, STATES, TUNE, Ask, Task, Wanted
from loopbook.sdfg.made_up import MadeUp
from loopbook.sdfg.program import cut_from, prepare_apart
from loopbook.sdfg.untrusted import admit
from loopbook.workloads import synthetic
from loopbook.workloads.call import Call

SIZE = 24
FAMILIES = ("contraction", "elementwise", "imperfect", "reduction", "transpose", "matvec")
"""Whose nests are soon prepared and soon compiled."""

MOST_NEST = 30_000
"""Characters: what takes long to compile is left out."""

NO_NESTS = ("{}", "[1, 2", '{"nest": 1}', "\\" * 50)

Made = tuple[str, str, list[str]]
"""Fingerprint, document and symbols of a nest."""


def nests(count: int, seed: int, kept: Path) -> list[Made]:
    """Different nests of synthetic programs, such as can be run by themselves; those that a run
    before has made are in a file."""
    found: list[Made] = (
        [tuple(one) for one in json.loads(kept.read_text())] if kept.exists() else []
    )
    seen = {one[0] for one in found}
    for drawn in synthetic.draw(10**6, seed, FAMILIES) if len(found) < count else ():
        try:
            call = Call.of(drawn.workload, drawn.workload.arguments(synthetic.PRESETS[0]))
            fingerprint, document, symbols = _first(call.text, alone=True)
            _ = MadeUp(document, dict.fromkeys(symbols, SIZE)).first
        except LoopbookError:
            continue
        if fingerprint not in seen and len(document) < MOST_NEST:
            seen.add(fingerprint)
            found.append((fingerprint, document, symbols))
        if len(found) >= count:
            kept.write_text(json.dumps(found))
            break
    return found[:count]


def _first(text: str, *, alone: bool = False) -> Made:
    """The first nest of a program.

    Args:
        alone: it has to be the only one. Others may need what those before them have computed, and
            cannot be run by themselves.

    Raises:
        LoopbookError: there is none.
    """
    prepared, found = prepare_apart(admit(text).text)
    if alone and len(found) != 1:
        raise InputError("the program has more nests than one")
    nest: Nest = found[0]
    return nest.fingerprint, cut_from(load_json(prepared), nest), list(nest.symbols)


def places(kinds: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """The classes of hardware of nodes with such environments, by target."""
    found = []
    for kind in kinds:
        march, threads = kind["LOOPBOOK_MARCH"], int(kind["OMP_NUM_THREADS"])
        each = {"sequential": 1, "openmp": threads}
        found.append(
            {
                target: local_profile(many, measured=False, march=march).key
                for target, many in each.items()
            }
        )
    return found


class Tasks:
    """What is asked for.

    Attributes:
        asks: all of them, in a random order.
        doomed: keys of those that must end in the dead letter.
    """

    def __init__(
        self, count: int, tuned: int, seed: int, classes: list[dict[str, str]], kept: Path
    ) -> None:
        self._encoder = Encoder.load().version
        self.doomed: set[str] = set()
        lanes = [("sequential", classes[0]), ("openmp", classes[1]), ("sequential", classes[2])]
        asks = self._doomed(classes[0]["sequential"])
        self.doomed = {ask.key for ask in asks}
        made = nests(tuned, seed, kept)
        for number, (fingerprint, document, symbols) in enumerate(made):
            target, keys = lanes[number % len(lanes)]
            wanted = Wanted(document, dict.fromkeys(symbols, SIZE))
            asks.append(Ask(TUNE, fingerprint, target, keys[target], "", 1, wanted))
        self._known = count - len(asks)
        self._asks = asks
        Random(seed).shuffle(self._asks)
        self._random = Random(seed + 1)

    def _doomed(self, key: str) -> list[Ask]:
        _, document, _ = _first(client_kit.text_of(client_kit.product))
        asks = [
            Ask(TUNE, f"{number:032x}", "sequential", key, "", 1, Wanted(text))
            for number, text in enumerate(NO_NESTS)
        ]
        asks.append(Ask(TUNE, "ab" * 16, "sequential", key, "", 1, Wanted(document)))
        return asks

    def ask(self, book: Book) -> int:
        """Put nests without vectors into the book, and all tasks into its queue; how many."""
        records = {}
        tuned = {ask.fingerprint for ask in self._asks}
        shipped = starter_path()
        assert shipped is not None
        with Book.open(shipped, readonly=True) as starter:
            for record in starter.records():
                if len(record.nest_json) < MOST_NEST and record.fingerprint not in tuned:
                    records.setdefault(record.fingerprint, record)
                if len(records) == self._known:
                    break
        book.add_many((record, []) for record in records.values())
        self.before = book.count()
        asks = [*self._asks]
        asks += [Ask(REEMBED, fingerprint, "", "", self._encoder) for fingerprint in records]
        self._random.shuffle(asks)
        book.queue.ask_all(asks)
        return len(asks)

    def faults(self, book: Book, count: int) -> list[str]:
        """What is not as it must be, now that all is done."""
        tasks, damaged = book.queue.all(STATES, limit=count + 100)
        wrong = [f"{damaged} tasks can't be read"] if damaged else []
        if len(tasks) != count or len({task.key for task in tasks}) != count:
            wrong.append(f"there are {len(tasks)} tasks, not {count}")
        written = 0
        for task in tasks:
            wrong += [f"{task.id} {task.kind}: {words}" for words in self._wrong(book, task)]
            written += len(task.records)
        if book.count() != self.before + written:
            extra = book.count() - self.before - written
            wrong.append(f"the book has {extra} records more than the tasks say")
        return wrong + book.verify()

    def _wrong(self, book: Book, task: Task) -> list[str]:
        state = DEAD if task.key in self.doomed else DONE
        if task.state != state:
            return [f"{task.state}, not {state}, after {task.attempts} attempts: {task.error}"]
        if task.kind == REEMBED:
            made = book.embedding(task.fingerprint, self._encoder)
            return [] if made is not None else ["there is no vector"]
        found = book.exact(task.fingerprint, task.target, task.hardware_key)
        ids = Counter(one.id for one in found)
        if state == DEAD:
            return ["there are records of a dead task"] if found or task.records else []
        if ids != Counter(task.records) or not found:
            return [f"{len(found)} records in the book, {len(task.records)} in the task"]
        return []
