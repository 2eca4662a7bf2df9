"""The BLAS of compiled programs has kernels for the processor that it finds, or is told whose."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from loopbook.toolchain import blas

pytestmark = pytest.mark.skipif(not blas.core(blas.load()), reason="only OpenBLAS is told")

WIDE = "fpu sse2 avx avx2 fma avx512f avx512bw avx512dq avx512vl"


@pytest.mark.parametrize(
    ("taken", "flags", "better"),
    [
        ("Prescott", WIDE, "SkylakeX"),
        ("Prescott", "sse2 avx avx2 fma", "Haswell"),
        ("Nehalem", "sse2 avx avx2 fma", "Haswell"),
        ("Prescott", "sse2 ssse3", ""),
        ("Cooperlake", WIDE, ""),
        ("Zen", "avx2 fma", ""),
        ("Zen", WIDE, "SkylakeX"),
        ("Haswell", WIDE, "SkylakeX"),
        ("SapphireRapids", WIDE, ""),
        ("", WIDE, ""),
    ],
)
def test_cores_of_old_are_replaced_by_what_the_processor_can_do(taken, flags, better):
    assert blas.better_core(taken, flags.split()) == better


def said(code: str, **environment: str) -> list[str]:
    told = {k: v for k, v in os.environ.items() if k != blas.VARIABLE} | environment
    done = subprocess.run(
        [sys.executable, "-c", code], env=told, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def test_what_openblas_is_told_it_takes_and_others_are_not_told():
    # Haswell's, which any processor of these tests' machines can run, in place of its own
    code = (
        "import os; from loopbook.toolchain import blas; blas._better = lambda: 'Haswell';"
        "print(blas.core(blas.load()), os.environ.get(blas.VARIABLE))"
    )
    assert said(code) == ["Haswell", "None"]


def test_what_a_user_has_chosen_stays():
    code = (
        "from loopbook.toolchain import blas; blas._better = lambda: 'Haswell';"
        "print(blas.core(blas.load()))"
    )
    assert said(code, OPENBLAS_CORETYPE="Nehalem") == ["Nehalem"]


def test_a_child_finds_out_once_and_later_processes_read_it(tmp_path):
    code = (
        "from loopbook.toolchain import blas, scratch; import pathlib;"
        "scratch.kept = lambda: pathlib.Path({!r});"
        "blas._taken = lambda: {!r}; print('core', blas._better())"
    )
    can_wide = said(code.format(str(tmp_path), "Prescott"))[1:]
    assert can_wide in (["SkylakeX"], ["Haswell"], [])
    (note,) = tmp_path.iterdir()
    assert note.read_text() == "".join(can_wide)
    note.write_text("Zen")
    assert said(code.format(str(tmp_path), "Prescott")) == ["core", "Zen"]
