"""What worker processes do: every job that may let docc's C++ at what a client sent.

A job takes a request's body and gives an answer's body, with a few words for the server about what
was done. Nothing here knows HTTP, and nothing that a client sends is run.
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from loopbook import dependence, targets
from loopbook.client.decision import Plan
from loopbook.client.fit import Fit
from loopbook.client.opening import open_book
from loopbook.client.plan import plan_nests
from loopbook.client.regions import joined
from loopbook.client.thresholds import WORTH_USING
from loopbook.client.wants import Wants
from loopbook.errors import IllegalStepError, InputError, LoopbookError, SdfgError
from loopbook.explorer.jobs import Jobs
from loopbook.program.json_text import dumped, dumped_bytes, loaded
from loopbook.program.load import load_json
from loopbook.program.members import Json
from loopbook.program.nest import Nest
from loopbook.program.tree import Program
from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.layer import Neighbour
from loopbook.recipes.recipe import Recipe
from loopbook.recipes.record import Record
from loopbook.recipes.reports import LOST
from loopbook.sdfg import program
from loopbook.sdfg.known_wrong import shown
from loopbook.sdfg.transformed import transform
from loopbook.sdfg.untrusted import Admitted, Names
from loopbook.server import document
from loopbook.server.failures import DOCC, status_of, words_of
from loopbook.server.latest import Latest, digest, packed, unpacked
from loopbook.server.protocol import NO_MATCH, error_answer, program_answer, single_answer
from loopbook.server.questions import Contribution, Nearest, read
from loopbook.server.settings import Settings
from loopbook.steps.workbench import Transformed, Workbench

MAX_FITS = 4096
"""Answers of docc about legality that are remembered."""

NEST_COST = 12
"""Bytes in memory of a program's nests, for each byte of its text, at most."""

MAX_EXACT = 50

PAGE = "page "
"""What jobs begin with that are those of `loopbook.explorer.jobs`."""


@dataclass
class Answer:
    """What a job gives.

    Attributes:
        body: of the HTTP response, JSON.
        tiers: how many nests were found exactly, nearly, or not at all.
        missed: fingerprints of nests that the book has nothing for, by target.
        wanted: what the queue of work has to know of those among them that it was not told yet:
            `loopbook.recipes.tasks.Wanted` as JSON, by fingerprint.
        good: the same question may be given the same answer until the book changes.
        status: of the HTTP response.
        fault: what the log is told about an error that nobody expected.
        remark: what it is told about the program.
    """

    body: bytes
    tiers: dict[str, int] = field(default_factory=dict)
    missed: dict[str, list[str]] = field(default_factory=dict)
    wanted: dict[str, dict[str, Any]] = field(default_factory=dict)
    good: bool = True
    status: int = 200
    fault: str = ""
    remark: str = ""


Answering = Callable[[Json, Sequence[Nest], Plan, Admitted], bytes]
"""What is said of a finished program, its nests, the plan, and what was asked."""


class Prepared(NamedTuple):
    """A program in the form that nests are looked up in.

    Attributes:
        key: names what it was made from.
    """

    key: bytes
    text: str
    tree: Program
    nests: list[Nest]


