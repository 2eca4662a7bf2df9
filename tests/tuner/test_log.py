"""The log of trials: what a killed search leaves behind is read again."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from loopbook.errors import BookError
from loopbook.recipes.recipe import Recipe
from loopbook.tuner.log import Trial, TrialLog

HEADER = {"kernel": "gemm", "target": "sequential", "seed": 0}


def trial(number: int, nest: int = 0, status: str = "ok") -> Trial:
    recipe = Recipe.parse(f"tile L0 {number + 2}\nvectorize L1*")
    return Trial(number, nest, "abc", recipe, status, 1.5, 0.25, "")


def test_what_was_added_is_there_again(tmp_path):
    path = tmp_path / "folder" / "gemm.jsonl"
    log = TrialLog(path, HEADER)
    assert log.next_number == 0
    log.add(trial(0), trial(0, nest=1))
    log.add(trial(1, status="illegal"))
    again = TrialLog(path, HEADER)
    assert again.trials == [trial(0), trial(0, nest=1), trial(1, status="illegal")]
    assert again.next_number == 2


@pytest.mark.parametrize("cut", [1, 20, 150])
def test_a_torn_last_line_is_skipped_and_the_log_goes_on(tmp_path, cut):
    path = tmp_path / "gemm.jsonl"
    log = TrialLog(path, HEADER)
    log.add(trial(0))
    log.add(trial(1))
    path.write_bytes(path.read_bytes()[:-cut])
    torn = TrialLog(path, HEADER)
    whole = cut == 1  # only the end of the line is missing
    assert torn.trials == ([trial(0), trial(1)] if whole else [trial(0)])
    torn.add(trial(2))
    assert TrialLog(path, HEADER).trials == [*torn.trials]
    assert path.read_bytes().endswith(b"\n")


def test_lines_that_are_no_trials_are_skipped(tmp_path):
    path = tmp_path / "gemm.jsonl"
    TrialLog(path, HEADER).add(trial(0))
    with path.open("ab") as file:
        file.write(b'\xff\xfe\n[1]\n{"number": 3}\n')
        file.write(json.dumps({"number": 4, "recipe": {"version": 1, "steps": [["fly"]]}}).encode())
        file.write(b"\n")
    TrialLog(path, HEADER).add(trial(5))
    assert TrialLog(path, HEADER).trials == [trial(0), trial(5)]


def test_another_searchs_log_is_moved_aside(tmp_path):
    path = tmp_path / "gemm.jsonl"
    for seed in range(3):
        log = TrialLog(path, HEADER | {"seed": seed})
        assert log.trials == []
        log.add(trial(seed))
    assert sorted(os.listdir(tmp_path)) == ["gemm.jsonl", "gemm.old1.jsonl", "gemm.old2.jsonl"]
    kept = TrialLog(tmp_path / "gemm.old2.jsonl", HEADER | {"seed": 1})
    assert kept.trials == [trial(1)]


def test_an_empty_file_is_no_log(tmp_path):
    path = tmp_path / "gemm.jsonl"
    path.touch()
    log = TrialLog(path, HEADER)
    log.add(trial(0))
    assert TrialLog(path, HEADER).trials == [trial(0)]


def test_without_a_path_trials_stay_in_memory():
    log = TrialLog(None, HEADER)
    log.add(trial(0))
    assert log.next_number == 1


def test_a_full_disk_is_one_line_and_what_was_logged_stays(tmp_path):
    path = tmp_path / "gemm.jsonl"
    code = (
        "import resource, sys\nfrom pathlib import Path\n"
        "from loopbook.errors import BookError\n"
        "from loopbook.recipes.recipe import Recipe\n"
        "from loopbook.tuner.log import Trial, TrialLog\n"
        "log = TrialLog(Path(sys.argv[1]), {})\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try:\n"
        "    for n in range(100): log.add(Trial(n, 0, 'abc', Recipe(()), 'ok'))\n"
        "except BookError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, path], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"cannot write {path}: File too large\n"
    kept = TrialLog(path, {}).trials
    assert [one.number for one in kept] == list(range(len(kept)))
    assert len(kept) >= 3


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(BookError, match=r"^cannot write .*: File exists$"):
        TrialLog(tmp_path / "file" / "gemm.jsonl", HEADER).add(trial(0))
