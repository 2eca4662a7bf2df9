"""The comparison with other systems: C kernels, workers, tables."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from benchmarks import lines, peers
from benchmarks.systems import c_suite, table
from benchmarks.systems.base import Unsupported
from benchmarks.systems.comparison import Setting, comparison
from benchmarks.systems.registry import SYSTEMS, Entry
from loopbook.toolchain.compiler import find_compiler
from loopbook.toolchain.run import compare
from loopbook.workloads import polybench

BAD = "benchmarks_bad_systems"


@pytest.fixture(scope="module")
def runners() -> dict[str, c_suite.Runner | Exception]:
    """Every kernel at MINI through clang, compiled side by side."""
    find_compiler()
    # Python 3.11 cannot parse in two threads at once.
    workloads = {name: polybench.load(name) for name in polybench.names()}

    def make(name: str) -> c_suite.Runner | Exception:
        workload = workloads[name]
        try:
            return c_suite.Clang("clang", ("-O1",)).compile(
                name, workload, workload.arguments("MINI"), 1
            )
        except (Unsupported, ValueError) as error:
            return error

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(polybench.names(), pool.map(make, polybench.names()), strict=True))


@pytest.mark.parametrize("name", polybench.names())
def test_c_kernel_computes_what_the_python_kernel_does(name, runners):
    runner = runners[name]
    if isinstance(runner, Exception):
        raise runner
    workload = polybench.load(name)
    ours, theirs = workload.arguments("MINI"), workload.arguments("MINI")
    runner(ours)
    workload.kernel(*theirs)
    compare(workload.results(ours), workload.results(theirs))


def test_c_kernels_are_polybenchs_and_no_others():
    assert {file.stem for file in c_suite.SOURCES.glob("*.c")} == set(polybench.names())


def test_polly_compiles_and_parallelises():
    workload = polybench.load("gemm")
    ours, theirs = workload.arguments("SMALL"), workload.arguments("SMALL")
    c_suite.WITH_POLLY.compile("gemm", workload, workload.arguments("SMALL"), 2)(ours)
    assert workload.reference is not None
    workload.reference(*theirs)
    compare(workload.results(ours), workload.results(theirs))


def test_prototype_is_read_and_gives_the_sizes():
    parameters = c_suite.prototype("void kernel(double alpha,\n  int A[N][M], double x[M]) {\n}")
    assert [(p.name, p.ctype, p.extents) for p in parameters] == [
        ("alpha", "double", ()),
        ("A", "int", ("N", "M")),
        ("x", "double", ("M",)),
    ]
    values = {"T": 3, "alpha": 1.5, "A": np.zeros((2, 4), np.int32), "x": np.zeros(4)}
    assert c_suite.sizes(parameters, values) == {"T": 3, "N": 2, "M": 4}
    with pytest.raises(ValueError, match="M is 4 and 5"):
        c_suite.sizes(parameters, values | {"x": np.zeros(5)})
    with pytest.raises(ValueError, match="A is no row-major array of int"):
        c_suite.sizes(parameters, values | {"A": np.zeros((2, 4))})
    with pytest.raises(ValueError, match="cannot read the parameter 'float x'"):
        c_suite.prototype("void kernel(float x) {}")


def test_code_that_does_not_compile_is_unsupported(tmp_path):
    file = tmp_path / "broken.c"
    file.write_text("void kernel(void) { nonsense }\n")
    with pytest.raises(Unsupported, match=r"error: .*nonsense"):
        c_suite.build([file], {}, ())


BAD_SYSTEMS = """
import os, time
from benchmarks.systems.base import Unsupported

class Bad:
    def __init__(self, run, refuses=False):
        self.name, self.run, self.refuses = "bad", run, refuses
    def compile(self, kernel, workload, arguments, threads):
        if self.refuses:
            raise Unsupported("cannot take " + kernel)
        return self.run

