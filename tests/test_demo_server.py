"""The demo server: canned answers for the unmodified client, failures on demand, nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from server_kit import Served

from loopbook.demo_server.answers import FOLDER, Answers
from loopbook.errors import InputError

from .test_imports import loaded_by

EXAMPLES = Path(__file__).parent.parent / "examples"
PROGRAMS = ("contraction", "stencil", "transposed_chain")


@pytest.fixture(scope="module")
def demo() -> Iterator[Served]:
    server = Served("", "--late", 1, command="demo-server")
    yield server
    server.stop()


CLIENT = """
import sys, numpy
from loopbook.toolchain import compiler
compiler.activate()
from docc.python import native
from loopbook.workloads.workload import load_workload
for name in sys.argv[1:]:
    workload = load_workload(name)
    sides = []
    for remote in (False, True):
        args = workload.arguments("S")
        program = native(target="sequential", remote_tuning=remote)(workload.kernel)
        program(*args)
        sides.append((args, program.last_sdfg.to_cpp()))
    (one, own), (two, tuned) = sides
    pairs = [(a, b) for a, b in zip(one, two) if isinstance(a, numpy.ndarray)]
    assert all(numpy.allclose(a, b) for a, b in pairs), "wrong numbers"
    print("same" if own == tuned else "other")
"""


def compiled(url: str, *programs: str) -> list[str]:
    """Whether the unmodified client's code is docc's own, for each program."""
    done = subprocess.run(
        [sys.executable, "-c", CLIENT, *(str(EXAMPLES / f"{name}.py") for name in programs)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env={**os.environ, "RPC_SERVER": url, "DOCC_ACCESS_TOKEN": "any"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_the_unmodified_client_gets_its_canned_answers(demo):
    assert compiled(f"{demo.url}/docc", *PROGRAMS) == ["other"] * 3


@pytest.mark.parametrize("mode", ["wrong", "garbage", "401", "500", "cut"])
def test_the_unmodified_client_survives_every_failure(demo, mode):
    assert compiled(f"{demo.url}/mode/{mode}/docc", "contraction") == ["same"]


def test_answers_by_name_and_in_every_mode(demo):
    with httpx.Client(base_url=f"{demo.url}/docc", timeout=300) as client:
        for name in PROGRAMS:
            answer = client.post("/transfertune_sdfg", headers={"X-Loopbook-Answer": name})
            assert answer.json() == json.loads((FOLDER / f"{name}.json").read_text())["answer"]
        picked = {"X-Loopbook-Answer": "stencil"}
        begun = time.monotonic()
        late = client.post("/transfertune", headers=picked | {"X-Loopbook-Mode": "late"})
        assert time.monotonic() - begun >= 1
        assert "sdfg_result" in late.json()
        for mode, status in (("401", 401), ("500", 500), ("wrong", 200), ("none", 404)):
            answer = client.post("/transfertune", headers=picked | {"X-Loopbook-Mode": mode})
            assert answer.status_code == status
        with pytest.raises(httpx.RemoteProtocolError):
            client.post("/transfertune", headers=picked | {"X-Loopbook-Mode": "cut"})
        unknown = client.post("/transfertune_sdfg", json={"sdfg": {"name": "unknown"}})
        assert unknown.json() == {"error": "No match found"}
        assert client.post("/transfertune_session", json={}).json() == {"session_id": "demo"}


TRICKS = [
    "../answers/stencil",
    "..",
    ".",
    "",
    "/etc/passwd",
    "stencil.json",
    "stencil/../stencil",
    "%2e%2e%2fsecret",
    "link",
    "folder",
    "a" * 65,
    "stencil\\..\\secret",
    "secret",
]


def test_no_name_leads_out_of_the_folder(tmp_path):
    folder = tmp_path / "answers"
    folder.mkdir()
    told = json.dumps({"program": "p", "answer": {"secret": True}})
    (tmp_path / "secret.json").write_text(told)
    (folder / "link.json").symlink_to(tmp_path / "secret.json")
    (folder / "folder.json").mkdir()
    (folder / "good.json").write_text(told)
    answers = Answers(folder)
    assert answers.names() == ["good"]
    assert answers.named("good") == {"secret": True}
    for name in [*TRICKS, "..\x00", "ｓtencil", "good\n"]:
        with pytest.raises(InputError):
            answers.named(name)
        with pytest.raises(InputError):
            answers.keep(name + "/", {}, {}, "")
    assert sorted(os.listdir(tmp_path)) == ["answers", "secret.json"]


def test_tricks_by_header_and_path_are_refused(demo):
    with httpx.Client(base_url=demo.url, timeout=300) as client:
        for name in TRICKS:
            answer = client.post("/docc/transfertune_sdfg", headers={"X-Loopbook-Answer": name})
            assert answer.status_code == 404, name
            assert set(answer.json()) == {"error"}
        for path in ("/answers/stencil.json", "/..%2f..%2fetc/passwd", "/mode/../docc/x"):
            assert client.get(path).status_code in (404, 405)


@settings(max_examples=60)
@given(st.text(max_size=80))
def test_any_name_is_an_answer_of_the_folder_or_refused(name):
    answers = Answers(FOLDER)
    if name in PROGRAMS:
        assert answers.named(name)
        return
    with pytest.raises(InputError):
        answers.named(name)


def test_what_a_real_server_answers_is_recorded(tmp_path, demo):
    recorder = Served("", "--folder", tmp_path, "--upstream", f"{demo.url}", command="demo-server")
    try:
        assert compiled(f"{recorder.url}/docc", "contraction") == ["other"]
        (file,) = tmp_path.glob("*.json")
        assert str(EXAMPLES) not in file.read_text()
        assert Answers(tmp_path).names() == [file.stem]
    finally:
        recorder.stop()
    again = Served("", "--folder", tmp_path, command="demo-server")
    try:
        assert compiled(f"{again.url}/docc", "contraction") == ["other"]
    finally:
        again.stop()


def test_it_needs_no_book_no_torch_and_no_compiler():
    banned = {"docc", "torch", "faiss", "sqlalchemy", "scipy", "prometheus_client"}
    assert loaded_by("import loopbook.demo_server.app, loopbook.server.run").isdisjoint(banned)
