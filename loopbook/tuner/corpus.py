"""The corpus: every candidate that was ever measured, in compressed Parquet.

A folder holds one file for each hardware profile and target, ``KEY-TARGET.parquet``, whose rows are
`Sample` objects. Needs pyarrow, the extra ``corpus``, which is imported at the first use.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loopbook.errors import CorpusError
from loopbook.recipes.hardware import HardwareProfile
from loopbook.steps import respelled
from loopbook.tuner import parquet
from loopbook.tuner.samples import Sample, read_logs

if TYPE_CHECKING:
    import pyarrow as pa

CORPUS = Path(__file__).resolve().parent.parent / "data" / "corpus"
"""The corpus in the repository; wheels come without."""

VERSION = b"1"
"""Of the columns; files of another one are refused."""


@dataclass(frozen=True)
class Packed:
    """What `pack` did.

    Attributes:
        added: samples that were new.
        known: samples that had been there before.
        skipped: lines of the logs that could not be read.
    """

    added: int
    known: int
    skipped: int


@dataclass(frozen=True)
class Group:
    """The samples of one kernel for one target on one kind of machine.

    Attributes:
        statuses: status to how many samples, the most frequent first.
        nests: how many of the kernel's nests have samples.
        recipes: how many different recipes were measured with status "ok".
        best: the greatest speedup of a nest; None if no sample is ok.
    """

    kernel: str
    target: str
    hardware: str
    statuses: dict[str, int] = field(default_factory=dict)
    nests: int = 0
    recipes: int = 0
    best: float | None = None

    @property
    def samples(self) -> int:
        return sum(self.statuses.values())

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "samples": self.samples}


@lru_cache(maxsize=1)
def schema() -> pa.Schema:
    """One column for each field of `Sample`; ``sizes`` is a map. Only times may be null."""
    return parquet.schema_of(VERSION, Sample)


def pack(
    logs: Iterable[Path],
    folder: Path = CORPUS,
    *,
    profiles: Mapping[str, HardwareProfile] | None = None,
) -> Packed:
    """Add the trials of logs to a corpus. Trials that it has already are not added again.

    Each file is replaced as a whole, so that a full disk or a kill leaves the old one; several
    processes may pack into one folder.

    Args:
        logs: files or folders, see `loopbook.tuner.samples.read_logs`.
        folder: made if missing.
        profiles: key to hardware profile, for logs that tell the key alone.

    Raises:
        CorpusError: a log or file cannot be read, or the folder cannot be written.
    """
    harvest = read_logs(logs, profiles or {})
    groups: dict[str, list[Sample]] = {}
    for sample in harvest.samples:
        groups.setdefault(f"{sample.hardware}-{sample.target}.parquet", []).append(sample)
    added = 0
    with parquet.locked(folder):
        for name, fresh in sorted(groups.items()):
            added += _merge(folder / name, fresh)
    return Packed(added, len(harvest.samples) - added, harvest.skipped)


def load(
    folder: Path = CORPUS,
    *,
    kernel: str | Collection[str] | None = None,
    target: str | Collection[str] | None = None,
    hardware: str | Collection[str] | None = None,
    status: str | Collection[str] | None = None,
) -> pa.Table:
    """The corpus, or the part of it that has one of the given values in each of these columns.

    Raises:
        CorpusError: there is no corpus, or a file in it is damaged or of another make.
    """
    files = sorted(folder.glob("*.parquet"))
    if not files and folder == CORPUS:
        told = "the corpus does not come with the package, but with the repository"
        raise CorpusError(f"{told}: name its loopbook/data/corpus with --corpus")
    if not files:
        raise CorpusError(f"there is no corpus at {folder}; 'loopbook corpus pack' makes one")
    wanted = {"kernel": kernel, "target": target, "hardware": hardware, "status": status}
    return parquet.read_all(files, schema(), wanted).combine_chunks()


def samples(table: pa.Table) -> Iterator[Sample]:
    """The rows of what `load` gave, with the names that steps have today."""
    for row in parquet.rows_of(table):
        yield Sample(**{**row, "steps": respelled(row["steps"])})


def summary(table: pa.Table) -> list[Group]:
    """Counts and best speedups, by kernel, target and hardware."""
    keys = ["kernel", "target", "hardware"]
    groups: dict[tuple[str, ...], dict[str, Any]] = {}
    by_status = table.group_by([*keys, "status"]).aggregate([([], "count_all"), ("speedup", "max")])
    for row in sorted(by_status.to_pylist(), key=lambda row: (-row["count_all"], row["status"])):
        group = groups.setdefault(tuple(row[k] for k in keys), {"statuses": {}})
        group["statuses"][row["status"]] = row["count_all"]
        if row["status"] == "ok":
            group["best"] = row["speedup_max"]
    for row in table.group_by(keys).aggregate([("nest", "count_distinct")]).to_pylist():
        groups[tuple(row[k] for k in keys)]["nests"] = row["nest_count_distinct"]
    for row in table.group_by([*keys, "status", "nest", "steps"]).aggregate([]).to_pylist():
        if row["status"] == "ok":
            group = groups[tuple(row[k] for k in keys)]
            group["recipes"] = group.get("recipes", 0) + 1
    return [Group(key[0], key[1], key[2], **groups[key]) for key in sorted(groups)]


def _merge(path: Path, fresh: Iterable[Sample]) -> int:
    """Add samples to a file; returns how many are new."""
    known = {s.key: s for s in samples(parquet.read(path, schema()))} if path.exists() else {}
    before, changed = len(known), False
    for sample in fresh:
        old = known.get(sample.key)
        # The same trial may come back with more told about it, such as the hardware's profile.
        if old is None or _told(sample) > _told(old):
            known[sample.key] = sample
            changed = True
    if changed:
        rows = map(asdict, sorted(known.values(), key=_order))
        parquet.write(path, parquet.table_of(list(rows), schema()))
    return len(known) - before


def _told(sample: Sample) -> int:
    """How many fields say something."""
    return sum(getattr(sample, one.name) not in (None, "") for one in fields(sample))


def _order(sample: Sample) -> tuple[Any, ...]:
    """Like to like, which compresses best; total, so that the same samples give the same file."""
    size = tuple(sample.sizes.values())
    search = (sample.kernel, sample.nest, sample.preset, size, sample.strategy, sample.seed)
    drawn = (sample.date, sample.number, sample.steps, sample.status)
    return (*search, *drawn, sample.speedup or 0.0, sample.program_s or 0.0)
