"""A block's nodes, each after those that it takes from."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loopbook.errors import SdfgError
from loopbook.program.dataflow import (
    AccessNode,
    Block,
    Memlet,
    Tasklet,
    block,
    in_order,
    oldest_first,
)
from loopbook.program.types import Scalar

KIND = Scalar("double")


def copies(*ends: tuple[int, int]) -> Block:
    """Copies from one of four containers to another, and their nodes numbered backwards."""
    nodes = [replace(AccessNode(name), id=9 - n) for n, name in enumerate("abcd")]
    tasks = [replace(Tasklet("assign", ("_in",), "_out"), id=20 + n) for n in range(len(ends))]
    memlets = [
        one
        for task, (start, end) in enumerate(ends, len(nodes))
        for one in (
            Memlet(start, task, "void", "_in", (), KIND),
            Memlet(task, end, "_out", "void", (), KIND),
        )
    ]
    return block((*nodes, *tasks), tuple(memlets))


def test_what_may_come_next_comes_by_age_and_what_waits_after_what_it_takes_from() -> None:
    assert in_order(copies((0, 1), (3, 2))) == [3, 0, 4, 1, 5, 2]


def test_a_circle_has_no_order() -> None:
    with pytest.raises(SdfgError, match="circle"):
        in_order(copies((0, 1), (1, 0)))


def test_only_what_is_asked_for_is_put_in_order() -> None:
    assert oldest_first(copies((0, 1)), {0: {1}, 1: set(), 3: {0}}) == [1, 0, 3]
