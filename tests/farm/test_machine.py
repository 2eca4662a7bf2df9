"""What a machine can take, told to the queue and to a cluster in the same words."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from loopbook.farm.cluster import AUTH_MODE, surroundings
from loopbook.farm.machine import MEASURING, PREFIX, Machine, abilities_of, selector
from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.tasks import REEMBED, TUNE
from loopbook.targets import TARGETS, THREADS_VARIABLE

VALUE = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?")
"""Of a label, as Kubernetes has it, which Ray follows."""


@settings(max_examples=20)
@given(st.text(max_size=80), st.integers(1, 512), st.booleans())
def test_labels_are_labels_and_tell_what_can_be_leased(cpu, threads, jail):
    profiles = {
        name: HardwareProfile(
            cpu.replace("\0", "").encode("ascii", "ignore").decode(),
            "avx2",
            256,
            4,
            threads if target.parallel else 1,
        )
        for name, target in TARGETS.items()
    }
    machine = Machine("here", profiles, jail)
    assert all(VALUE.fullmatch(value) for value in machine.labels.values())
    told = abilities_of(machine.labels)
    assert told is not None
    assert sorted(told.lanes) == sorted(machine.abilities.lanes)
    assert jail == (TUNE in told.kinds)
    for target, profile in profiles.items():
        wanted = selector(TUNE, target, profile.key)
        fits = all(machine.labels.get(name) == value for name, value in wanted.items())
        assert fits == jail


def test_a_node_of_somebody_else_is_none_of_ours():
    assert abilities_of({}) is None
    assert abilities_of({"ray.io/node-id": "1", f"{PREFIX}isa": "avx2"}) is None


def test_vectors_are_made_anywhere():
    assert selector(REEMBED, "", "") == {}
    assert REEMBED not in MEASURING


def test_where_there_is_a_token_all_of_a_cluster_want_it(monkeypatch, tmp_path):
    for name in (AUTH_MODE, "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    profile = HardwareProfile("cpu", "avx2", 256, 4, 1)
    machine = Machine("here", dict.fromkeys(TARGETS, profile))
    assert AUTH_MODE not in surroundings(machine)
    (tmp_path / ".ray").mkdir()
    (tmp_path / ".ray" / "auth_token").write_text("0" * 64)
    assert surroundings(machine)[AUTH_MODE] == "token"
    monkeypatch.setenv(AUTH_MODE, "disabled")
    assert surroundings(machine)[AUTH_MODE] == "disabled"
    monkeypatch.delenv(AUTH_MODE)
    (tmp_path / ".ray" / "auth_token").unlink()
    monkeypatch.setenv("RAY_AUTH_TOKEN", "0" * 64)
    assert surroundings(machine)[AUTH_MODE] == "token"


def test_a_node_has_as_many_threads_as_its_labels_say(monkeypatch):
    profiles = {
        name: HardwareProfile("cpu", "avx2", 256, 4, 3 if target.parallel else 1)
        for name, target in TARGETS.items()
    }
    machine = Machine("here", profiles)
    monkeypatch.delenv(THREADS_VARIABLE, raising=False)
    monkeypatch.setenv("OTHER", "stays")
    told = surroundings(machine)
    assert (told[THREADS_VARIABLE], told["OTHER"]) == ("3", "stays")
    monkeypatch.setenv(THREADS_VARIABLE, "3,1")  # one for each depth
    assert surroundings(machine)[THREADS_VARIABLE] == "3,1"
