"""tune and seed: what ends in the book, what a second call does, what is refused."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import client_kit as kit
import pytest
from cli_kit import ATTENTION, PRODUCT, Shell, make_shell, surroundings
from wait_kit import wait_until

from loopbook.recipes.book import Book
from loopbook.sdfg import program


@pytest.fixture
def shell(tmp_path, monkeypatch, capfd) -> Shell:
    return make_shell(tmp_path, monkeypatch, capfd)


def on_a_terminal(folder: Path, words: list[str]) -> list[Any]:
    """The JSON that a command prints into a file while its stderr is a terminal."""
    controller, terminal = os.openpty()

    def look() -> None:  # a terminal that nobody looks at takes 4 KiB, and then no more
        with contextlib.suppress(OSError):  # what reading says once it is closed
            while os.read(controller, 4096):
                pass

    reader = threading.Thread(target=look)
    reader.start()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "loopbook", *words],
            stdout=subprocess.PIPE,
            stderr=terminal,
            env={**os.environ, **surroundings(folder), "TERM": "xterm"},
            timeout=600,
            check=True,
        )
    finally:
        os.close(terminal)
        reader.join()
        os.close(controller)
    return json.loads(done.stdout)


def test_a_tuned_workload_is_found_again(shell):
    workload = shell.file("mine.py", PRODUCT)
    words = ["tune", workload, "--trials", "3", "--target", "sequential", "--preset", "S"]
    (told,) = shell(*words, "--json").good().document
    assert (told["kernel"], told["target"], told["error"]) == ("mine", "sequential", "")
    assert set(told["speedups"]) == {"S"}
    (record,) = told["records"]
    assert (record["nest"], record["speedup"] > 0) == ("mine:0", True)
    with Book.open(shell.folder / "own.db") as book:
        kept = book.record(record["record"])
        assert kept is not None
        assert kept.measurements[0].sizes == {"N": 24}
        assert kept.provenance.trials == 3
    near = shell("nearest", workload, "--json").good().document["nests"][0]["neighbours"]
    assert (near[0]["nest"], near[0]["distance"]) == ("mine:0", 0.0)
    log = (shell.folder / "own-trials" / "mine-sequential.jsonl").read_text().splitlines()
    assert sorted(json.loads(line)["number"] for line in log[1:]) == [0, 1, 2]

    again = shell(*words).good()  # the log has all trials: nothing is searched again
    assert again.out.startswith("mine sequential  3 candidates")
    assert f"record {record['record'][:12]}" in again.out or "No recipe was faster" in again.out
    assert re.search(r"records +0 new, 1 known already", again.out)
    with Book.open(shell.folder / "own.db") as book:
        assert len(book) == 1, "to find the same once more is nothing new"
    assert (shell.folder / "own-trials" / "mine-sequential.jsonl").read_text().splitlines() == log


def test_a_picture_that_cannot_be_drawn_is_refused_before_the_search(shell):
    workload = shell.file("mine.py", PRODUCT)
    (shell.folder / "folder.png").mkdir()
    for name in ("a.xyz", "folder", "folder.png", "none/a.png"):
        message = shell("tune", workload, "--plot", shell.folder / name).refusal()
        assert message.startswith(f"cannot draw {shell.folder / name}: ")
    assert not (shell.folder / "own.db").exists()


def test_a_stopped_search_is_drawn_as_far_as_it_came(shell):
    workload, picture = shell.file("mine.py", PRODUCT), shell.folder / "search.svg"
    log = shell.folder / "own-trials" / "mine-sequential.jsonl"
    words = ["tune", workload, "--trials", "500", "--target", "sequential", "--preset", "S"]
    interrupts = signal.signal(signal.SIGINT, signal.default_int_handler)

    def interrupt() -> None:
        if wait_until(lambda: log.exists() and len(log.read_text().splitlines()) > 2):
            os.kill(os.getpid(), signal.SIGINT)

    user = threading.Thread(target=interrupt)
    user.start()
    try:
        answer = shell(*words, "--plot", picture)
    finally:
        user.join()
        signal.signal(signal.SIGINT, interrupts)
    assert (answer.code, answer.out) == (130, "")
    assert answer.err.startswith("loopbook: stopped; the trials so far are kept")
    assert "<svg" in picture.read_text()


@pytest.mark.parametrize("form", ["as docc's frontend makes it", "prepared", "one nest"])
def test_an_sdfg_without_data_is_really_run(shell, form):
    text = kit.text_of(kit.product_permuted)
    if form != "as docc's frontend makes it":
        prepared = program.prepare(text)
        text = prepared.to_json()
        if form == "one nest":
            text = program.cut(prepared, program.nests(prepared)[0])
    sdfg = shell.file("given.json", text)
    sizes = [word for name in ("_s0", "_s1", "_s2") for word in ("--size", f"{name}=120")]
    words = ["tune", sdfg, "--trials", "1", "--refine", "0", "--target", "sequential", *sizes]
    (told,) = shell(*words, "--json").good().document
    with Book.open(shell.folder / "own.db") as book:
        kept = book.record(told["records"][0]["record"])
        assert kept is not None
    (measured,) = kept.measurements
    # 1.7 million multiplications and additions cannot be done faster than this by one core.
    assert measured.baseline_s > 2 * 120**3 / 200e9
    # The file's own names are not the record's.
    assert list(measured.sizes.values()) == [120, 120, 120]
    assert not measured.sizes.keys() & {"_s0", "_s1", "_s2"}


def test_an_sdfg_wants_numbers_for_its_sizes(shell):
    sdfg = shell.file("given.json", kit.text_of(kit.product))
    message = shell("tune", sdfg, "--size", "_s0=30", "--trials", "1").refusal()
    assert message == "give a number for _s1, _s2 with --size NAME=NUMBER"
    assert not (shell.folder / "own.db").exists()


def test_seed_skips_what_the_book_knows(shell):
    words = ["seed", "polybench", "--only", "jacobi-1d", "--only", "mvt", "--target", "sequential"]
    words += ["--trials", "1", "--refine", "0", "--preset", "MINI"]
    told = shell(*words, "--json").good().document
    assert [(t["kernel"], t["skipped"], t["error"]) for t in told] == [
        ("jacobi-1d", False, ""),
        ("mvt", False, ""),
    ]
    assert [list(t["speedups"]) for t in told] == [["MINI"], ["MINI"]]
    again = shell(*words, "--json").good().document
    assert [(t["kernel"], t["skipped"]) for t in again] == [("jacobi-1d", True), ("mvt", True)]
    lines = shell(*words).good().out.splitlines()
    assert [line.split(maxsplit=2) for line in lines] == [
        ["jacobi-1d", "sequential", "in the book already"],
        ["mvt", "sequential", "in the book already"],
    ]
    told = on_a_terminal(shell.folder, [*words, "--json"])
    assert [t["kernel"] for t in told] == ["jacobi-1d", "mvt"]
    assert shell("book", "info", "--json").good().document["kernels"] == {
        "jacobi-1d": 1,
        "mvt": 2,
    }


def test_arrays_are_tuned_as_loops(shell):
    """docc's own front end refuses this one, and gave wrong numbers before that."""
    workload = shell.file("attention.py", ATTENTION)
    words = ["--trials", "1", "--refine", "0", "--target", "sequential", "--preset", "S", "--json"]
    (told,) = shell("tune", workload, *words).good().document
    assert (told["kernel"], told["error"], set(told["speedups"])) == ("attention", "", {"S"})
    near = shell("nearest", workload, "--json", "-k", "1").good().document["nests"]
    kinds = {one["neighbours"][0]["nest"] for one in near}
    assert kinds <= {record["nest"] for record in told["records"]}
    assert all(one["neighbours"][0]["distance"] == 0 for one in near)

    before, _, _ = ATTENTION.partition("    scores =")
    other = shell.file("halves.py", f"{before}    return 0.5 * Q\n")
    told = shell("seed", "files", workload, other, *words).good().document
    skipped = [("attention", True, ""), ("halves", False, "")]
    assert [(t["kernel"], t["skipped"], t["error"]) for t in told] == skipped


