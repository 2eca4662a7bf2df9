"""Records by words instead of by similarity; see :meth:`loopbook.recipes.book.Book.search`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from loopbook.errors import InputError
from loopbook.recipes._rows import Entry
from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.store import Store

SPEEDUP, KERNEL = "speedup", "kernel"

_ORDERS: dict[str, Callable[[Entry], tuple[object, ...]]] = {
    SPEEDUP: lambda one: (-one.speedup, one.kernel, one.id),
    KERNEL: lambda one: (one.kernel, -one.speedup, one.id),
}

ORDERS = tuple(_ORDERS)
"""What records can be ordered by."""


def search(
    store: Store,
    words: Sequence[str],
    target: str | None,
    kernels: Callable[[str], bool] | None,
    machine: str,
    min_speedup: float,
    order: str,
) -> list[Entry]:
    """What :meth:`loopbook.recipes.book.Book.search` finds."""
    if order not in _ORDERS:
        raise InputError(f"records are ordered by {' or '.join(ORDERS)}")
    machines = {one: _words_of(profile) for one, profile in store.hardware().items()}
    wanted = [word.lower() for word in words]
    found = [
        entry
        for entry in store.entries()
        if target in (None, entry.target)
        and entry.speedup >= min_speedup
        and (kernels is None or kernels(entry.kernel))
        and machine.lower() in machines.get(entry.hardware_id, "")
        and _holds(entry, machines.get(entry.hardware_id, ""), wanted)
    ]
    return sorted(found, key=_ORDERS[order])


def matching(store: Store, beginning: str) -> str:
    """The id of the one record whose id begins so.

    Raises:
        InputError: there is none, or more than one.
    """
    shown = beginning[:40]
    found = [entry.id for entry in store.entries() if entry.id.startswith(beginning)]
    if not found or not beginning:
        raise InputError(f"there is no record {shown!a} in {store.name}")
    if len(found) > 1:
        raise InputError(f"{len(found)} records begin with {shown!a}: give more of the id")
    return found[0]


def _words_of(profile: HardwareProfile) -> str:
    return f"{profile.key} {profile.cpu}".lower()


def _holds(entry: Entry, machine: str, words: list[str]) -> bool:
    text = f"{entry.id} {entry.kernel} {entry.target} {machine} {entry.recipe}".lower()
    return all(word in text for word in words)
