"""All refusals of a function, and `loopbook lint`, which runs nothing of a file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from loopbook.cli import main
from loopbook.frontend import lint, refusals

from .kit import data

FILE = '''"""A file that must not be run."""
import numpy as np
import nosuchmodule

raise SystemExit("it was run")

K = 3
PARAMETERS = {"S": {"N": 10}}


def initialize(N):
    return np.linalg.svd(np.ones((N, N)))


def helper(x):
    table = {1, 2}
    return nosuchmodule.f(x)


def kernel(N, A: "float64[N, M]", b):
    q, r = np.linalg.qr(A)
    y = A @ b + helper(q)
    for i in range(N):
        with open("x") as f:
            u = np.fft.fft(b)
    t = A.T @ np.zeros(4)
    return A[0].nosuch
'''


def several(x, y):
    q = np.linalg.qr(x)[0]
    a = q + 1
    u = np.fft.fft(y)
    s = x.sum()
    return s.nosuch, a, u


def typed(A, n):
    return A * n


def lines_of(function, *offsets):
    first = function.__code__.co_firstlineno
    return [first + offset for offset in offsets]


def test_every_refusal_of_a_function_is_found():
    found = refusals(several, [data(3, 3), data(4)])
    assert [e.line for e in found] == lines_of(several, 1, 3, 5)
    assert "np.linalg.qr()" in found[0].what
    assert {Path(e.file).name for e in found} == {Path(__file__).name}
    assert refusals(typed, [data(3), 2]) == []


def test_lint_lists_refusals_of_helpers_and_of_what_follows_a_refusal(tmp_path):
    file = tmp_path / "k.py"
    file.write_text(FILE)
    (kernel,) = lint(file, "kernel")
    found = [(e.line, e.what.split("(")[0].split(":")[0]) for e in kernel.refusals]
    assert found == [
        (16, "Set expressions"),
        (21, "np.linalg.qr"),
        (24, "open"),
        (24, "with statements; leave it to the caller"),
        (25, "np.fft.fft"),
        (26, "a product of shapes that do not fit"),
        (27, "the attribute nosuch of an array"),
    ]
    assert kernel.untyped == ("b",)
    assert [one.name for one in lint(file)] == ["helper", "kernel"]


@pytest.mark.parametrize(
    ("annotation", "count"),
    [
        ("", 0),
        (': "float64[:, :]"', 1),
        (": np.ndarray[tuple[int, int], np.dtype[np.float64]]", 1),
        (': "np.float32[N, 4]"', 1),
        (": np.ndarray", 0),
        (": int", 1),
    ],
)
def test_types_come_from_annotations(tmp_path, annotation, count):
    file = tmp_path / "k.py"
    file.write_text(f"import numpy as np\n\ndef kernel(A{annotation}):\n    return A[0, 0, 0]\n")
    (kernel,) = lint(file)
    assert len(kernel.refusals) == count
    assert (kernel.untyped == ("A",)) == (not count)


def test_sizes_that_nobody_names_are_no_reason(tmp_path):
    file = tmp_path / "k.py"
    text = 'def kernel(A: "float64[{0}]", B: "float64[{1}]"):\n    return A[1:] + B\n'
    file.write_text(text.format(":", ":"))
    assert not lint(file)[0].refusals
    file.write_text(text.format("N", "N"))
    assert len(lint(file)[0].refusals) == 1


def test_native_functions_are_what_a_file_is_about(tmp_path):
    file = tmp_path / "k.py"
    file.write_text(
        "import loopbook\n\ndef other():\n    return {}\n\n"
        "@loopbook.native(strict=True)\ndef kernel(n: int):\n    return n\n"
    )
    assert [one.name for one in lint(file)] == ["kernel"]


def test_the_command_ends_with_one_two_or_nought(tmp_path, capsys):
    bad, good = tmp_path / "bad.py", tmp_path / "good.py"
    bad.write_text(FILE)
    good.write_text('def kernel(A: "float64[:]"):\n    return A + 1\n')
    assert main(["lint", str(good)]) == 0
    assert capsys.readouterr().out == "✓ nothing found in 1 function\n"
    assert main(["lint", f"{bad}:kernel"]) == 1
    told = capsys.readouterr().out.splitlines()
    assert told[1].startswith(f"{bad}:21: np.linalg.qr() has no loops yet")
    assert told[-1].startswith("kernel: only what is certain for any type of b")
    assert main(["lint", f"{bad}:kernel", "--json"]) == 1
    (function,) = json.loads(capsys.readouterr().out)["functions"]
    assert [r["line"] for r in function["refusals"]] == [16, 21, 24, 24, 25, 26, 27]
    broken = tmp_path / "broken.py"
    broken.write_text("def (:")
    for given in (f"{good}:none", str(tmp_path / "none.py"), "good.txt", str(broken)):
        assert main(["lint", given]) == 2
        assert len(capsys.readouterr().err.splitlines()) == 1


def test_explain_prints_the_loops_with_lines_of_the_source(tmp_path, capsys):
    file = tmp_path / "k.py"
    file.write_text(
        'import numpy as np\nPARAMETERS = {"S": {"N": 5}}\n\ndef initialize(N):\n'
        "    return np.ones((N, N)), np.ones(N)\n\ndef kernel(A, x):\n"
        "    y = A @ x\n    return y / y.sum()\n"
    )
    assert main(["explain", str(file), "--lowered"]) == 0
    told = capsys.readouterr().out
    assert "for k0 in range(A.shape[0]):" in told
    assert "# 8" in told
    assert "def outer(A, x):" in told
    assert main(["explain", str(file), "--lowered", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    lines = found["lowered"].splitlines()
    assert all(lines[int(n) - 1].startswith("    ") for n in found["lines"])
    assert set(found["lines"].values()) == {8, 9}


def stubborn(x):
    a = np.partition(x, 2)
    b = np.random.rand(3)
    c = np.random.default_rng(1)
    d = np.fft.rfft(x)
    e = np.argpartition(x, 2)
    g = x.argpartition(2)
    h = set(x)
    return a, b, c, d, e, g, h


def test_refusals_say_what_to_write_instead():
    found = [error.what for error in refusals(stubborn, [data(4)])]
    wanted = ("use np.sort", "draw the numbers before", "draw the numbers before", "call it before",
              "use np.sort", "argpartition", "arrays that")  # fmt: skip
    assert len(found) == len(wanted), found
    for said, hint in zip(found, wanted, strict=True):
        assert hint in said
