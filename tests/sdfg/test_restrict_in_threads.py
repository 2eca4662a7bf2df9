"""What clang is told of arrays in the bodies of loops that threads share."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sdfg_kit import check_library, random, steps

from loopbook.sdfg import frontend
from loopbook.sdfg.build import build_tuned
from loopbook.sdfg.restrict_in_threads import with_restrict_in_threads
from loopbook.sdfg.transformed import served_code


def row_sums(A, s):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            s[i] += A[i, j]


def through_a_temporary(A, s):
    T = A * 2.0
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            s[i] += T[i, j]


GIVEN = [random(7, 9), random(7)]


def code_of(kernel) -> str:
    text = frontend.trace(kernel, GIVEN)
    return served_code(text, "openmp", {0: steps("parallel L0\nsingle")})


@pytest.mark.parametrize("kernel", [row_sums, through_a_temporary])
def test_bodies_know_that_arrays_are_apart(kernel, tmp_path):
    code = code_of(kernel)
    assert re.search(r"\[&\]\(double \*__restrict own_\w+, double \*__restrict own_\w+\)", code)
    assert re.search(r"#pragma omp parallel for .* firstprivate\(A, (s, )?_s0, _s1\)", code)
    recipe = {0: steps("parallel L0\nsingle")}
    text = frontend.trace(kernel, GIVEN)
    built = build_tuned(text, "openmp", recipe, tmp_path, vector_maths=True)
    check_library(kernel, [GIVEN, [np.zeros((7, 9)), np.ones(7)]], built.library)


LOOP = """\
extern "C" void f(double *__restrict A, double *__restrict s, int64_t n)
{
    double *own_A_0;
    double *own_s_0;
    double *v;
%s    #pragma omp parallel for schedule(static) private(own_A_0, own_s_0)
    for(i = 0;i < n;i = 1 + i)
    {
        {
            own_A_0 = &(reinterpret_cast<double *>(A))[0];
        }
        {
            own_s_0 = &(reinterpret_cast<double *>(%s))[0];
        }
        own_s_0[i] = own_A_0[i];
%s    }
}
"""


@pytest.mark.parametrize(
    ("before", "array", "behind", "apart"),
    [
        ("", "s", "", True),
        ("    v = malloc(8 * n);\n", "v", "", True),
        ("    v = &(reinterpret_cast<double *>(A))[n];\n", "v", "", False),  # a view
        ("", "s", "        s[i] = 2.0;\n", False),  # reached by another name, too
        ("", "s", "        if (i) return;\n", False),
    ],
)
def test_what_may_be_a_view_is_not_said_to_be_apart(before, array, behind, apart):
    told = with_restrict_in_threads(LOOP % (before, array, behind))
    assert ("[&](" in told) == apart
    assert "firstprivate(A, " in told


def test_what_a_loop_sets_is_not_handed_over():
    told = with_restrict_in_threads(LOOP % ("", "s", "        n = 3;\n"))
    assert "firstprivate(A, s)" in told


def test_code_for_one_thread_stays():
    code = LOOP.replace("#pragma omp parallel for", "// none:") % ("", "s", "")
    assert with_restrict_in_threads(code) is code
