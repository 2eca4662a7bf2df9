"""NPBench's programs through docc and loopbook: on programs of our own in NPBench's layout."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import lines, npbench
from benchmarks.npbench_suite import figure, inputs, programs, table
from benchmarks.npbench_suite.compare import difference, moved, within_rounding
from benchmarks.npbench_suite.comparison import Outcome
from benchmarks.npbench_suite.overhead import source
from benchmarks.npbench_suite.systems import versions

SCALE = """
import numpy as np

def scale(a, x, y):
    y[:] = a * x + y
"""

SCALE_DATA = """
import numpy as np

def initialize(N):
    return np.arange(N, dtype=np.float64), np.ones(N)
"""

MEDIAN = """
import numpy as np

def middle(x):
    return np.median(x), x.size
"""

BROKEN = """
def broken(x):
    raise RuntimeError("no such luck")
"""

DATA = """
import numpy as np

def initialize(N):
    return np.arange(N, dtype=np.float64)
"""


def described(name: str, inputs: list[str], outputs: list[str], init: list[str]) -> dict[str, Any]:
    return {
        "benchmark": {
            "name": name,
            "short_name": name,
            "relative_path": f"some/{name}",
            "module_name": name,
            "func_name": name,
            "parameters": {"S": {"N": 32, "a": 2.0}, "M": {"N": 64, "a": 2.0}},
            "init": {"func_name": "initialize", "input_args": ["N"], "output_args": init},
            "input_args": inputs,
            "array_args": init,
            "output_args": outputs,
        }
    }


@pytest.fixture(scope="module")
def checkout(tmp_path_factory) -> Path:
    """In NPBench's layout, a usual program, one that docc does not parse and a broken one."""
    root = tmp_path_factory.mktemp("npbench")
    (root / "bench_info").mkdir()
    for name, takes, outputs, init, code, data in (
        ("scale", ["a", "x", "y"], ["y"], ["x", "y"], SCALE, SCALE_DATA),
        ("middle", ["x"], [], ["x"], MEDIAN, DATA),
        ("broken", ["x"], [], ["x"], BROKEN, DATA),
    ):
        info = json.dumps(described(name, takes, outputs, init))
        (root / "bench_info" / f"{name}.json").write_text(info)
        folder = root / "npbench" / "benchmarks" / "some" / name
        folder.mkdir(parents=True)
        (folder / f"{name}.py").write_text(data)
        (folder / f"{name}_numpy.py").write_text(code)
    return root


def test_programs_are_read_as_npbench_lays_them_out(checkout):
    found = programs.find(checkout)
    assert sorted(found) == ["broken", "middle", "scale"]
    scale = found["scale"]
    a, x, y = scale.arguments("M")
    assert a == 2.0
    assert x.shape == y.shape == (64,)
    assert scale.sizes("M") == {"N": 64}
    assert scale.load("numpy")(a, x, y) is None
    assert y[3] == 7.0
    assert found["middle"].arguments("S")[0].shape == (32,)
    assert versions("numba", scale) == []
    scale.file("numba_np").write_text(SCALE)
    assert versions("numba", scale) == ["numba_np"]
    scale.file("numba_np").unlink()
    with pytest.raises(FileNotFoundError, match="no checkout"):
        programs.find(checkout / "npbench")


def test_numbers_are_npbenchs_with_everything_that_a_run_leaves(checkout):
    scale = programs.find(checkout)["scale"]
    expected = {"x": np.arange(3.0), "y": np.array([1.0, 2.0, np.nan])}

    def wrong(found, same_program=True):
        return difference(scale, expected | found, expected, same_program=same_program)

    assert wrong({}) is None
    assert wrong({"y": np.array([1.0 + 1e-7, 2.0, np.nan])}) is None
    assert wrong({"y": np.array([1.1, 2.0, np.nan])}) == "y: relative error 0.045"
    assert wrong({"y": np.array([1.0, 2.0, 3.0])}) == "y: infinite or undefined numbers elsewhere"
    assert wrong({"y": np.ones(4)}) == "y: shape 4, not 3"
    assert wrong({"y": np.ones(3, np.int64)}) == "y: int64, not float64"
    # docc's undefined number is let pass, an array is not; who wrote a version answers for its
    # outputs only.
    assert wrong({"return 0": np.array(7.0)}) is None
    assert wrong({"return 0": np.ones(3)}) == "return 0 is not there in NumPy's results"
    assert wrong({"x": np.ones(3)}) == "x: relative error 0.63"
    assert wrong({"x": np.ones(3)}, same_program=False) is None
    silent = replace(scale, outputs=())
    found = expected | {"x": np.ones(3)}
    words = difference(silent, found, expected, same_program=False)
    assert words == "x: relative error 0.63"


