"""Runs the command line inside the tests' process or as a program of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from loopbook.cli import main
from loopbook.cli.answers import schema_of
from loopbook.cli.schemas import commands

PRODUCT = """\
import numpy as np

PARAMETERS = {"S": {"N": 24}, "M": {"N": 40}}


def initialize(N):
    random = np.random.default_rng(N)
    return {"left": random.random((N, N)), "right": random.random((N, N)), "out": np.zeros((N, N))}


def kernel(left, right, out):
    for col in range(out.shape[1]):
        for mid in range(left.shape[1]):
            for row in range(out.shape[0]):
                out[row, col] += left[row, mid] * right[mid, col]
"""
"""A workload file: a matrix product with its loops in a bad order."""

ATTENTION = """\
import numpy as np

PARAMETERS = {"S": {"N": 24, "D": 8}, "M": {"N": 40, "D": 12}}


def initialize(N, D):
    random = np.random.default_rng(N)
    return {"Q": random.random((N, D)), "K": random.random((N, D)), "V": random.random((N, D))}


def kernel(Q, K, V):
    scores = np.exp(Q @ K.T)
    return (scores / scores.sum(axis=1, keepdims=True)) @ V
"""
"""A workload file of arrays, of which docc's front end loses the transpose."""


PROGRESS = re.compile(r"\[[\d:]+\] ")
"""How a line begins that tells what a command is doing."""


@dataclass(frozen=True)
class Answer:
    """What a command left behind.

    Attributes:
        err: what it said on stderr, but for its progress.
    """

    code: int
    out: str
    err: str

    @classmethod
    def of(cls, code: int, out: str, err: str) -> Answer:
        """The answer of a command that said `err` with its progress."""
        lines = err.splitlines(keepends=True)
        return cls(code, out, "".join(line for line in lines if not PROGRESS.match(line)))

    @property
    def document(self) -> Any:
        """The JSON document that stdout is, on one line."""
        assert self.out.count("\n") == 1, self
        return json.loads(self.out)

    def good(self) -> Answer:
        """Itself, after checking that all went well and nothing was complained about."""
        assert (self.code, self.err) == (0, "")
        return self

    def refusal(self) -> str:
        """The message, after checking that there is one line of it, exit code 2 and no output."""
        assert self.code == 2, self
        assert self.out == ""
        assert self.err.startswith("loopbook: ")
        assert self.err.count("\n") == 1
        assert self.err.endswith("\n")
        return self.err.removeprefix("loopbook: ").rstrip("\n")


@cache
def validator(command: str) -> Any:
    """Of what a command prints with ``--json``."""
    from jsonschema import Draft202012Validator

    return Draft202012Validator(schema_of(commands()[command], command))


def check_document(words: Sequence[str], out: str) -> None:
    """A command run with ``--json`` prints one document, which its schema allows.

    Args:
        words: of the command line.
    """
    names = {" ".join(words[:count]) for count in (1, 2)}
    (command,) = names & commands().keys()
    assert out.count("\n") == 1, out
    validator(command).validate(json.loads(out))


class Shell:
    """The command line with a home folder of its own; its documents are checked."""

    def __init__(self, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capfd = capfd

    def __call__(self, *words: object) -> Answer:
        self._capfd.readouterr()
        given = [str(word) for word in words]
        code = main(given)
        out, err = self._capfd.readouterr()
        if "--json" in given and out:
            check_document(given, out)
        return Answer.of(code, str(out), str(err))

    def file(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text)
        return path


def surroundings(folder: Path) -> dict[str, str]:
    """Environment variables that keep loopbook inside `folder`."""
    return {
        "HOME": str(folder / "home"),
        "XDG_DATA_HOME": str(folder / "data"),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "LOOPBOOK_STARTER": "",
        "LOOPBOOK_BOOK": str(folder / "own.db"),
        "LOOPBOOK_LIBRARIES": "0",  # products are what books are asked about
        "OMP_NUM_THREADS": "1",
        "COLUMNS": "80",
    }


def make_shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Shell:
    for name, value in surroundings(tmp_path).items():
        monkeypatch.setenv(name, value)
    return Shell(tmp_path, capfd)


def run_program(
    folder: Path,
    words: Sequence[object],
    *,
    before: str = "",
    environment: Mapping[str, str] | None = None,
) -> Answer:
    """``loopbook WORDS`` as a program of its own.

    Args:
        before: Python code that is run first, in the same process.
    """
    code = f"import sys\n{before}\nfrom loopbook.cli import main\nsys.exit(main(sys.argv[1:]))\n"
    done = _python(folder, code, [*map(str, words)], environment)
    return Answer.of(done.returncode, done.stdout, done.stderr)


_EACH = """\
import json, os, sys, tempfile
said = os.fdopen(os.dup(1), "w")
files = [tempfile.TemporaryFile("w+") for _ in range(2)]
for number, file in enumerate(files, 1):
    os.dup2(file.fileno(), number)
{before}
from loopbook.cli import main
from loopbook.cli.answers import schema_of
from loopbook.cli.schemas import commands
for words in json.loads(sys.argv[1]):
    for file in files:
        file.truncate(0)
        file.seek(0)
    code = main(words)
    sys.stdout.flush()
    sys.stderr.flush()
    for file in files:
        file.seek(0)
    print(json.dumps([code, *(file.read() for file in files)]), file=said)
said.close()
"""


def run_programs(
    folder: Path,
    *commands: Sequence[object],
    before: str = "",
    environment: Mapping[str, str] | None = None,
) -> list[Answer]:
    """`run_program` for one command after the other in the same process: to start takes it a second
    or two."""
    words = json.dumps([[str(word) for word in command] for command in commands])
    done = _python(folder, _EACH.replace("{before}", before), [words], environment)
    assert (done.returncode, done.stderr) == (0, ""), done
    return [Answer.of(*json.loads(line)) for line in done.stdout.splitlines()]


def _python(
    folder: Path, code: str, words: Sequence[str], environment: Mapping[str, str] | None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *words],
        capture_output=True,
        text=True,
        env={**os.environ, **surroundings(folder), **(environment or {})},
        timeout=600,
        check=False,
    )