WRONG = Bad(lambda arguments: None)
CRASHES = Bad(lambda arguments: os.abort())
HANGS = Bad(lambda arguments: time.sleep(60))
RAISES = Bad(lambda arguments: {}["key"])
REFUSES = Bad(None, refuses=True)
"""


def test_no_system_is_dropped_silently(tmp_path, monkeypatch):
    (tmp_path / f"{BAD}.py").write_text(BAD_SYSTEMS)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    kinds = {
        "WRONG": "wrong",
        "CRASHES": "crashed",
        "HANGS": "timeout",
        "RAISES": "failed",
        "REFUSES": "unsupported",
    }
    entries = [Entry(kind, kind, BAD, kind) for kind in kinds]
    entries += [Entry("absent", "absent", BAD, requires="no_such_package"), SYSTEMS["numpy"]]
    core = min(os.sched_getaffinity(0))
    setting = Setting("gemm", "MINI", 1, (core,), rounds=2, limit=3.0)
    outcomes = comparison(entries, setting)
    assert {name: outcomes[name].status for name in kinds} == kinds
    assert outcomes["absent"].status == "missing"
    assert outcomes["REFUSES"].reason == "cannot take gemm"
    assert "SIGABRT" in outcomes["CRASHES"].reason
    assert outcomes["RAISES"].reason == "KeyError: 'key'"
    assert outcomes["numpy"].status == "ok"
    assert len(outcomes["numpy"].times) >= 2


def result(kernel: str, threads: int, **seconds: float | str) -> table.Result:
    systems = {
        name: {
            "status": "ok",
            "min_s": taken,
            "median_s": taken,
            "runs": 3,
            "busy": float(threads),
            "compile_s": 1.0,
        }
        if isinstance(taken, float)
        else {"status": taken, "reason": "a reason"}
        for name, taken in seconds.items()
    }
    return {"kernel": kernel, "threads": threads, "preset": "LARGE", "systems": systems}


RESULTS = [
    result("gemm", 1, docc=8.0, numpy=1.0, clang=4.0, polly="crashed", loopbook=2.0),
    result("mvt", 1, docc=2.0, numpy=4.0, clang=2.0, polly=0.5, loopbook=0.25),
    result("gemm", 2, docc=4.0, numpy=1.0, clang=4.0, polly=2.0, loopbook=1.0),
]


def row(text: str, start: str) -> list[str]:
    (line,) = [line for line in text.splitlines() if line.startswith(f"| {start}")][:1]
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_table_has_times_speedups_and_means():
    text = table.markdown(RESULTS, "Title", "A machine.")
    head, gemm, mvt = row(text, "kernel"), row(text, "gemm"), row(text, "mvt")
    assert head[2:7] == ["docc", "numpy", "clang", "polly", "loopbook"]
    assert gemm[2:] == [
        *("8.00 s (1.00×)", "1.00 s (8.00×)", "4.00 s (2.00×)", "crashed", "2.00 s (4.00×)"),
        *("4.00 s", "numpy 1.00 s", "0.50×"),
    ]
    assert mvt[-3:] == ["500 ms", "polly 500 ms", "2.00×"]
    # Means of speedups over docc: sqrt(8 / 2) for NumPy, sqrt(4 * 8) for loopbook.
    assert row(text, "**geometric mean**")[2:] == [
        *("1.00×", "2.00×", "1.41×", "4.00× (1 of 2)", "5.66×", "2.83×", "", "1.00×"),
    ]
    assert "loopbook over clang: 4.00×; over the better of clang and Polly" in text
    assert "kernel by kernel: 2.00×" in text
    assert "- gemm, polly: crashed: a reason" in text
    assert "- gemm: 0.50× numpy" in text
    assert "- mvt" not in text
    scaling = text[text.index("## loopbook over its own single thread") :]
    assert row(scaling, "gemm") == ["gemm", "2", "2.00×", "2.00"]
    assert row(scaling, "**1 parallel") == ["**1 parallel ones**", "", "2.00×", ""]


def test_table_without_ours_has_no_columns_about_us():
    text = table.markdown([result("gemm", 1, docc=8.0, clang=4.0)], "Title", "A machine.")
    assert row(text, "kernel")[2:] == ["docc", "clang", "clang/Polly best", "best peer"]
    assert "loopbook" not in text


def test_figure_shows_every_panel(tmp_path):
    pytest.importorskip("matplotlib")
    from benchmarks.systems.figure import draw

    draw(RESULTS, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.long
def test_a_killed_run_goes_on(tmp_path, capsys):
    core = str(min(os.sched_getaffinity(0)))
    command = [
        *("--out", str(tmp_path), "--preset", "MINI", "--threads", "1", "--cores", core),
        *("--systems", "docc", "--rounds", "2", "--only", "trisolv", "atax"),
    ]
    file = tmp_path / "results.jsonl"
    assert peers.main([*command[:-1]]) == 0
    first = file.read_text()
    file.write_text(first + first[: len(first) // 2])
    assert peers.main(command) == 2
    assert "--resume" in capsys.readouterr().err
    assert peers.main([*command, "--resume"]) == 0
    said = capsys.readouterr().err
    assert "1/1 atax MINI 1t" in said
    assert "about 0 min left" in said
    assert [entry["kernel"] for entry in lines.read(file)] == ["trisolv", "atax"]
    assert file.read_text().startswith(first)
    text = (tmp_path / "table.md").read_text()
    for kernel in ("trisolv", "atax"):
        assert re.search(rf"^\| {kernel} \| MINI \| [\d.]+ ms \(1.00×\)", text, re.MULTILINE)


def test_bad_options_are_refused(tmp_path):
    command = [sys.executable, peers.__file__, "--out", str(tmp_path), "--threads", "4000"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert "number of cores" in done.stderr