def test_what_amplifies_rounding_is_not_wrong_by_it():
    expected = {"return 0": np.array([1.0, 2.0]), "n": np.array(3)}
    nudged = [expected | {"return 0": np.array([1.1, 2.1])}, expected]
    changes = [moved(results, expected) for results in nudged]

    def excuse(**found):
        return within_rounding(expected | found, expected, changes)

    assert "changes NumPy's results by 0.06" in str(excuse(**{"return 0": np.array([0.9, 2.1])}))
    assert excuse(**{"return 0": np.array([0.5, 2.0])}) is None
    assert excuse(**{"return 0": np.array([np.nan, 2.0])}) is None
    assert excuse(**{"return 0": np.ones(3)}) is None
    assert excuse(n=np.array(4)) is None
    calm = [moved(expected, expected)] * 2
    assert within_rounding(expected | {"return 0": np.array([1.0, 2.1])}, expected, calm) is None
    values = inputs.nudged([np.ones(100), np.arange(3), 2.0], 1)
    assert 0 < np.abs(values[0] - 1).max() <= np.finfo(float).eps
    assert values[1].tolist() == [0, 1, 2]
    assert values[2] == 2.0


@pytest.mark.long
def test_programs_are_run_checked_and_listed(checkout, tmp_path, capsys):
    core = str(min(os.sched_getaffinity(0)))
    command = [
        *(str(checkout), "--out", str(tmp_path), "--preset", "S", "--cores", core),
        *("--systems", "docc", "loopbook", "--rounds", "1"),
    ]
    assert npbench.main(command) == 1
    said = capsys.readouterr().err
    assert "S 1 broken: left out, NumPy failed: RuntimeError: no such luck" in said
    found = {
        result["program"]: result["systems"] for result in lines.read(tmp_path / "times.jsonl")
    }
    assert found["scale"]["docc"]["status"] == found["scale"]["loopbook"]["status"] == "ok"
    # NumPy is faster on the few elements that there are, and ours may have seen that by then.
    assert found["scale"]["loopbook"]["notes"]["how"] in ("compiled", "python")
    assert found["scale"]["loopbook"]["min_s"] > 0
    assert found["scale"]["loopbook"]["numpy_min_s"] > 0
    assert found["middle"]["docc"]["status"] == "failed"
    text = (tmp_path / "times.md").read_text()
    assert "- middle, docc: failed: " in text
    assert "- broken" in text[text.index("Not run:") :]
    assert npbench.main([*command, "--only", "scale"]) == 2
    assert "--resume" in capsys.readouterr().err
    assert npbench.main([*command, "--only", "scale", "--resume"]) == 0
    assert "1/" not in capsys.readouterr().err


def test_memory_after_many_calls_is_read(checkout, tmp_path):
    command = [str(checkout), "--out", str(tmp_path), "--memory", "--systems", "loopbook"]
    assert npbench.main([*command, "--only", "scale"]) == 0
    (result,) = lines.read(tmp_path / "memory.jsonl")
    resident = result["systems"]["loopbook"]["resident"]
    assert list(resident) == ["10", "30", "100", "300", "1000"]
    assert 0.9 < resident["1000"] / resident["10"] < 1.02
    assert "loopbook: 0 of 1 grow" in (tmp_path / "memory.md").read_text()


def test_an_empty_call_has_the_programs_arguments(checkout):
    scale = programs.find(checkout)["scale"]
    assert source(scale, scale.arguments("S")) == ("def nothing(a, x, y):\n    x[0] = x[0] + 1\n")
    assert source(scale, [1.0, 2.0, 3.0]) == "def nothing(a, x, y):\n    return a + x\n"


