"""A program with threads and the same with one: the first call finds the fastest, and all calls
compute the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopbook
from loopbook.client import native as native_module
from loopbook.client.variants import fastest
from loopbook.errors import SdfgError


def add_up(A, x):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            A[i, j] = A[i, j] + np.sqrt(x[j])


def choice_of(program):
    """What chooses among the libraries of what was compiled last."""
    last: Any = program.last
    return getattr(last, "_last", last)._fastest


def smoothed(A):
    B = A[1:] + A[:-1]
    return np.sqrt(B * B + 1.0)


@pytest.fixture(autouse=True)
def two_threads(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")


def test_each_call_changes_its_arguments_once():
    program = loopbook.native(add_up, target="openmp")
    for rows in (400, 390, 400):
        A, x = np.zeros((rows, 300)), np.ones(300)
        for calls in range(1, 4):
            program(A, x)
            np.testing.assert_array_equal(A, float(calls))
    choice = choice_of(program)
    assert len(choice._callers) == 2
    assert len(choice._known) == 2  # sizes
    assert {*choice._known.values()} <= {*choice._callers}


def test_array_programs_have_both_too():
    program = loopbook.native(smoothed, target="openmp")
    A = np.random.default_rng(0).random((500, 400))
    for _ in range(3):
        np.testing.assert_allclose(program(A), smoothed(A), rtol=1e-14)
    assert len(choice_of(program)._callers) == 2


def test_one_thread_needs_no_comparison():
    program = loopbook.native(add_up)
    program(np.zeros((400, 300)), np.ones(300))
    assert len(choice_of(program)._callers) == 1


def test_what_takes_long_or_much_memory_is_not_compared(monkeypatch):
    calls, timed = [], fastest._timed
    monkeypatch.setattr(fastest, "_timed", lambda *given: calls.append(given) or timed(*given))
    program = loopbook.native(add_up, target="openmp")
    monkeypatch.setattr(fastest, "LONGEST", 0.0)
    program(np.zeros((400, 300)), np.ones(300))
    assert len(calls) == 1
    monkeypatch.setattr(fastest, "MOST_BYTES", 8)
    program(np.zeros((401, 300)), np.ones(300))
    assert len(calls) == 1
    assert {*choice_of(program)._known.values()} == {choice_of(program).first}


def test_without_the_second_program_there_is_the_first(monkeypatch):
    compile_text = native_module.compile_text

    def failing(text, target, *rest):
        if target == "sequential":
            raise SdfgError("no")
        return compile_text(text, target, *rest)

    monkeypatch.setattr(native_module, "compile_text", failing)
    program = loopbook.native(add_up, target="openmp")
    A = np.zeros((400, 300))
    program(A, np.ones(300))
    np.testing.assert_array_equal(A, 1.0)
    assert len(choice_of(program)._callers) == 1
