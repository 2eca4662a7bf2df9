"""What matters of a machine for the choice of a recipe, and how alike two machines are.

A figure more is one more field of `HardwareProfile`, marked `LATER` (`loopbook.recipes._data`);
an instruction set or a kind of device more is one more entry of `ISAS`.
"""

from __future__ import annotations

import hashlib
import math
import os
import platform
import re
import subprocess
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np

from loopbook.errors import InputError
from loopbook.recipes._data import Count, Data, Figure, Line, Name, marks


class Isa(NamedTuple):
    """An instruction set, or a kind of device.

    Attributes:
        vector_bits: width of its widest vectors.
        registers: that hold such vectors.
        family: a place on the line whose distances are those between families of processors.
        flags: what Linux lists of every processor that has it.
        machines: architectures whose every processor has it, as `platform.machine` says.
        march: what ``LOOPBOOK_MARCH`` calls it.
    """

    vector_bits: int
    registers: int = 16
    family: float = 0.0
    flags: frozenset[str] = frozenset()
    machines: frozenset[str] = frozenset()
    march: str = ""


GENERIC = "generic"

ISAS = {
    # AVX-512 as compilers use it (x86-64-v4), not its first subset alone.
    "avx512": Isa(
        512,
        registers=32,
        flags=frozenset({"avx512f", "avx512bw", "avx512dq", "avx512vl"}),
        march="x86-64-v4",
    ),
    "avx2": Isa(256, flags=frozenset({"avx2", "fma"}), march="x86-64-v3"),
    "sse2": Isa(128, flags=frozenset({"sse2"}), machines=frozenset({"x86_64"}), march="x86-64-v2"),
    "neon": Isa(
        128,
        registers=32,
        family=2.0,
        flags=frozenset({"asimd"}),
        machines=frozenset({"aarch64", "arm64"}),
    ),
    GENERIC: Isa(64, family=1.0),
}
"""Instruction sets that profiles distinguish, the widest first."""

_CACHES = {"l1d_bytes": "LEVEL1_DCACHE", "l2_bytes": "LEVEL2_CACHE", "l3_bytes": "LEVEL3_CACHE"}


class Weight(NamedTuple):
    """How far a doubling of a figure sets two machines apart."""

    value: float


# Vector width decides tile shapes and the unroll factor, hence counts most; a cache or bandwidth
# twice as large changes a good tile little. Weights are chosen, not learnt.
@dataclass(frozen=True)
class HardwareProfile(Data):
    """One machine, used with a given number of threads. 0 stands for unknown.

    Attributes:
        cpu: the model's name, for people.
        isa: a key of :data:`ISAS`.
        vector_bits: width of the widest vectors that code is compiled for.
        cores: physical cores that this process may use.
        threads: threads that the code runs with.
        l1d_bytes, l2_bytes, l3_bytes: data caches as one core sees them, in bytes.
        peak_gflops: measured double-precision peak with ``threads`` threads, in GFLOP/s.
        bandwidth_gbs: measured main-memory bandwidth with ``threads`` threads, in GB/s.

    Raises:
        InputError: an unknown ISA, or a figure that is negative or not finite.
    """

    what = "a hardware profile"

    cpu: Line = ""
    isa: Name = GENERIC
    vector_bits: Annotated[Count, Weight(1.0)] = 64
    cores: Count = 1
    threads: Annotated[Count, Weight(0.5)] = 1
    l1d_bytes: Annotated[Count, Weight(0.25)] = 0
    l2_bytes: Annotated[Count, Weight(0.25)] = 0
    l3_bytes: Annotated[Count, Weight(0.1)] = 0
    peak_gflops: Annotated[Figure, Weight(0.1)] = 0.0
    bandwidth_gbs: Annotated[Figure, Weight(0.1)] = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.isa not in ISAS:
            raise InputError(f"{self.what}: isa is one of {', '.join(ISAS)}")

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """Look-ups ask for the distances of a few machines again and again."""
        return hash(tuple(getattr(self, one.name) for one in fields(self) if one.hash is not False))

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in vars(self).items() if k != "_hash"}  # others hash otherwise

    @cached_property
    def key(self) -> str:
        """Equal for machines that the same recipe suits, such as ``avx2-1t-3f9a02c1``.

        Made of ISA, vector width, threads and cache sizes rounded to a power of two. Not of the
        model's name, nor of measured figures, which differ from one measurement to the next.
        """
        caches = [_rounded_log2(size) for size in (self.l1d_bytes, self.l2_bytes, self.l3_bytes)]
        matter = f"{self.isa} {self.vector_bits} {self.threads} {caches}"
        digest = hashlib.sha256(matter.encode()).hexdigest()[:8]
        return f"{self.isa}-{self.threads}t-{digest}"

    def vector(self) -> np.ndarray:
        """Weighted base-2 logarithms of the figures, then the ISA's family; float32.

        The Euclidean distance of two such vectors is how far apart the machines are. Unknown
        figures are NaN.
        """
        logs = [
            mark.value * math.log2(getattr(self, name)) if getattr(self, name) > 0 else math.nan
            for name, told in marks(type(self)).items()
            for mark in told
            if isinstance(mark, Weight)
        ]
        return np.array([*logs, ISAS[self.isa].family], dtype=np.float32)

    def distance(self, other: HardwareProfile) -> float:
        """How far apart two machines are: 0 for the same :attr:`key`, about 1 for AVX2 against
        AVX-512. Figures unknown to either are left out."""
        return _distance(self, other)


