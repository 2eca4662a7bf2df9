"""Programs compiled and measured together: what one of them does is not the others' fault."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tuner_kit import VECTORISED, task

from loopbook.errors import (
    CompilerError,
    DeadlineError,
    GeneratedCodeError,
    IllegalStepError,
    KernelError,
    WrongResultError,
)
from loopbook.sdfg import program
from loopbook.toolchain import batch
from loopbook.toolchain.batch import Source, compile_together
from loopbook.toolchain.batch_runner import Rounds
from loopbook.tuner.transfers.bench import Bench

QUICK = Rounds(most=3)
STEPS = tuple((step.op, step.args) for step in VECTORISED)


@pytest.fixture(scope="module")
def bench(tmp_path_factory) -> Iterator[Bench]:
    mine = task(tmp_path_factory.mktemp("batch"))
    with Bench(mine, ["S", "M"], 0.0, "sequential") as opened:
        yield opened


@pytest.fixture(scope="module")
def tuned(bench) -> list[Source]:
    """The product's loops in a better order, and the same in tiles."""
    return [bench.write({0: STEPS}), bench.write({0: (("tile", ("L1", 8)),)})]


def broken(source: Source, folder: Path, body: str) -> Source:
    """The same program with something else at the beginning of its function."""
    folder.mkdir()
    for path in source.path.parent.iterdir():
        (folder / path.name).write_text(path.read_text())
    spoilt = folder / source.path.name
    spoilt.write_text(re.sub(r"\)\n\{", f") {{ {body}", spoilt.read_text(), count=1))
    return replace(source, path=spoilt)


def test_many_are_measured_against_one_reference(bench, tuned):
    measured = bench.measure(tuned, "native")
    assert [size.preset for size in bench.sizes] == ["S", "M"]
    assert [len(readings) for readings in measured] == [2, 2]
    for reading in (reading for readings in measured for reading in readings):
        assert reading.error is None
        assert 1 <= len(reading.times.seconds) == len(reading.reference.seconds)
        assert set(reading.times.nests) == set(reading.reference.nests) == {0}


def test_programs_with_threads_are_measured_too(tmp_path):
    with Bench(task(tmp_path), ["S"], 0.0, "openmp") as threaded:
        source = threaded.write({0: (("parallel", ("L0",)),)})
        ((reading,),) = threaded.measure([source], "native")
    assert reading.error is None


def test_recipes_are_applied_and_what_may_be_missing_is_left_out(bench):
    refused = ("unroll", ("L0",))  # its trip count is no constant
    source = bench.write({0: (*STEPS, refused)})
    assert source.recipes[0] == STEPS
    with pytest.raises(IllegalStepError):
        bench.write({0: (("interchange", ("L0", "L9")),)})


@pytest.mark.parametrize(
    ("body", "kind", "limits"),
    [
        ("*(volatile int *)0 = 1;", KernelError, [300.0]),
        ("out[0] = 1e9; return;", WrongResultError, [300.0]),
        ("out[-1] = 1;", WrongResultError, [300.0]),
        ("int pause(); for (;;) pause();", DeadlineError, [0.5, 5.0, 50.0]),
    ],
    ids=["crash", "wrong", "outside", "hang"],
)
def test_a_bad_one_fails_alone(bench, tuned, tmp_path, body, kind, limits):
    document = bench.text
    body = body.replace("out[", f"{_result(document)}[")
    bad = broken(tuned[1], tmp_path / "bad", body)
    group = [bench._plain, tuned[0], bad, tuned[1]]
    library = compile_together(group, tmp_path / "together.so")
    for seconds in limits:  # a slow machine needs more of it for the good ones
        readings = bench.sizes[0].runner.measure(library, group, rounds=QUICK, seconds=seconds)
        assert isinstance(readings[1].error, kind)
        if readings[0].error is readings[2].error is None:
            return
    raise AssertionError([reading.error for reading in readings])


def _result(text: str) -> str:
    """What the product's SDFG calls the array that it writes."""
    (nest,) = program.nests(program.parse(text))
    return next(array.data for array in nest.arrays if array.written)


def test_what_does_not_compile_fails_alone(bench, tuned, tmp_path):
    bad = broken(tuned[1], tmp_path / "bad", "this is no C++;")
    good, failed = bench.measure([tuned[0], bad], "native")
    assert [reading.error for reading in good] == [None, None]
    assert [type(reading.error) for reading in failed] == [GeneratedCodeError] * 2
    with pytest.raises(CompilerError, match="does not compile"):
        compile_together([bad], tmp_path / "bad.so")


def test_a_compile_has_a_limit(tuned, tmp_path):
    with pytest.raises(DeadlineError):
        compile_together(tuned, tmp_path / "late.so", seconds=0.001)


def test_the_instruction_set_is_the_one_asked_for(bench, tuned, tmp_path):
    """512-bit registers are called zmm; the second version of x86-64 has neither them nor ymm."""
    if not shutil.which("objdump"):
        pytest.skip("objdump is not installed")
    said = {}
    for march in ("x86-64-v2", "x86-64-v3"):
        library = compile_together([bench._plain, *tuned], tmp_path / f"{march}.so", march)
        done = subprocess.run(
            ["objdump", "-d", library], capture_output=True, text=True, check=True
        )
        said[march] = "ymm" in done.stdout
        assert "zmm" not in done.stdout
    assert said == {"x86-64-v2": False, "x86-64-v3": True}


def test_names_in_a_library_differ():
    called = batch.symbols(["f", "g", *["f"] * 20])
    assert called[:2] == ["f", "g"]
    assert len({*called}) == 22
