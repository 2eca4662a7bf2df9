"""What a type checker knows of the public names, as pyright says."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

FILE = Path(__file__).with_name("typed.py")
ROOT = FILE.parents[2]


@pytest.mark.long
def test_types_are_precise(tmp_path):
    """Every ``assert_type`` of the file holds, and every line marked WRONG is an error."""
    copy = tmp_path / FILE.name  # ours is left out of what pyright looks at, for its errors
    copy.write_text(FILE.read_text())
    (tmp_path / "pyrightconfig.json").write_text(json.dumps({"extraPaths": [str(ROOT)]}))
    pyright = Path(sys.executable).with_name("pyright")
    command = [str(pyright), "--pythonpath", sys.executable, "--outputjson", str(copy)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=600)
    errors = [
        one for one in json.loads(done.stdout)["generalDiagnostics"] if one["severity"] == "error"
    ]
    wrong = {
        number
        for number, line in enumerate(FILE.read_text().splitlines())
        if line.endswith("# WRONG")
    }
    assert len(wrong) == 6
    assert {one["range"]["start"]["line"] for one in errors} == wrong, errors


def test_the_package_says_that_it_is_typed():
    assert files("loopbook").joinpath("py.typed").is_file()
