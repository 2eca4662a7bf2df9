"""train and evaluate: what is refused before anything is measured, and the tables."""

from __future__ import annotations

import pytest
from cli_kit import Shell, make_shell

from loopbook.cli import evaluating, style


@pytest.fixture
def shell(tmp_path, monkeypatch, capfd) -> Shell:
    return make_shell(tmp_path, monkeypatch, capfd)


def test_evaluate_knows_its_kernels_before_it_begins(shell):
    message = shell("evaluate", "--kernel", "nope", "--kernel", "mvt").refusal()
    assert message.startswith("PolyBench has no kernel nope; it has correlation, ")
    assert "no preset 'HUGE'" in shell("evaluate", "--preset", "HUGE").refusal()
    assert not (shell.folder / "own.db").exists()


def test_evaluate_prints_its_table():
    """With figures of a run that never was."""
    found = {
        "kernels": 30,
        "share_of_gain": 0.614,
        "speedup": 1.8,
        "tuner": 2.4,
        "slowdowns": ["gemm sequential"],
        "declined": [],
    }
    nothing = found | {"kernels": 0, "share_of_gain": float("nan"), "slowdowns": []}
    methods = {"ours 1": found, "random 5": nothing}
    heads, _, first, second = style.rendered(evaluating._table(methods)).splitlines()
    assert heads.split()[:5] == ["method", "measured", "kernels", "share", "gain"]
    assert first.split() == [
        "ours",
        "none",
        "30",
        "61",
        "%",
        "▲",
        "1.80×",
        "▲",
        "2.40×",
        "▼",
        "1",
        "0",
    ]
    assert second.split() == ["random", "5", "0", "-", "-", "-", "0", "0"]
    assert max(map(len, (heads, first, second))) <= style.WIDTH
