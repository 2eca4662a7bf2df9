"""Arguments that share no element, told to clang."""

from __future__ import annotations

import numpy as np
import pytest

from loopbook.sdfg import frontend
from loopbook.sdfg.build import build_baseline, build_tuned
from loopbook.sdfg.restrict import with_restrict

CODE = """\
#include "f.h"

extern "C" void f(double *a, int64_t *b_1, double c, int64_t _s0)
{
    double *view;
    view = a;
}
"""


def test_pointers_among_the_arguments_are_restricted():
    said = with_restrict(CODE)
    assert "void f(double *__restrict a, int64_t *__restrict b_1, double c, int64_t _s0)" in said
    assert said.count("__restrict") == 2


def test_code_without_a_program_stays():
    assert with_restrict('extern "C" void f(double *a);\n') == 'extern "C" void f(double *a);\n'


def sums(a, s):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s[i] += a[i, j]


@pytest.mark.parametrize("served", [True, False])
def test_only_what_is_served_takes_it_for_granted(tmp_path, served):
    text = frontend.trace(sums, [np.ones((4, 5)), np.zeros(4)])
    build_tuned(text, "sequential", {}, tmp_path / "tuned", vector_maths=served)
    build_baseline(text, "sequential", tmp_path / "plain", vector_maths=served)
    for folder in ("tuned", "plain"):
        sources = [path.read_text() for path in (tmp_path / folder).rglob("*.cpp")]
        assert any("__restrict" in source for source in sources) == served
