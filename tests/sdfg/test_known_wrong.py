"""What docc is known to translate wrongly: each fault mended, with the right numbers, or refused.

docs/known-wrong.md names these tests; the last ones here see that it names all of them.
"""

from __future__ import annotations

import copy
import math
import random
import re
from pathlib import Path

import numpy as np
import pytest

from loopbook.errors import LoopbookError, MistranslationError
from loopbook.sdfg import frontend, passes, program
from loopbook.sdfg.frontend import bind, trace
from loopbook.sdfg.known_wrong import confirmed, understood
from loopbook.sdfg.sources import write_unoptimised
from loopbook.toolchain.batch import Source, compile_together, silent_compiler
from loopbook.toolchain.compiler import activate
from loopbook.toolchain.sandbox import TRIES, run_limited
from loopbook.workloads import polybench, synthetic
from loopbook.workloads.state import agree

from . import known_wrong_programs as programs

PAGE = Path(__file__).parents[2] / "docs" / "known-wrong.md"


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> dict[str, list[np.ndarray] | LoopbookError]:
    """What docc computes for all mended programs: compiled together, each run in a child of its
    own."""
    folder = tmp_path_factory.mktemp("built")
    activate()
    written = run_limited(_write, folder, seconds=900, tries=TRIES, what="docc")
    sources = [one for one in written.values() if isinstance(one, Source)]
    library = compile_together(sources, folder / "all.so", seconds=900)
    found: dict[str, list[np.ndarray] | LoopbookError] = {}
    for name, source in written.items():
        func, make = programs.MENDED[name]
        try:
            if isinstance(source, LoopbookError):
                raise source
            found[name] = run_limited(_run, func, make(), library, seconds=600, what=name)
        except LoopbookError as error:
            found[name] = error
    return found


def _write(folder: Path) -> dict[str, Source | LoopbookError]:
    """docc's C++ of each program."""
    silent = silent_compiler(folder)
    written: dict[str, Source | LoopbookError] = {}
    for name, (func, make) in programs.MENDED.items():
        try:
            text = trace(func, make())
            written[name] = write_unoptimised(silent, text, "none", folder / name)
        except LoopbookError as error:
            written[name] = error
    return written


def _run(func, args, library: Path) -> list[np.ndarray]:
    compiled = bind(func, args, library)
    own = copy.deepcopy(args)
    returned = compiled(*own)
    return _all(own, returned if compiled.output_args else None)


def _built(func, args, folder: Path) -> list[np.ndarray]:
    activate()
    return _run(
        func, args, passes.build(program.baseline(trace(func, args), "none"), folder, "none")
    )


def _all(args, returned) -> list[np.ndarray]:
    values = returned if isinstance(returned, tuple | list) else [returned]
    return [a for a in args if isinstance(a, np.ndarray)] + [
        np.array(value) for value in values if value is not None
    ]


@pytest.mark.parametrize("name", programs.MENDED)
def test_a_mended_program_computes_what_python_does(name, built):
    func, make = programs.MENDED[name]
    args = make()
    differs = understood(func, args) is not func
    assert name in programs.LATER or differs, "docc would get this as it stands"
    with np.errstate(all="ignore"):
        expected = _all(args, func(*args))
    assert not isinstance(built[name], LoopbookError), built[name]
    assert agree(expected, built[name]) < 1e-12


@pytest.mark.parametrize("name", programs.LATER)
def test_docc_is_wrong_where_only_its_sdfg_shows_it(name, tmp_path, monkeypatch):
    monkeypatch.setattr(frontend, "confirmed", lambda func, text, args: func)
    func, make = programs.MENDED[name]
    args = make()
    found = run_limited(_built, func, args, tmp_path / name, seconds=600, what=name)
    assert agree(_all(args, func(*args)), found) > 0.01


@pytest.mark.parametrize("name", programs.MENDED)
def test_a_mended_function_is_the_same_function_for_python(name):
    func, make = programs.MENDED[name]
    args, others = make(), make()
    with np.errstate(all="ignore"):
        expected = _all(args, func(*args))
        assert agree(expected, _all(others, understood(func, make())(*others))) < 1e-12


@pytest.mark.parametrize("name", programs.REFUSED)
def test_a_program_is_refused_where_docc_would_be_wrong(name):
    func, make, words = programs.REFUSED[name]
    with pytest.raises(MistranslationError, match=words) as caught:
        trace(func, make())
    assert re.match(r"known_wrong_programs\.py:\d+: docc .+; .+", str(caught.value))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", programs.KEPT)
def test_what_docc_gets_right_is_left_alone(name):
    func, make = programs.KEPT[name]
    assert understood(func, make()) is func


def test_polybench_is_left_alone():
    for name in polybench.names():
        workload = polybench.load(name)
        args = workload.arguments("MINI")
        assert understood(workload.kernel, args) is workload.kernel
        if name not in ("cholesky", "durbin", "deriche", "ludcmp", "nussinov", "trisolv"):
            continue
        assert confirmed(workload.kernel, trace(workload.kernel, args), args) is workload.kernel


def test_synthetic_programs_are_left_alone():
    numbers = random.Random(3)
    for family in synthetic.FAMILIES.values():
        workload = synthetic.load(family.name_of(family.draw(numbers)))
        kernel = workload.kernel
        assert understood(kernel, workload.arguments("S")) is kernel, workload.name


def test_a_mended_function_keeps_its_defaults_and_closure():
    scale = 3

    def kernel(values, out, shift=1):
        for i in range(values.shape[0]):
            out[i] = values[i] // scale + shift

    values, out = np.array([-7, 7, -2]), np.zeros(3, np.int64)
    made = understood(kernel, [values, out, 1])
    made(values, out)
    assert made is not kernel
    assert out.tolist() == [-2, 3, 0]


def test_a_module_that_docc_needs_is_there_without_an_import():
    def kernel(values):
        for i in range(values.shape[0]):
            values[i] = values[i] % 1.5

    values = np.array([-1.0, 4.0, -0.0, -1e-20])
    understood(kernel, [values])(values)
    assert values.tolist() == [math.fmod(-1.0, 1.5) + 1.5, 1.0, -0.0, 1.5]


def test_the_page_names_every_program_and_no_other():
    told = set(re.findall(r"^\| `(\w+)`", PAGE.read_text(), re.MULTILINE))
    assert told == {*programs.MENDED, *programs.REFUSED}
