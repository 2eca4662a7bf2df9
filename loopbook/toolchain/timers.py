"""Wall-clock times of each nest inside a running program.

docc can put calls to its region hooks around every outermost loop. Its own runtime library writes
traces for them, and wants PAPI. We only want seconds, so we put a small library of our own in
front, which answers the same hooks and adds up the time by element id.
"""

from __future__ import annotations

import ctypes
import hashlib
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from loopbook.errors import CompilerError
from loopbook.toolchain import scratch
from loopbook.toolchain.clang import shared_library
from loopbook.toolchain.compiler import find_compiler

SOURCE = r"""
#include <cstddef>
#include <ctime>
#include <daisy_rtl/daisy_rtl.h>

namespace {
constexpr size_t kRegions = 1024;
size_t elements[kRegions];
double seconds[kRegions], begun[kRegions];
size_t used = 0;

double now() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}
}

extern "C" {
size_t __daisy_instrumentation_init(__daisy_metadata_t* region, enum __daisy_event_set) {
    for (size_t i = 0; i < used; ++i)
        if (elements[i] == region->element_id) return i;
    if (used == kRegions) return kRegions - 1;
    elements[used] = region->element_id;
    seconds[used] = 0;
    return used++;
}
void __daisy_instrumentation_enter(size_t id) { begun[id] = now(); }
void __daisy_instrumentation_exit(size_t id) { seconds[id] += now() - begun[id]; }
void __daisy_instrumentation_finalize(size_t) {}
void __daisy_instrumentation_increment(size_t, const char*, long long) {}
void __daisy_instrumentation_metric(size_t, const char*, double) {}
void __daisy_instrumentation_finalize_all(void) {}

void loopbook_timers_reset(void) { used = 0; }
size_t loopbook_timers_used(void) { return used; }
size_t loopbook_timers_element(size_t i) { return elements[i]; }
double loopbook_timers_seconds(size_t i) { return seconds[i]; }
}
"""


class Timers:
    """The hooks, loaded into this process before any library that calls them."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(str(timer_library()), mode=ctypes.RTLD_GLOBAL)
        for name in ("used", "element"):
            getattr(self._library, f"loopbook_timers_{name}").restype = ctypes.c_size_t
        self._library.loopbook_timers_seconds.restype = ctypes.c_double

    def reset(self) -> None:
        """Forget all regions."""
        self._library.loopbook_timers_reset()

    def read(self) -> dict[int, float]:
        """Element id to seconds since the last reset."""
        used = self._library.loopbook_timers_used()
        return {
            self._library.loopbook_timers_element(ctypes.c_size_t(i)): (
                self._library.loopbook_timers_seconds(ctypes.c_size_t(i))
            )
            for i in range(used)
        }


@lru_cache(maxsize=1)
def timer_library() -> Path:
    """The compiled hooks; built on first use and kept for other processes.

    Raises:
        CompilerError: if they cannot be compiled.
    """
    compiler = find_compiler()
    package = find_spec("docc")
    homes = package.submodule_search_locations if package else None
    if not homes:
        raise CompilerError("cannot compile the timers: docc's headers are not there")
    include = Path(homes[0]) / "include"
    tag = hashlib.sha256(f"{SOURCE}{compiler.version}{include}".encode()).hexdigest()[:12]
    library = scratch.kept() / f"timers-{tag}.so"
    if not library.exists():
        shared_library(compiler.path, SOURCE, f"-I{include}", to=library)
    return library
