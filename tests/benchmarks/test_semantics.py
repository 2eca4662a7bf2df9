"""The sweep that compares ``@loopbook.native`` with Python: its programs, and a few runs of it."""

from __future__ import annotations

from benchmarks import semantics
from benchmarks.semantic_programs import programs


def test_there_are_enough_programs_and_no_two_alike():
    found = programs()
    assert len(found) >= 300
    assert len({program.name for program in found}) == len(found)
    bodies = [program.text.partition("\n")[2] for program in found]
    assert len({(body, p.arrays) for body, p in zip(bodies, found, strict=True)}) == len(found)
    assert len({program.group for program in found}) >= 15


def test_a_few_runs_are_right():
    for result in semantics.quick(2):
        assert not result["crash"], result
        assert not result["wrong"], result
        assert result["calls"] >= 6


def test_what_is_wrong_is_told(monkeypatch):
    import loopbook

    class Off:
        last = None

        def __init__(self, func, target):
            self.func = func

        def __call__(self, *args):
            answer = self.func(*args)
            args[0][...] += 1
            return answer

    monkeypatch.setattr(loopbook, "native", Off)
    program = next(p for p in programs() if p.group == "stencils")
    result = semantics.result_of(program, "float64", "sequential", 0)
    assert len(result["wrong"]) >= 6
    assert "argument 0" in result["wrong"][0]


def test_a_crash_is_a_result(monkeypatch):
    import os

    import loopbook

    monkeypatch.setattr(loopbook, "native", lambda func, target: os.abort())
    result = semantics.result_of(programs()[0], "int32", "openmp", 0)
    assert "SIGABRT" in result["crash"]
    assert "| **all** | 1 | 1 | 0 | 0 | 1 | 0 | 1 |" in semantics.table([result])
