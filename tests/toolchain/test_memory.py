"""Temporaries of generated code, in a block that is kept from call to call."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from loopbook.toolchain import memory
from loopbook.toolchain.clang import shared_library
from loopbook.toolchain.compiler import find_compiler

CODE = """
extern "C" void *taken(long bytes) { return malloc(bytes); }
extern "C" void given(void *taken) { free(taken); }
"""

MIB = 1 << 20


class Memory:
    def __init__(self, library: ctypes.CDLL) -> None:
        library.taken.restype, library.given.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
        self.take: Callable[[int], int] = library.taken
        self.give: Callable[[int | None], None] = library.given
        self.release: Callable[[], None] = getattr(library, memory.RELEASE)


@pytest.fixture
def arena(tmp_path: Path) -> Memory:
    path = tmp_path / "memory.so"
    shared_library(find_compiler().path, memory.TEXT + CODE, "-O2", to=path)
    return Memory(ctypes.CDLL(str(path)))


def pages() -> int:
    """Of address space that this process has."""
    return int(Path("/proc/self/statm").read_text().split()[0])


def test_a_call_finds_what_the_one_before_had(arena: Memory):
    sizes = [3 * MIB, 100, MIB]
    for size in sizes:
        assert arena.take(size)
    arena.release()
    found = [arena.take(size) for size in sizes]
    arena.release()
    assert [arena.take(size) for size in sizes] == found
    arena.release()


def test_blocks_do_not_overlap_and_begin_with_a_line_of_the_cache(arena: Memory):
    for _ in range(2):
        places = [arena.take(100) for _ in range(20)]
        assert all(place % 64 == 0 for place in places)
        places.sort()
        assert all(b - a >= 100 for a, b in pairwise(places))
        arena.release()


def test_what_a_loop_takes_and_gives_back_needs_room_once(arena: Memory):
    for _ in range(2):  # the first call has no block yet
        before = pages()
        for _ in range(200):
            arena.give(arena.take(4 * MIB))
        assert (pages() - before) * 4096 < 100 * MIB
        arena.release()


def test_what_is_never_given_back_is_given_back_by_release(arena: Memory):
    arena.take(8 * MIB)
    arena.release()
    before = pages()
    for _ in range(100):
        arena.take(8 * MIB)
        arena.release()
    assert (pages() - before) * 4096 < 100 * MIB


def test_nothing_may_be_given_back(arena: Memory):
    arena.give(None)
    arena.release()