def timed(seconds: float, numpy: float, **notes: str) -> dict[str, Any]:
    return {
        "status": "ok",
        **{"min_s": seconds, "median_s": seconds, "first_s": 1.0, "notes": notes},
        **{"numpy_min_s": numpy, "numpy_median_s": numpy},
    }


RESULTS = [
    {
        "program": "one",
        "preset": "M",
        "threads": 1,
        "systems": {
            "numpy": timed(4.0, 4.0),
            "docc": timed(2.0, 4.0),
            # Measured once more, when the machine was half as fast.
            "loopbook": timed(2.0, 8.0, how="compiled"),
        },
    },
    {
        "program": "two",
        "preset": "M",
        "threads": 1,
        "systems": {
            "numpy": timed(1.0, 1.0),
            "docc": {"status": "wrong", "reason": "y: relative error 0.5"},
            "loopbook": timed(2.0, 1.0, how="python", why="two_numpy.py:3: no np.median; loop"),
        },
    },
]


def row(text: str, start: str) -> list[str]:
    line = next(line for line in text.splitlines() if line.startswith(f"| {start}"))
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_table_of_times_is_over_numpy_in_the_same_contest():
    text = table.times(RESULTS, ["one", "two", "three"])
    assert row(text, "one") == ["one", "4.00 s", "2.00×", "4.00×", "2.00×"]
    assert row(text, "two") == ["two", "1.00 s", "wrong", "0.50× (python)", "–"]
    # sqrt(4 × 0.5)
    assert row(text, "**geometric mean**")[2:] == ["2.00× (1 of 2)", "1.41×", "2.00× (1 of 2)"]
    assert row(text, "docc") == ["docc", "1", "1", "0", "0"]
    assert row(text, "loopbook") == ["loopbook", "2", "0", "0", "1"]
    assert "- two, loopbook: 0.50×" in text
    assert "- two, docc: wrong: y: relative error 0.5" in text
    assert text.endswith("Not run:\n\n- three")


def test_table_of_coverage_puts_refusals_of_one_construct_together():
    text = table.coverage(RESULTS)
    assert text.startswith("1 of 2 run compiled with loopbook, 0 are wrong; docc takes")
    assert row(text, "no np.median") == ["no np.median", "1", "two"]
    assert table.construct("/a/x.py:12: a[b] = c; loop") == "a[b] = c"


def test_table_of_memory_says_what_grows():
    resident = {"10": 100_000_000, "1000": 103_960_000}
    slow = {"10": 200_000_000, "300": 201_450_000}
    systems = {
        "docc": {"status": "ok", "resident": resident},
        "loopbook": {"status": "ok", "resident": slow},
    }
    text = table.memory([{"program": "one", "systems": systems}])
    assert row(text, "one") == ["one", "1.040 (4e+03 B)", "1.007 (5e+03 B) after 300"]
    assert "docc: 1 of 1 grow by more than 2 % (one); 1 by more than 1 MiB (one)." in text
    assert "loopbook: 0 of 1 grow by more than 2 %; 1 by more than 1 MiB (one)." in text


def test_table_of_first_calls_says_what_we_add():
    docc = {"status": "ok", "first_s": 0.5, "warm_s": 1e-3, "overhead_s": 2e-5, "notes": {}}
    ours = docc | {"overhead_s": 2.3e-5, "notes": {"translate_s": 0.1, "compare_s": 0.1}}
    text = table.first_calls([{"program": "one", "systems": {"docc": docc, "loopbook": ours}}])
    assert row(text, "one")[-3:] == ["20.0", "23.0", "+3.0"]
    assert "takes over 0.15 s for: one 0.20 s." in text
    assert "A call costs at most 3.0 µs more than docc's (one)." in text


def test_figure_is_npbenchs(tmp_path):
    pytest.importorskip("matplotlib")
    figure.draw(RESULTS, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")
    gains = (2.31, 0.25, 1.0, 2500)
    assert [figure.arrow(gain) for gain in gains] == ["↑2.3", "↓4.0", "1.0", "↑2.5k"]


def test_who_was_not_timed_against_numpy_has_no_times():
    outcome = Outcome(times=[1.0], version="numba_np")
    assert outcome.to_json() == {"status": "ok", "version": "numba_np"}