@lru_cache(maxsize=4096)
def _distance(one: HardwareProfile, other: HardwareProfile) -> float:
    """Each look-up asks for all neighbours, which are from few machines."""
    if one.key == other.key:
        return 0.0
    difference = one.vector() - other.vector()
    return float(np.sqrt(np.nansum(difference * difference)))


def read(threads: int = 1) -> HardwareProfile:
    """The profile of this machine, without the figures that only measuring tells.

    Never fails: what the system doesn't say stays 0 or ``generic``.
    """
    cpuinfo = _contents(Path("/proc/cpuinfo"))
    isa = _isa(cpuinfo)
    caches = _caches_of_sysfs()
    if not all(caches.get(name) for name in _CACHES):
        asked = _caches_of_getconf()
        caches = {name: caches.get(name) or asked.get(name, 0) for name in _CACHES}
    profile = HardwareProfile(
        cpu=_cpu_model(cpuinfo)[:256],
        isa=isa,
        vector_bits=ISAS[isa].vector_bits,
        cores=_physical_cores(cpuinfo),
        threads=max(1, threads),
    )
    return replace(profile, **caches)


def _isa(cpuinfo: str) -> str:
    found = re.search(r"^(?:flags|Features)\s*:(.*)$", cpuinfo, re.MULTILINE)
    flags = set(found.group(1).split()) if found else set()
    machine = platform.machine()
    had = (
        n
        for n, isa in ISAS.items()
        if (isa.flags and isa.flags <= flags) or machine in isa.machines
    )
    return next(had, GENERIC)


def _cpu_model(cpuinfo: str) -> str:
    for label in ("model name", "Model", "Hardware", "cpu model"):
        found = re.search(rf"^{label}\s*:[ \t]*(\S.*)$", cpuinfo, re.MULTILINE)
        if found:
            return " ".join(found.group(1).split())
    return platform.processor() or platform.machine()


def _physical_cores(cpuinfo: str) -> int:
    """Cores, not hyper-threads, among the processors that this process may run on."""
    try:
        usable = os.sched_getaffinity(0)
    except (AttributeError, OSError):
        return os.cpu_count() or 1
    cores = set()
    for block in cpuinfo.split("\n\n"):
        entries = dict(re.findall(r"^([^\t:]+?)\s*:[ \t]*(.*)$", block, re.MULTILINE))
        processor = entries.get("processor", "")
        if processor.isdigit() and int(processor) in usable:
            core = entries.get("core id", f"processor {processor}")
            cores.add((entries.get("physical id", ""), core))
    return len(cores) or len(usable)


def _caches_of_sysfs(root: Path = Path("/sys/devices/system/cpu/cpu0/cache")) -> dict[str, int]:
    names = {("1", "Data"): "l1d_bytes", ("2", "Unified"): "l2_bytes", ("3", "Unified"): "l3_bytes"}
    names |= {("1", "Unified"): "l1d_bytes"}
    caches: dict[str, int] = {}
    for folder in sorted(root.glob("index*")):
        level, kind = (_contents(folder / part).strip() for part in ("level", "type"))
        size = re.fullmatch(r"(\d+)([KMG]?)", _contents(folder / "size").strip())
        if size and (level, kind) in names:
            unit = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}[size.group(2)]
            caches[names[level, kind]] = int(size.group(1)) * unit
    return caches


def _caches_of_getconf() -> dict[str, int]:
    try:
        done = subprocess.run(
            ["getconf", "-a"], capture_output=True, text=True, timeout=5, check=False
        )
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return {}
    caches = {}
    for name, level in _CACHES.items():
        found = re.search(rf"^{level}_SIZE\s+(\d+)", done.stdout, re.MULTILINE)
        if found:
            caches[name] = int(found.group(1))
    return caches


def _contents(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def _rounded_log2(value: float) -> int:
    return round(math.log2(value)) if value > 0 else -1
