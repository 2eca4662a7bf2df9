"""The files that images are made of. No image is built here: that takes Docker."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

FILES = ["Dockerfile", "examples/kubernetes/Dockerfile"]

every = pytest.mark.parametrize("name", FILES)


def instructions(name: str, word: str) -> list[str]:
    """What stands behind a word, with continued lines as one."""
    text = (ROOT / name).read_text().replace("\\\n", " ")
    return [line.removeprefix(word).strip() for line in text.splitlines() if line.startswith(word)]


@every
def test_hadolint_has_nothing_to_say(name: str):
    linter = shutil.which("hadolint", path=sysconfig.get_path("scripts"))
    if linter is None:
        pytest.skip("hadolint is not installed")
    done = subprocess.run([linter, ROOT / name], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


@every
def test_what_it_copies_is_there_and_let_in(name: str):
    let_in = (ROOT / f"{name}.dockerignore").read_text()
    sources = [
        source
        for line in instructions(name, "COPY ")
        if not line.startswith("--from")
        for source in line.split()[:-1]
    ]
    assert len(sources) >= 5
    for source in sources:
        assert (ROOT / source).exists()
        assert f"\n!{source}\n" in let_in


@every
def test_it_runs_as_nobody_special(name: str):
    (user,) = instructions(name, "USER ")
    assert re.search(rf"useradd --create-home --uid {user} ", (ROOT / name).read_text())


@pytest.mark.parametrize(
    ("store", "added"),
    [("", []), ("postgresql://someone@db/name?a=b&c=d", []), ("", ["--workers", "4", "a b"])],
)
def test_its_server_gets_the_book_and_what_is_added(store: str, added: list[str], tmp_path: Path):
    stub = tmp_path / "loopbook"
    stub.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    stub.chmod(0o755)
    (start,) = instructions("Dockerfile", "ENTRYPOINT ")
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}"} | ({"STORE": store} if store else {})
    told = subprocess.check_output([*json.loads(start), *added], env=environment, text=True)
    words = told.splitlines()
    assert words[:5] == ["serve", "--host", "0.0.0.0", "--port", "8080"]
    assert words[5:] == (["--store", store] if store else []) + added


def test_it_is_asked_whether_it_can_answer():
    (check,) = instructions("Dockerfile", "HEALTHCHECK ")
    words = json.loads(check.partition("CMD ")[2])
    assert words[:2] == ["python3", "-c"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode != 0, "nothing listens there"
    assert "refused" in done.stderr or "HTTP Error" in done.stderr
