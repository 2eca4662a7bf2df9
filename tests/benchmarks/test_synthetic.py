"""The benchmark that draws and checks synthetic programs."""

from __future__ import annotations

import json

from benchmarks import lines, synthetic


def test_a_killed_run_goes_on_and_what_is_wrong_counts(tmp_path, capsys):
    command = ["--out", str(tmp_path), "--family", "transpose", "--target", "none", "--jobs", "1"]
    file, table = tmp_path / "results.jsonl", tmp_path / "table.md"
    assert synthetic.main([*command, "--count", "2"]) == 0
    first = file.read_text()
    assert "\n| transpose | 2 | 2 | 2 | 0 |\n| all | 2 | 2 | 2 | 0 |\n" in table.read_text()
    assert synthetic.main(command) == 2
    assert "--resume" in capsys.readouterr().err

    file.write_text(first + first[: len(first) // 3])
    assert synthetic.main([*command, "--count", "3", "--resume"]) == 0
    assert file.read_text().startswith(first)
    found = lines.read(file)
    assert len({result["name"] for result in found}) == len(found) == 3

    found[1]["wrong"] = {"none": "relative error 0.5"}
    file.write_text("".join(json.dumps(result) + "\n" for result in found))
    assert synthetic.main([*command, "--count", "3", "--resume"]) == 1
    assert "\n| all | 3 | 3 | 3 | 1 |\n" in table.read_text()
    assert f"- `{found[1]['name']}`, none: relative error 0.5" in table.read_text()


def test_results_for_other_targets_do_not_count(tmp_path):
    command = ["--out", str(tmp_path), "--family", "transpose", "--count", "1", "--jobs", "1"]
    assert synthetic.main([*command, "--target", "none"]) == 0
    assert synthetic.main([*command, "--target", "sequential", "--resume"]) == 0
    assert [result["targets"] for result in lines.read(tmp_path / "results.jsonl")] == [
        ["none"],
        ["sequential"],
    ]


def test_nests_of_several_families_count_once():
    found = [
        {"name": f"{family}.{nest}", "nests": [nest], "targets": ["none"], "wrong": {}}
        for family, nest in (("sum", "a"), ("sum", "b"), ("scan", "b"), ("scan", "c"))
    ]
    text = synthetic.table(found, "")
    assert "\n| sum | 2 | 2 | 2 | 0 |\n| scan | 2 | 2 | 1 | 0 |\n| all | 4 | 3 | 3 | 0 |\n" in text
