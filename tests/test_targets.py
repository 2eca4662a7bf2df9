"""Targets and hardware are declared once: what is added in one place is known everywhere."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import pytest
from recipes_samples import AVX2, AVX512, record

from loopbook import targets
from loopbook.client.places import STARTER
from loopbook.errors import InputError
from loopbook.recipes import Book, HardwareProfile, Measurement, Record
from loopbook.recipes._data import LATER, Count
from loopbook.recipes.hardware import Weight

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class NewerProfile(HardwareProfile):
    """What a later version may declare."""

    sockets: Annotated[Count, LATER, Weight(0.5)] = 0


def test_every_record_that_comes_with_us_keeps_its_id():
    with Book.open(STARTER, readonly=True) as book:
        read = list(book.records())  # which compares what was hashed with the id
        assert len(read) == len(book) > 0
    for one in read[::20]:
        assert Record.from_json(one.to_json()) == one


def test_a_field_that_is_new_leaves_old_profiles_as_they_were():
    old = NewerProfile.from_json(AVX2.to_json())
    assert old.sockets == 0
    assert old.to_json() == AVX2.to_json()
    assert replace(record(), hardware=old).id == record().id
    assert old.distance(NewerProfile.from_json(AVX512.to_json())) == AVX2.distance(AVX512)


def test_a_field_that_is_new_is_kept_by_who_does_not_know_it():
    new = replace(NewerProfile.from_json(AVX2.to_json()), sockets=2)
    theirs = replace(record(), hardware=new)
    ours = Record.from_json(json.loads(json.dumps(theirs.to_json())))
    assert type(ours.hardware) is HardwareProfile
    assert ours.id == theirs.id != record().id
    assert NewerProfile.from_json(ours.hardware.to_json()) == new
    twice = replace(new, sockets=4, isa="sse2")
    assert twice.distance(new) > replace(new, isa="sse2").distance(new) == 0


def test_what_is_unknown_has_its_limits():
    for much in ("x" * 5000, [[[]]] * 2000, float("nan")):
        with pytest.raises(InputError, match="a hardware profile"):
            HardwareProfile.from_json({"new": much})


def test_a_profile_may_lack_fields_and_a_measurement_may_not():
    assert HardwareProfile.from_json({"isa": "avx2"}) == HardwareProfile(isa="avx2")
    with pytest.raises(InputError, match="a measurement has no tuned_s"):
        Measurement.from_json({"baseline_s": 1.0})


NEW_KIND = """
from loopbook import targets
from loopbook.recipes import hardware

targets.TARGETS["abacus"] = targets.Target(
    "abacus", docc="abacus", plugin="loopbook-abacus", missing="no abacus is at hand"
)
hardware.ISAS["beads"] = hardware.Isa(vector_bits=1024, family=4.0)

import json, sys
from pathlib import Path
sys.path.insert(0, "tests/kits")
from recipes_samples import AVX2, embedding, record

import loopbook
from loopbook.cli import main
from loopbook.client.hook import plugins
from loopbook.errors import InputError
from loopbook.recipes import Book, HardwareProfile, Record
from loopbook.server.questions import Nearest, described

theirs = HardwareProfile("Abacus 3", "beads", 1024, threads=64)
one = Record.from_json(record(target="abacus", hardware=theirs).to_json())
with Book.open(sys.argv[1]) as book:
    book.add(one, embedding())
    assert book.nearest(embedding(), target="abacus")[0].record == one
    assert not book.nearest(embedding(), target=targets.DEFAULT)
assert theirs.distance(AVX2) > 4
assert plugins()["loopbook-abacus"] == "abacus"
schema = described(Nearest)["requestBody"]["content"]["application/json"]["schema"]
assert "abacus" in schema["properties"]["target"]["enum"]
assert targets.here() == ("sequential", "openmp")
for refused in (lambda: loopbook.native(print, target="abacus"),
                lambda: loopbook.optimize(None, target="abacus")):
    try:
        refused()
        raise AssertionError
    except InputError as error:
        assert "no abacus is at hand" in str(error), error
print(main(["optimize", "gemm", "--target", "abacus"]))
print(main(["nearest", "--help"]))
"""


def test_a_target_and_a_kind_of_device_are_one_entry_each(tmp_path):
    """Declared before anything else is imported, as an edit of the one file would."""
    command = [sys.executable, "-c", NEW_KIND, str(tmp_path / "book.db")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "sequential, openmp or abacus" in " ".join(done.stdout.split())
    assert "nothing can be run here for the target abacus: no abacus is at hand" in done.stderr


def test_threads_follow_from_the_target():
    assert targets.for_threads(1).name == targets.DEFAULT
    assert targets.for_threads(8).parallel
    assert targets.named(targets.DEFAULT).threads == 1
