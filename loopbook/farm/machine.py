"""A machine as the farm knows it: what it is, and which tasks it can take."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass

from loopbook.client.hardware import local_profile
from loopbook.errors import JailError
from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.tasks import CONFIRM, REEMBED, REMEASURE, TUNE, Abilities
from loopbook.targets import TARGETS, here, named
from loopbook.toolchain import jail
from loopbook.tuner.search import versions

PREFIX = "loopbook/"
"""Before the names of our labels: a cluster has others."""

TIMING = "loopbook-timing"
"""The resource that whoever takes times must have. A node has 1: two that time at once disturb one
another."""

BUILDING = "loopbook-building"
"""The resource of nodes that build for others, one for each process that may. They take no times:
what compiles beside a run would disturb it."""

MEASURING = (TUNE, CONFIRM, REMEASURE)
"""Kinds of tasks that run strangers' programs and take times."""

_NOT_IN_LABELS = re.compile(r"[^A-Za-z0-9_.-]+")


@dataclass(frozen=True)
class Machine:
    """One node, as programs use it.

    Attributes:
        name: for people: host and process.
        profiles: target to the machine as programs for it use it.
        jail: whether it has jails; strangers' programs are run nowhere else.
        why_not: it has none, in words.
    """

    name: str
    profiles: Mapping[str, HardwareProfile]
    jail: bool = True
    why_not: str = ""

    @classmethod
    def here(cls) -> Machine:
        """This one. Takes a second or two at the first call: its peak and bandwidth are measured,
        and a jail is tried."""
        profiles = {name: local_profile(named(name).threads) for name in here()}
        try:
            jail.check()
        except JailError as error:
            return cls(_name(), profiles, False, str(error))
        return cls(_name(), profiles)

    @property
    def abilities(self) -> Abilities:
        """What it can lease."""
        kinds = [REEMBED, *(MEASURING if self.jail else ())]
        return Abilities(kinds, {target: one.key for target, one in self.profiles.items()})

    @property
    def labels(self) -> dict[str, str]:
        """What a cluster calls it: tasks are placed by the class of hardware of their target, the
        rest is for people and autoscalers."""
        any_one = next(iter(self.profiles.values()))
        told = {
            "isa": any_one.isa,
            "cpu": any_one.cpu,
            "cores": any_one.cores,
            "l1d-kib": any_one.l1d_bytes >> 10,
            "l2-kib": any_one.l2_bytes >> 10,
            "l3-kib": any_one.l3_bytes >> 10,
            "device": "cpu",
        }
        told |= {target: profile.key for target, profile in self.profiles.items()}
        return {PREFIX + name: _label(value) for name, value in told.items()} | self.builds

    @property
    def builds(self) -> dict[str, str]:
        """Labels of a node that only builds for others: what decides which code it makes, and not
        what it is itself. Without a jail it makes none."""
        told = {**versions(), "jail": "yes"} if self.jail else {"jail": "no"}
        return {PREFIX + name: _label(value) for name, value in told.items()}


def abilities_of(labels: Mapping[str, str]) -> Abilities | None:
    """What a node of a cluster can lease, by its labels; None if it is none of ours."""
    hardware = {name: labels[PREFIX + name] for name in TARGETS if PREFIX + name in labels}
    if not hardware:
        return None
    measuring = MEASURING if labels.get(f"{PREFIX}jail") == "yes" else ()
    return Abilities([REEMBED, *measuring], hardware)


def selector(kind: str, target: str, hardware_key: str) -> dict[str, str]:
    """The labels that a node must have for a task."""
    if kind not in MEASURING:
        return {}
    return {PREFIX + target: hardware_key, f"{PREFIX}jail": "yes"}


def selector_to_build() -> dict[str, str]:
    """The labels that a node must have that builds for this one: it makes the same code."""
    told = {**versions(), "jail": "yes"}
    return {PREFIX + name: _label(value) for name, value in told.items()}


def _name() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


def _label(value: object) -> str:
    """A value as labels may be: letters, digits, dots, dashes, at most 63."""
    return _NOT_IN_LABELS.sub("-", str(value)).strip("-._")[:63].rstrip("-._") or "unknown"
