"""Synthetic programs: the same from the same seed, written again from their names, and right."""

from __future__ import annotations

import inspect
import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loopbook.errors import CompilerError, WorkloadError
from loopbook.toolchain.compiler import find_compiler
from loopbook.tuner.task import PythonTask
from loopbook.workloads import call, synthetic
from loopbook.workloads.state import agree, check, reference_results, tolerance
from loopbook.workloads.synthetic import registry
from loopbook.workloads.synthetic.__main__ import main
from loopbook.workloads.synthetic.program import PRESETS, SIZES, Program, sizes
from loopbook.workloads.workload import Workload, load_workload

pytestmark = pytest.mark.apart


def _has_compiler() -> bool:
    try:
        find_compiler()
    except CompilerError:
        return False
    return True


needs_compiler = pytest.mark.skipif(not _has_compiler(), reason="needs a clang++")

families = pytest.mark.parametrize("family", synthetic.FAMILIES)


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Names of programs, field by field."""
    family = synthetic.FAMILIES[draw(st.sampled_from(sorted(synthetic.FAMILIES)))]
    choice: dict[str, str] = {}
    for field, options in family.fields.items():
        values = options(choice) if callable(options) else options
        choice[field] = draw(st.sampled_from(list(values)))
    return family.name_of(choice)


def equal_extents(workload: Workload, preset: str) -> list[int]:
    """For each extent of the arrays, the first one that it equals."""
    arrays = [a for a in workload.arguments(preset) if isinstance(a, np.ndarray)]
    extents = [extent for array in arrays for extent in array.shape]
    return [extents.index(extent) for extent in extents]


def test_a_seed_gives_the_same_programs_again() -> None:
    few = ("transpose", "matvec", "reduction")
    first = list(synthetic.names(3, seed=5, families=few))
    assert first[:2] == list(synthetic.names(2, seed=5, families=few))
    assert first[:1] != list(synthetic.names(1, seed=6, families=few))
    assert [name.partition(".")[0] for name in first] == list(few)


def test_every_program_brings_a_nest_that_none_before_it_has() -> None:
    seen: set[str] = set()
    for workload, fingerprints in synthetic.draw(6, seed=1, families=("transpose", "guarded")):
        assert fingerprints == call.fingerprints(workload, synthetic.PRESETS[0])
        assert fingerprints - seen, workload.name
        seen |= fingerprints
    assert len(seen) >= 6


def test_families_can_be_chosen() -> None:
    found = list(synthetic.names(6, seed=0, families=("transpose", "stencil")))
    assert [name.partition(".")[0] for name in found] == ["transpose", "stencil"] * 3
    with pytest.raises(WorkloadError, match="no synthetic family poetry"):
        next(synthetic.generate(1, families=("poetry",)))


def test_a_family_that_has_no_more_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = synthetic.FAMILIES["transpose"]
    small = replace(whole, work={"dims": ("2",), "layout": ("ji",), "kind": ("copy", "add")})
    monkeypatch.setattr(synthetic, "FAMILIES", {"transpose": small})
    monkeypatch.setattr(registry, "FAMILIES", {"transpose": small})
    assert 2 <= len(list(synthetic.names(10_000, families=("transpose",)))) <= 16


@given(programs())
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
def test_every_choice_has_a_name_and_is_a_workload(name: str) -> None:
    family = synthetic.FAMILIES[name.partition(".")[0]]
    assert family.name_of(family.choice_of(name)) == name
    assert name.replace(".", "").replace("_", "").isalnum(), "names are file names"
    workload = synthetic.load(name)
    assert workload.name == name
    assert tuple(workload.parameters) == synthetic.PRESETS == ("S", "M", "L")
    assert all(size > 0 for sizes in workload.parameters.values() for size in sizes.values())
    arrays = [a for a in workload.arguments("S") if isinstance(a, np.ndarray)]
    assert arrays
    assert sum(array.nbytes for array in arrays) < 64 << 20


@given(st.sampled_from(SIZES), st.sampled_from(sorted(PRESETS)), st.integers(1, 4))
def test_sizes_keep_the_work_alike_and_letters_apart(spread: str, preset: str, depth: int) -> None:
    letters = "ijkl"[:depth]
    found = sizes(Program({"A": letters}, [], letters), spread, PRESETS[preset])
    assert len(set(found.values())) == (1 if spread == "same" else depth)
    work = np.prod([float(found[letter]) for letter in letters])
    assert PRESETS[preset] / 3 < work < 3 * PRESETS[preset]


@given(programs())
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
def test_a_nest_is_the_same_at_all_sizes(name: str) -> None:
    """docc has one symbol for extents that are equal: which are may not depend on the size."""
    workload = synthetic.load(name)
    small, medium = (equal_extents(workload, preset) for preset in ("S", "M"))
    assert small == medium


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("poetry.2.ij", "the families are contraction"),
        ("transpose.2.ij", "no name of a synthetic transpose"),
        ("transpose.2.ik.copy.ij.f8.same", "layout 'ik' is none of ij, ji"),
        ("transpose.2.ij.copy.ij.f2.same", "type 'f2' is none of f8, f4"),
    ],
)
def test_names_of_no_program_are_refused(name: str, complaint: str) -> None:
    with pytest.raises(WorkloadError, match=complaint):
        synthetic.load(name)


def test_the_same_work_can_be_written_in_several_ways() -> None:
    rng = random.Random(0)
    family = synthetic.FAMILIES["contraction"]
    first = family.draw(rng)
    work = {field: first[field] for field in family.work}
    others = [family.draw(rng, work) for _ in range(20)]
    assert {family.label(other) for other in others} == {family.label(first)}
    assert len({family.source(other) for other in others}) > 1


def test_programs_are_files_for_the_tuner_as_well(tmp_path, capsys) -> None:
    main(["--count", "1", "--family", "contraction", "--seed", "2", "--out", str(tmp_path)])
    name = capsys.readouterr().out.strip()
    there, here = load_workload(tmp_path / f"{name}.py"), synthetic.load(name)
    assert inspect.getsource(there.kernel) == inspect.getsource(here.kernel)
    assert there.parameters == here.parameters
    task = PythonTask(here)
    arguments = task.arguments("S")
    assert task.name == name
    assert task.source == f"{name}.py"
    assert set(task.symbols(arguments)) >= {"_s0"}
    assert "root" in task.text(arguments)


@families
def test_references_agree_with_python(family: str) -> None:
    rng, drawing = random.Random(11), synthetic.FAMILIES[family]
    for _ in range(3):
        workload = synthetic.load(drawing.name_of(drawing.draw(rng)))
        if workload.reference is None:
            continue
        small = {size: 12 + 3 * place for place, size in enumerate(workload.parameters["S"])}
        arguments = workload.arguments("S", small)
        plain = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
        workload.kernel(*plain)
        expected = reference_results(workload, arguments)
        assert expected is not None
        assert agree(workload.results(plain), expected) <= tolerance(expected), workload.name


@needs_compiler
@families
def test_docc_compiles_them_and_gets_them_right(family: str) -> None:
    """With threads, which take all that one thread takes; every third family without them too."""
    (workload,) = synthetic.generate(1, seed=6, families=(family,))
    alone = [*synthetic.FAMILIES].index(family) % 3 == 0
    for target in ("sequential", "openmp") if alone else ("openmp",):
        state = check(workload, target, "S")
        assert state.ok, f"{workload.name}: {state.reason}"
