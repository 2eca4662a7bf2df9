"""Records, embeddings and hardware profiles: round trips, ids, distances, damage."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from recipes_samples import AVX2, AVX512, damaged, embedding, faster, json_values, recipes, record

from loopbook.errors import InputError, LoopbookError
from loopbook.recipes import Embedding, HardwareProfile, Measurement, Record
from loopbook.recipes import hardware as hardware_module
from loopbook.recipes.record import LOSES

times = st.floats(1e-9, 1e6)
sizes = st.dictionaries(st.text("NMK_", min_size=1, max_size=4), st.integers(0, 10**6), max_size=3)
trips = st.dictionaries(st.sampled_from(["L0", "L1", "L12"]), st.integers(0, 10**6))
measurements = st.builds(
    Measurement, times, times, st.floats(0, 10), st.integers(1, 100), sizes, trips
)


@given(recipes, st.lists(measurements, max_size=4), st.sampled_from(["sequential", "openmp"]))
def test_a_record_survives_json(recipe, measured, target):
    made = record(recipe=recipe, measurements=tuple(measured), target=target)
    read = Record.from_json(json.loads(json.dumps(made.to_json())))
    assert read == made
    assert read.id == made.id


def test_the_id_is_a_hash_of_the_content():
    assert record().id == record().id
    assert record().id != record(target="openmp").id
    assert record().id != record(measurements=faster(3)).id
    assert dataclasses.replace(record(), target="openmp").id == record(target="openmp").id


def test_a_changed_record_gives_itself_away():
    obj = record().to_json()
    obj["measurements"][0]["tuned_s"] = 0.01
    with pytest.raises(InputError, match="it has been changed"):
        Record.from_json(obj)


def test_speedup_is_the_geometric_mean_over_sizes():
    assert record(measurements=faster(2) + faster(8)).speedup == pytest.approx(4)
    assert record(measurements=()).speedup == 1


def test_a_measurement_without_trips_reads_and_hashes_as_before_there_were_any():
    """The id is what the version before trips gave this record."""
    assert "trips" not in record().to_json()["measurements"][0]
    assert record().id == "ceff645022789563f5cbe8300f005519"
    counted = Measurement(2.0, 1.0, 0.05, 7, {"N": 1000}, {"L0": 1000})
    assert record(measurements=(counted,)).id != record().id


@given(st.lists(measurements, min_size=1, max_size=5), st.data())
def test_the_nearest_size_decides_what_to_expect(measured, data):
    made = record(measurements=tuple(measured))
    away = data.draw(st.permutations(range(len(measured))))
    distances = dict(zip(map(id, made.measurements), away, strict=True))
    nearest = made.measurements[away.index(0)]
    assert made.speedup_at(lambda one: distances[id(one)]) == nearest.speedup


@given(st.lists(measurements, max_size=5), st.data())
def test_where_sizes_are_unknown_a_recipe_that_loses_somewhere_promises_no_gain(measured, data):
    made = record(measurements=tuple(measured))
    unknown = data.draw(st.sampled_from(range(max(1, len(measured)))))
    expected = made.speedup_at(lambda one: None if one is made.measurements[unknown] else 0.0)
    if any(one.speedup < LOSES for one in measured):
        assert expected == min(one.speedup for one in measured) == made.worst
    else:
        assert expected == made.speedup


def test_unknown_targets_and_times_of_nothing_are_refused():
    with pytest.raises(InputError, match="target is sequential or openmp"):
        record(target="abacus")
    for wrong in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(InputError, match="a measurement"):
            Measurement(1.0, wrong, 0.0, 1)


# Without the id, so that a changed value which is as good as the old one is read.
unsigned = {key: value for key, value in record().to_json().items() if key != "id"}


@given(json_values | damaged(unsigned))
def test_any_json_gives_a_record_or_an_error_of_ours(obj):
    try:
        read = Record.from_json(obj)
    except LoopbookError as error:
        assert "\n" not in str(error)  # noqa: PT017
    else:
        assert Record.from_json(read.to_json()) == read


def test_an_embedding_survives_json_bit_by_bit():
    made = embedding()
    read = Embedding.from_json(json.loads(json.dumps(made.to_json())))
    assert read == made
    assert read.loops.dtype == np.float32
    assert np.array_equal(read.containers, made.containers)


def test_an_embedding_refuses_shapes_that_do_not_fit():
    made = embedding()
    with pytest.raises(InputError, match="loop vectors have shape"):
        dataclasses.replace(made, loop_names=("L0",))
    with pytest.raises(InputError, match="nest vector has shape"):
        dataclasses.replace(made, nest=made.loops)


@given(json_values | damaged(embedding().to_json()))
def test_any_json_gives_an_embedding_or_an_error_of_ours(obj):
    try:
        read = Embedding.from_json(obj)
    except LoopbookError as error:
        assert "\n" not in str(error)  # noqa: PT017
    else:
        assert read.is_finite()


def test_a_profile_survives_json():
    assert HardwareProfile.from_json(json.loads(json.dumps(AVX2.to_json()))) == AVX2


@given(json_values | damaged(AVX2.to_json()))
def test_any_json_gives_a_profile_or_an_error_of_ours(obj):
    try:
        read = HardwareProfile.from_json(obj)
    except LoopbookError as error:
        assert "\n" not in str(error)  # noqa: PT017
    else:
        assert read.distance(AVX2) >= 0


def test_the_key_ignores_what_does_not_matter():
    same = dataclasses.replace(AVX2, cpu="Twin", peak_gflops=11.0, cores=8, l3_bytes=2**25 + 4096)
    assert same.key == AVX2.key
    assert same.distance(AVX2) == 0
    for change in ({"threads": 2}, {"l1d_bytes": 65536}, {"isa": "sse2", "vector_bits": 128}):
        other = dataclasses.replace(AVX2, **change)
        assert other.key != AVX2.key
        assert other.distance(AVX2) > 0


def test_distance_is_symmetric_and_grows_with_the_difference():
    neon = HardwareProfile("Arm", "neon", 128, 4, 1, 32768, 524288, 2**25)
    assert AVX2.distance(AVX512) == pytest.approx(AVX512.distance(AVX2))
    assert AVX2.distance(AVX512) == pytest.approx(1.2, abs=0.3)
    assert AVX2.distance(neon) > AVX2.distance(AVX512)


def test_figures_that_nobody_knows_do_not_count():
    unmeasured = dataclasses.replace(AVX512, peak_gflops=0.0, bandwidth_gbs=0.0)
    assert np.isnan(unmeasured.vector()[5:7]).all()
    assert 0 < unmeasured.distance(AVX2) <= AVX512.distance(AVX2)


def test_this_machine_is_read():
    profile = hardware_module.read(threads=2)
    assert profile.threads == 2
    assert profile.cores >= 1
    assert profile.vector_bits == hardware_module.ISAS[profile.isa].vector_bits
    assert profile == hardware_module.read(threads=2)


def test_reading_never_fails_where_the_system_says_nothing(monkeypatch):
    monkeypatch.setattr(hardware_module, "_contents", lambda path: "")
    monkeypatch.setenv("PATH", "")
    profile = hardware_module.read()
    assert (profile.l1d_bytes, profile.l2_bytes, profile.l3_bytes) == (0, 0, 0)
    assert profile.key == hardware_module.read().key


def test_cpuinfo_and_caches_are_understood(tmp_path, monkeypatch):
    cpuinfo = "\n\n".join(
        f"processor\t: {n}\nmodel name\t: Big  CPU\ncore id\t\t: {n // 2}\nphysical id\t: 0\n"
        "flags\t\t: sse2 avx2 fma avx512f avx512bw avx512dq avx512vl"
        for n in range(4)
    )
    for number, (level, kind, size) in enumerate(
        [("1", "Data", "48K"), ("1", "Instruction", "32K"), ("2", "Unified", "2M")]
    ):
        folder = tmp_path / f"index{number}"
        folder.mkdir()
        for name, text in (("level", level), ("type", kind), ("size", size)):
            (folder / name).write_text(text + "\n")
    monkeypatch.setattr(hardware_module.os, "sched_getaffinity", lambda _: {0, 1, 2, 3})
    assert hardware_module._isa(cpuinfo) == "avx512"
    assert hardware_module._cpu_model(cpuinfo) == "Big CPU"
    assert hardware_module._physical_cores(cpuinfo) == 2
    caches = hardware_module._caches_of_sysfs(tmp_path)
    assert caches == {"l1d_bytes": 48 * 1024, "l2_bytes": 2 * 2**20}
