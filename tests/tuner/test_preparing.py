"""What preparing a program gains: measured once, read with care, counted where models learn."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path

import pytest
from cli_kit import Shell, make_shell
from recipes_samples import AVX512

from loopbook.errors import CorpusError
from loopbook.learn import candidates
from loopbook.learn.examples import FAILED, gain_of
from loopbook.recipes.recipe import Recipe
from loopbook.sdfg import frontend, program
from loopbook.tuner import preparing
from loopbook.tuner.corpus import pack
from loopbook.tuner.log import Trial, TrialLog
from loopbook.tuner.preparing import Preparing
from loopbook.tuner.samples import Sample
from loopbook.workloads import synthetic

PROGRAM = "elementwise.2.smm.ij_ij_j_j.other.ji.steps.f4.apart"

HEADER = {
    "kernel": PROGRAM,
    "preset": "S",
    "sizes": dict(synthetic.load(PROGRAM).parameters["S"]),
    "target": "sequential",
    "strategy": "transfer",
    "seed": 0,
    "hardware": AVX512.key,
}


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]):
    return make_shell(tmp_path, monkeypatch, capfd)


def sample(**changed: object) -> Sample:
    made = Sample(
        kernel=PROGRAM,
        nest=0,
        fingerprint="f",
        steps="tile L0 4\n",
        target="openmp",
        hardware=AVX512.key,
        profile=json.dumps(AVX512.to_json()),
        preset="S",
        sizes=dict(synthetic.load(PROGRAM).parameters["S"]),
        strategy="transfer",
        seed=0,
        number=0,
        status="ok",
        speedup=2.0,
        before_s=1e-3,
        after_s=5e-4,
        program_s=6e-4,
        code="c",
        message="",
        docc="",
        compiler="",
        loopbook="",
        date="",
    )
    return dataclasses.replace(made, **changed)


def fingerprint() -> str:
    workload = synthetic.load(PROGRAM)
    text = frontend.trace(workload.kernel, workload.arguments("S"))
    return program.prepare_nests(text)[1][0].fingerprint


def test_a_program_is_measured_once(tmp_path: Path):
    path = tmp_path / preparing.PATH.name
    (place,) = preparing.places([sample(), sample(number=1)], "openmp")
    assert preparing.places([sample()], "sequential") == []
    (one,) = preparing.measure([place], path, AVX512.key, 1)
    assert one is not None
    assert min(one.baseline_s, one.prepared_s) > 0
    assert preparing.load(path) == {place: one.gain}
    assert one.gain == pytest.approx(math.log2(one.baseline_s / one.prepared_s))


def test_what_cannot_be_compiled_has_no_gain(tmp_path: Path):
    place = preparing.place_of("elementwise.of.nothing", "S", "openmp", {"NI": 4})
    assert list(preparing.measure([place], tmp_path / "none.jsonl", "k", 1)) == [None]
    assert preparing.load(tmp_path / "none.jsonl") == {}


def test_torn_lines_are_skipped_and_unreadable_files_named(tmp_path: Path):
    path = tmp_path / "preparing.jsonl"
    good = Preparing("p", "S", {"N": 1}, "openmp", "k", 2.0, 1.0, "", "", "", "")
    told = json.dumps(dataclasses.asdict(good))
    path.write_text("\n".join([told, told[:20], "[]", told.replace("1.0", "0.0")]))
    assert preparing.load(path) == {good.place: 1.0}
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(CorpusError, match="cannot read"):
        preparing.load(path)
    place = preparing.places([sample()], "openmp")
    with pytest.raises(CorpusError, match="cannot write"):
        list(preparing.measure(place, tmp_path / "no folder" / "p.jsonl", "k", 1))


def test_examples_count_what_preparing_gained():
    measured = sample(fingerprint=fingerprint())
    place = preparing.place_of(measured.kernel, "S", "openmp", measured.sizes)
    plain = dataclasses.replace(measured, steps="", speedup=0.8, after_s=1.25e-3, number=1)
    told = candidates.of_samples([measured, plain], {place: 3.0})
    assert [one.gain for one in told.examples] == [4.0, 3.0], "no steps: docc's own schedule"
    assert gain_of(None, 3.0) == FAILED


def test_unsteady_samples_are_not_learnt_from():
    good = sample()
    told = [good, sample(before_s=4e-3), sample(fingerprint="other", before_s=4e-3)]
    assert candidates.steady(told) == [good, told[2]]
    alone = sample(fingerprint="other", steps="", after_s=1e-3)
    assert candidates.steady([*told, alone]) == [good, alone], "its own schedule was faster"


def test_the_command_measures_what_the_corpus_has(shell: Shell, tmp_path: Path):
    shell("corpus", "preparing", "--corpus", str(tmp_path / "none")).refusal()
    folder = tmp_path / "corpus"
    log = TrialLog(tmp_path / "trials.jsonl", HEADER)
    log.add(Trial(0, 0, "f", Recipe.parse("tile L0 4"), "ok", 1.5, 0.25, ""))
    pack([tmp_path / "trials.jsonl"], folder, profiles={AVX512.key: AVX512})
    for added in (1, 0):
        told = shell("corpus", "preparing", "--corpus", str(folder), "--json").good().document
        assert told == {"added": added}
    assert len(preparing.load(folder / preparing.PATH.name)) == 1