class Work:
    """One worker's book and encoder, and the jobs."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._layered = open_book(settings.store, starter=settings.starter)
        self._layered.profile = settings.hardware
        self._jobs: dict[str, Callable[[dict[str, Any]], Answer]] = {
            "program": self._program,
            "nest": self._single,
            "nearest": self._nearest,
            "exact": self._exact,
            "check": self._check,
            "refresh": self._refresh,
        }
        self._programs: Latest[Prepared] = Latest(settings.programs_bytes)
        self._finished: Latest[bytes] = Latest(settings.programs_bytes)
        self._wants = Wants()
        self._pages = Jobs(self._layered)
        self._refresh({})
        self._warm_up()

    def do(self, job: str, body: bytes) -> Answer:
        """One job; what is wrong with the request is an answer too."""
        if len(self._layered.fits) > MAX_FITS:
            self._layered.forget()
        if job.startswith(PAGE):
            done = self._pages.do(job.removeprefix(PAGE), body)
            return Answer(done.body, good=False, status=done.status)
        try:
            return self._jobs[job](document.read_json(body, self._settings.limits))
        except Exception as error:
            answer = Answer(error_answer(words_of(error)), good=False)
            answer.status = status_of(error, docc=job in DOCC)
            if not isinstance(error, (LoopbookError, RecursionError)):
                answer.fault = traceback.format_exc()
            return answer

    # -- docc's protocol ------------------------------------------------------------------------

    def _program(self, request: dict[str, Any]) -> Answer:
        """A whole program."""
        return self._tuned(request, program_answer)

    def _single(self, request: dict[str, Any]) -> Answer:
        """One nest, which the client puts back into its program."""
        return self._tuned(request, single_answer)

    def _tuned(self, request: dict[str, Any], answer: Answering) -> Answer:
        target, given = self._asked(request)
        if target is None:
            return Answer(error_answer(NO_MATCH))
        if wrong := shown(given.document, given.names.own):
            return _left_alone(given, wrong)
        with given.names.in_errors():
            prepared = self._prepared(given.text)
            nests = prepared.nests
            sizes = self._sizes(request, given.names)
            plan = self._planned(prepared, target, sizes)
            whole = joined(
                prepared.text, nests, plan, self._layered, sizes=sizes, tree=prepared.tree
            )
            if whole is not None:
                prepared = Prepared(digest(whole.text.encode()), *whole)
                nests = prepared.nests
                plan = self._planned(prepared, target, sizes)
            tiers, missed = _counted(plan)
            wanted = {}
            if self._settings.keep_nests:
                told = self._wants.of(prepared.text, nests, plan.missed, sizes)
                wanted = {name: one.to_json() for name, one in told.items()}
            if not plan.active:
                return Answer(error_answer(NO_MATCH), tiers, missed, wanted)
            try:
                done = self._transformed(prepared, target, plan.recipes)
            except IllegalStepError as error:
                words = given.names.words(f"{NO_MATCH}: {error}")
                return Answer(error_answer(words), tiers, missed, wanted)
            return Answer(answer(done, nests, plan, given), tiers, missed, wanted)

    def _planned(self, prepared: Prepared, target: str, sizes: Mapping[str, int]) -> Plan:
        return plan_nests(
            prepared.nests, prepared.text, target, self._layered, sizes=sizes, tree=prepared.tree
        )

    def _prepared(self, text: str) -> Prepared:
        """A program prepared, and its nests; the same for whatever book."""
        key = digest(text.encode())
        found = self._programs.get(key)
        if found is None:
            document, tree, nests = program.prepare_tree(text)
            found = Prepared(key, dumped(document), tree, nests)
            self._programs.put(key, found, NEST_COST * len(found.text))
        return found

    def _transformed(self, prepared: Prepared, target: str, recipes: Mapping[int, Recipe]) -> Json:
        """The finished program."""
        told = {position: recipe.text() for position, recipe in sorted(recipes.items())}
        key = digest(prepared.key, target.encode(), json.dumps(told).encode())
        found = self._finished.get(key)
        if found is not None:
            return loaded(unpacked(found).decode())
        done = transform(
            prepared.text,
            target,
            recipes,
            prepared=(prepared.tree, prepared.nests),
            tried=self._tried(prepared, recipes),
            together=True,
        ).document
        kept = packed(dumped_bytes(done))
        self._finished.put(key, kept, len(kept))
        return done

    def _tried(self, prepared: Prepared, recipes: Mapping[int, Recipe]) -> dict[int, Transformed]:
        """What recipes have made of this very program when they were tried on it, by nest."""
        found = {}
        for nest in prepared.nests:
            recipe = recipes.get(nest.position, Recipe())
            fit = self._layered.fits.get((nest.fingerprint, recipe.text()))
            if not isinstance(fit, Fit) or fit.recipe != recipe:
                continue
            if (after := fit.result(prepared.tree, nest)) is not None:
                found[nest.position] = after
        return found

    def _asked(self, request: dict[str, Any]) -> tuple[str | None, Admitted]:
        """The target, None if it is not one of ours, and the program."""
        given = document.program_of(request, self._settings.limits)
        target = request.get("target", targets.DEFAULT)
        if not isinstance(target, str):
            raise InputError("target is a word")
        return (target if target in targets.here() else None), given

    def _sizes(self, request: dict[str, Any], names: Names) -> dict[str, int]:
        return names.fresh(document.sizes_of(request, self._settings.assumed_size))

    # -- our own API ----------------------------------------------------------------------------

    def _nearest(self, request: dict[str, Any]) -> Answer:
        """Neighbours of a vector, or of each nest of a program."""
        asked = read(Nearest, request)
        if (asked.sdfg is None) == (asked.vector is None):
            raise InputError("give either an sdfg or a vector")
        self._layered.profile = (
            self._settings.hardware
            if asked.hardware is None
            else HardwareProfile.from_json(asked.hardware)
        )
        try:
            if asked.vector is not None:
                told = self._near_vector(asked, asked.vector)
            else:
                told = self._near_program(asked, request)
        finally:
            self._layered.profile = self._settings.hardware
        return Answer(json.dumps(told).encode())

    def _near_program(self, asked: Nearest, request: dict[str, Any]) -> dict[str, Any]:
        given = document.program_of(request, self._settings.limits)
        with given.names.in_errors():
            _, nests = program.prepare_nests(given.text)
        embeddings = self._layered.encoder.encode_many(nests)
        found = []
        for nest, embedding in zip(nests, embeddings, strict=True):
            near = self._layered.neighbours(nest, embedding, asked.k, asked.target, asked.exclude)
            found.append(
                {
                    "position": nest.position,
                    "loops": given.names.restored([loop.indvar for loop in nest.loops]),
                    "fingerprint": nest.fingerprint,
                    "neighbours": [_told(one, asked.whole) for one in near],
                }
            )
        return {"encoder": self._layered.encoder.version, "nests": found}

    def _near_vector(self, asked: Nearest, given: list[float]) -> dict[str, Any]:
        encoder = self._layered.encoder.version
        if asked.encoder not in (None, encoder):
            raise InputError(f"the vector is of another encoder: this server has {encoder}")
        with np.errstate(over="ignore"):
            vector = np.asarray(given, dtype=np.float32)
        found: list[Neighbour] = []
        for book in self._layered.books:
            found += book.nearest(
                vector,
                asked.k,
                target=asked.target,
                hardware=self._layered.hardware(asked.target),
                exclude=set(asked.exclude),
                encoder=encoder,
            )
        shifts = self._layered.shifts(asked.target)
        found = [one for one in found if shifts.get(one.record.id) != LOST]
        found.sort(key=lambda one: (one.rank, -one.speedup))
        near = [_told(one, asked.whole) for one in found[: asked.k]]
        return {"encoder": encoder, "neighbours": near}

    def _exact(self, request: dict[str, Any]) -> Answer:
        """The records of one very nest."""
        fingerprint, target = str(request["fingerprint"]), str(request["target"])
        found = self._layered.exact(fingerprint, target)
        told = [record.to_json() for record in found[:MAX_EXACT]]
        return Answer(json.dumps({"records": told}).encode())

    def _check(self, request: dict[str, Any]) -> Answer:
        """Whether a contributed record holds what it says, as far as that can be told without
        measuring; its embedding by our own encoder."""
        record = Record.from_json(read(Contribution, request).record)
        nest = checked(record, self._settings)
        embedding = self._layered.encoder.encode(nest)
        told = {"record": record.to_json(), "embedding": embedding.to_json()}
        return Answer(json.dumps(told).encode(), good=False)

    def _refresh(self, request: dict[str, Any]) -> Answer:
        """Catch up with the book, so that no request has to wait for that."""
        version = self._layered.encoder.version
        for book in self._layered.books:
            first = book.page(limit=1)
            vectors = book.embedding(first[0][0].fingerprint, version) if first else None
            if vectors is not None:
                book.nearest(vectors, 1)
        return Answer(b"{}", good=False)

    def _warm_up(self) -> None:
        """Load what takes long to load, so that no request has to wait for that."""
        _ = self._layered.cost_model
        dependence.load()


def checked(record: Record, settings: Settings) -> Nest:
    """The nest of a record that somebody has sent, after a look at all of it.

    Raises:
        InputError: the nest is none, has another fingerprint than the record says, the recipe does
            not replay on it, or the figures are none that a machine gives.
    """
    given = {"sdfg": load_json(record.nest_json)}
    sdfg = program.parse(document.program_of(given, settings.limits).text)
    nests = program.nests(sdfg)
    if len(nests) != 1:
        raise SdfgError(f"a record is about one nest, not {len(nests)}")
    nest = nests[0]
    if nest.fingerprint != record.fingerprint:
        raise InputError("the record's fingerprint is not that of its nest")
    bench = Workbench(program.tree_of(sdfg), nest)
    for position, step in enumerate(record.recipe):
        try:
            bench.apply(*step, position)
        except IllegalStepError as error:
            raise InputError(f"the recipe does not replay on its nest: {error}") from None
    _check_figures(record)
    return nest


MOST_SPEEDUP = 1e4
SHORTEST_S = 1e-8
LONGEST_S = 1e5


def _check_figures(record: Record) -> None:
    if not record.measurements:
        raise InputError("the record has no measurements")
    for one in record.measurements:
        if not all(SHORTEST_S <= s <= LONGEST_S for s in (one.baseline_s, one.tuned_s)):
            raise InputError("the record has a time that no measurement gives")
        if one.runs < 1 or one.spread > 10 or not one.speedup <= MOST_SPEEDUP:
            raise InputError("the record has figures that no measurement gives")
    if len(record.recipe) and record.best <= WORTH_USING:
        raise InputError("the recipe gains at none of the sizes measured")


def _told(near: Neighbour, whole: bool) -> dict[str, Any]:
    """A neighbour as JSON; `whole` with all of the record and its vectors."""
    record = near.record
    told: dict[str, Any] = {
        "record": record.id,
        "nest": record.nest,
        "kernel": record.kernel,
        "distance": round(near.distance, 6),
        "hardware_distance": round(near.hardware_distance, 6),
        "speedup": record.speedup,
        "hardware": record.hardware.key,
        "recipe": record.recipe.text(),
    }
    if whole:
        told |= {"content": record.to_json(), "embedding": near.embedding.to_json()}
    return told


def _left_alone(given: Admitted, wrong: str) -> Answer:
    """For a program that is not what its author wrote: making it faster would help nobody."""
    words = f"docc's front end has misunderstood this program: {wrong}"
    remark = f"{given.names.program} is left alone: {words}"
    return Answer(error_answer(f"{NO_MATCH}: {words}"), remark=remark)


def _counted(plan: Plan) -> tuple[dict[str, int], dict[str, list[str]]]:
    tiers: dict[str, int] = {}
    for nest in plan.nests:
        tiers[nest.tier] = tiers.get(nest.tier, 0) + 1
    return tiers, {plan.target: plan.missed}
