"""What matters of a machine for the choice of a recipe, and how alike two machines are."""

from __future__ import annotations

import hashlib
import math
import os
import platform
import re
import subprocess
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from loopbook.errors import InputError
from loopbook.recipes import _fields

VECTOR_BITS = {"avx512": 512, "avx2": 256, "sse2": 128, "neon": 128, "generic": 64}
"""Instruction sets that profiles distinguish, with the width of their vectors."""

# How much a doubling of each figure sets two machines apart. Vector width decides tile shapes and
# the unroll factor, hence counts most; a cache or bandwidth twice as large changes a good tile
# little. Chosen, not learnt.
_WEIGHTS = {
    "vector_bits": 1.0,
    "threads": 0.5,
    "l1d_bytes": 0.25,
    "l2_bytes": 0.25,
    "l3_bytes": 0.1,
    "peak_gflops": 0.1,
    "bandwidth_gbs": 0.1,
}
_OTHER_FAMILY = 2.0
_CACHES = {"l1d_bytes": "LEVEL1_DCACHE", "l2_bytes": "LEVEL2_CACHE", "l3_bytes": "LEVEL3_CACHE"}


@dataclass(frozen=True)
class HardwareProfile:
    """One machine, used with a given number of threads. 0 stands for unknown.

    Attributes:
        cpu: the model's name, for people.
        isa: a key of :data:`VECTOR_BITS`.
        vector_bits: width of the widest vectors that code is compiled for.
        cores: physical cores that this process may use.
        threads: threads that the code runs with.
        l1d_bytes, l2_bytes, l3_bytes: data caches as one core sees them, in bytes.
        peak_gflops: measured double-precision peak with ``threads`` threads, in GFLOP/s.
        bandwidth_gbs: measured main-memory bandwidth with ``threads`` threads, in GB/s.

    Raises:
        InputError: an unknown ISA, or a figure that is negative or not finite.
    """

    cpu: str = ""
    isa: str = "generic"
    vector_bits: int = 64
    cores: int = 1
    threads: int = 1
    l1d_bytes: int = 0
    l2_bytes: int = 0
    l3_bytes: int = 0
    peak_gflops: float = 0.0
    bandwidth_gbs: float = 0.0

    def __post_init__(self) -> None:
        what = "a hardware profile"
        _fields.check_text(self.cpu, f"{what}: cpu", limit=256)
        if self.isa not in VECTOR_BITS:
            raise InputError(f"{what}: isa is one of {', '.join(VECTOR_BITS)}")
        for field in fields(self)[2:8]:
            _fields.check_integer(getattr(self, field.name), f"{what}: {field.name}")
        for name in ("peak_gflops", "bandwidth_gbs"):
            _fields.check_number(getattr(self, name), f"{what}: {name}")
            object.__setattr__(self, name, float(getattr(self, name)))

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
        """Weighted base-2 logarithms of the figures, then the ISA's family; shape (8,), float32.

        The Euclidean distance of two such vectors is how far apart the machines are. Unknown
        figures are NaN.
        """
        logs = [
            weight * math.log2(getattr(self, name)) if getattr(self, name) > 0 else math.nan
            for name, weight in _WEIGHTS.items()
        ]
        family = {"neon": 1.0, "generic": 0.5}.get(self.isa, 0.0)
        return np.array([*logs, _OTHER_FAMILY * family], dtype=np.float32)

    def distance(self, other: HardwareProfile) -> float:
        """How far apart two machines are: 0 for the same :attr:`key`, about 1 for AVX2 against
        AVX-512. Figures unknown to either are left out."""
        if self.key == other.key:
            return 0.0
        difference = self.vector() - other.vector()
        return float(np.sqrt(np.nansum(difference * difference)))

    def to_json(self) -> dict[str, Any]:
        """A JSON object with one entry for each attribute."""
        return asdict(self)

    @classmethod
    def from_json(cls, obj: object) -> HardwareProfile:
        """Read what :meth:`to_json` wrote.

        Raises:
            InputError: it is no such object.
        """
        what = "a hardware profile"
        given = _fields.mapping(obj, what)
        values: dict[str, Any] = {}
        for field in fields(cls):
            read: Callable[..., Any] = {
                "str": _fields.text,
                "int": _fields.integer,
                "float": _fields.number,
            }[str(field.type)]
            values[field.name] = read(given, field.name, what)
        return cls(**values)


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
    return HardwareProfile(
        cpu=_cpu_model(cpuinfo)[:256],
        isa=isa,
        vector_bits=VECTOR_BITS[isa],
        cores=_physical_cores(cpuinfo),
        threads=max(1, threads),
        **caches,
    )


def _isa(cpuinfo: str) -> str:
    found = re.search(r"^(?:flags|Features)\s*:(.*)$", cpuinfo, re.MULTILINE)
    flags = set(found.group(1).split()) if found else set()
    # AVX-512 as compilers use it (x86-64-v4), not its first subset alone.
    if {"avx512f", "avx512bw", "avx512dq", "avx512vl"} <= flags:
        return "avx512"
    if {"avx2", "fma"} <= flags:
        return "avx2"
    if "sse2" in flags or platform.machine() == "x86_64":
        return "sse2"
    if "asimd" in flags or platform.machine() in ("aarch64", "arm64"):
        return "neon"
    return "generic"


def _cpu_model(cpuinfo: str) -> str:
    for label in ("model name", "Model", "Hardware", "cpu model"):
        found = re.search(rf"^{label}\s*:[ \t]*(\S.*)$", cpuinfo, re.MULTILINE)
        if found:
            return " ".join(found.group(1).split())
    return platform.processor() or platform.machine()


def usable_cores() -> int:
    """Processors, hyper-threads counted too, that this process may run on."""
    try:
        return len(os.sched_getaffinity(0))
    except (AttributeError, OSError):
        return os.cpu_count() or 1


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
