"""The example notebook, run in a kernel of Jupyter's as somebody would who opens it."""

from __future__ import annotations

from pathlib import Path

import pytest

TOUR = Path(__file__).parents[1] / "examples" / "tour.ipynb"


@pytest.mark.long
def test_the_tour_runs_and_shows_tables(tmp_path, monkeypatch):
    import nbformat
    from nbclient import NotebookClient

    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("PYTHONPATH", str(TOUR.parents[1]))
    notebook = nbformat.read(TOUR, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "it is kept without outputs"
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": tmp_path}}).execute()
    shown = [
        output
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        if output.output_type == "execute_result"
    ]
    assert len(shown) == 6
    for output in shown:
        assert "<table>" in output.data["text/html"]
        assert len(output.data["text/html"]) < 8_000
        assert len(output.data["text/plain"]) <= 200
    assert "right" in shown[-1].data["text/plain"]