def test_seed_takes_synthetic_programs(shell):
    words = ["seed", "synthetic", "--count", "1", "--family", "transpose", "--preset", "S"]
    words += ["--trials", "1", "--refine", "0", "--target", "sequential"]
    (told,) = shell(*words, "--json").good().document
    assert told["kernel"].startswith("transpose.")
    assert list(told["speedups"]) == ["S"]
    assert shell(*words).good().out.split(maxsplit=2)[2].strip() == "in the book already"
    message = shell("seed", "synthetic", "--family", "poetry").refusal()
    assert message.startswith("there is no family poetry; there are contraction, ")
    message = shell("seed", "synthetic", "--preset", "XL").refusal()
    assert message == "there is no preset 'XL'; take S, M, L"


def test_a_synthetic_program_is_found_by_its_name(shell):
    name = "transpose.2.ji.scale.ij.f8.apart"
    told = shell("bench", name, "--preset", "S", "--json").good().document
    assert (told["kernel"], told["correct"]) == (name, True)


def test_seed_takes_array_programs(shell):
    words = ["seed", "arrays", "--only", "arrays.3", "--preset", "S", "--trials", "1"]
    words += ["--refine", "0", "--target", "sequential", "--json"]
    (told,) = shell(*words).good().document
    assert (told["kernel"], list(told["speedups"]), told["error"]) == ("arrays.3", ["S"], "")
    message = shell("seed", "arrays", "--only", "arrays.x").refusal()
    assert message.startswith("'arrays.x' is no name of an array program")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--only", "gem"], "PolyBench has no gem"),
        (["--preset", "HUGE"], "correlation has no preset 'HUGE'"),
        (["--target", "cuda"], "there is no target 'cuda'; take sequential or openmp"),
        (["--strategy", "luck"], "there is no strategy 'luck'; take random or "),
    ],
)
def test_wrong_options_of_seed(shell, words, message):
    assert shell("seed", "polybench", *words).refusal().startswith(message)
    assert not (shell.folder / "own.db").exists()


def test_libraries_are_called_only_where_allowed(shell):
    def tried(*more: str) -> set[str]:
        words = ["tune", workload, "--target", "sequential", "--preset", "S", "--trials", "4"]
        shell(*words, "--refine", "0", "--json", *more).good()
        log = (shell.folder / "own-trials" / "mine-sequential.jsonl").read_text().splitlines()
        return {step[0] for line in log[1:] for step in json.loads(line)["recipe"]["steps"]}

    workload = shell.file("mine.py", PRODUCT)
    assert "library" in tried()
    assert "library" not in tried("--no-libraries")  # though the book holds a call now
