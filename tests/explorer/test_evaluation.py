"""What `evaluate` has written, as tables and figures."""

from __future__ import annotations

import pytest
from explorer_kit import line

from loopbook.explorer.evaluation import evaluation


@pytest.fixture
def folder(tmp_path):
    lines = [line("gemm", 16.0, 4.0), line("mvt", 2.0, 1.0), line("mvt", 2.0, 2.0)]
    (tmp_path / "evaluate.jsonl").write_text("\n".join(lines) + '\n{"torn')
    return tmp_path


def test_the_log_becomes_tables_and_figures(folder):
    told = evaluation([folder])
    methods, kernels = told.tables
    keys = [one.key for one in methods.columns]
    (row,) = methods.rows
    assert dict(zip(keys, row, strict=True)) | {"share": 0.6} == {
        "method": "ours 1", "kernels": 2, "share": 0.6, "speedup": 2.828, "tuner": 5.657,
        "slower": 0, "declined": 0,
    }  # fmt: skip
    assert [one[0] for one in kernels.rows] == ["gemm", "mvt"]
    assert kernels.rows[1][3:] == [2.0, 2.0], "the latest measurement counts"
    bars, points = told.figures
    assert (bars.kind, points.kind, points.diagonal) == ("bars", "points", True)
    assert points.series[0].points[0] == [3.0, 4.0, "gemm sequential"]
    assert told.problem is None


def test_reports_alone_give_their_tables(tmp_path):
    (tmp_path / "evaluate-old.md").write_text(
        "# Title\n\n## Without the kernel\n\n| kernel | ours | share |\n| --- | ---: | --- |\n"
        "| gemm | 4.20× | 91 % |\n| mvt | | 8 % |\n\ntext\n"
    )
    (table,) = evaluation([tmp_path]).tables
    assert [one.kind for one in table.columns] == ["text", "times", "percent"]
    assert table.rows == [["gemm", 4.2, 0.91], ["mvt", None, 0.08]]
    assert "Without the kernel" in table.title


@pytest.mark.parametrize("content", ["", "nonsense", "{}\n[]\n7", '{"key": 1, "holdout": 2}'])
def test_where_nothing_was_evaluated_it_says_what_to_run(tmp_path, content):
    (tmp_path / "evaluate.jsonl").write_text(content)
    told = evaluation([tmp_path, tmp_path / "nowhere"])
    assert (told.tables, told.figures) == ([], [])
    assert told.problem is not None
    assert "loopbook evaluate" in told.problem
