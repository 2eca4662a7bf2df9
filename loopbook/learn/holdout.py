"""What is left out of the book when a kernel is evaluated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from loopbook.client.layered import LayeredBook
from loopbook.errors import InputError
from loopbook.learn.methods import Method
from loopbook.recipes.book import Book
from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.record import Record
from loopbook.workloads import polybench

_BATCH = 200


@dataclass(frozen=True)
class Holdout:
    """A rule of what an evaluated kernel must not see.

    Attributes:
        kernels: those whose records are left out, from the kernel's name.
        nests: also leave out all records of nests that the kernel has, in whatever program.
        hardware: also leave out all records of this kind of machine.
    """

    name: str
    title: str
    kernels: Callable[[str], Sequence[str]]
    nests: bool = True
    hardware: bool = False


HOLDOUTS = {
    "kernel": Holdout("kernel", "without the kernel", lambda kernel: (kernel,)),
    "family": Holdout("family", "without its family", polybench.family),
    "polybench": Holdout("polybench", "without PolyBench", lambda kernel: polybench.names()),
    "hardware": Holdout(
        "hardware", "tuned on other machines only", lambda kernel: (), nests=False, hardware=True
    ),
}


def check_unseen(
    metadata: dict, what: str, kernels: Sequence[str], fingerprints: Sequence[str]
) -> None:
    """Refuse a model that has learnt from what is held out.

    Args:
        metadata: of the model: ``programs`` and ``fingerprints`` that it learnt from.
        what: how the message names the model.

    Raises:
        InputError: it has, or does not say.
    """
    if "programs" not in metadata or "fingerprints" not in metadata:
        raise InputError(f"{what} does not say what it learnt from: train it anew")
    seen = sorted(set(metadata["programs"]) & set(kernels))
    if seen:
        raise InputError(f"{what} has learnt from {', '.join(seen)}: that would be no evaluation")
    if set(metadata["fingerprints"]) & set(fingerprints):
        raise InputError(f"{what} has learnt from nests of {kernels[0]}: that is no evaluation")


def filtered(books: Sequence[Book], path: Path, wanted: Callable[[Record], bool]) -> Book:
    """A book of those records of `books` that are wanted, made at `path`."""
    made = Book.open(path)
    for book in books:
        batch: list[Record] = []
        for record in book.records():
            if wanted(record):
                batch.append(record)
            if len(batch) == _BATCH:
                made.add_many((one, ()) for one in batch)
                batch = []
        made.add_many((one, ()) for one in batch)
    return made


def layered_for(method: Method, books: Sequence[Book], fingerprints: Sequence[str]) -> LayeredBook:
    """A layered book that chooses by `method` and knows nothing of some nests."""
    return LayeredBook(books, method.encoder, cost_model=method.cost_model, without=fingerprints)


def other_hardware(profile: HardwareProfile) -> Callable[[Record], bool]:
    """Whether a record is of another kind of machine."""
    return lambda record: record.hardware.key != profile.key
