"""What is done whatever the starter book has, and left where somebody has tuned it."""

from __future__ import annotations

from client_kit import fill, record, recurrences, rows_by_vector, text_of

from loopbook.client.decision import NestReport
from loopbook.client.layered import LayeredBook
from loopbook.client.plan import make_plan
from loopbook.recipes.book import Book


def _planned(kernel, books: LayeredBook, size: int = 400, **options) -> NestReport:
    """The report of a kernel's only nest, of so many rows."""
    sizes = {f"_s{n}": size for n in range(4)}
    options = {"target": "sequential", "libraries": True, **options}
    (report,) = make_plan(text_of(kernel), layered=books, sizes=sizes, **options).nests
    return report


def test_a_matrix_is_multiplied_by_a_vector_some_rows_at_a_time(tmp_path):
    path = fill(tmp_path / "book.db", [record(rows_by_vector, "interchange L0 L1")])
    with LayeredBook([Book.open(path, readonly=True)]) as starter:
        assert _planned(rows_by_vector, starter).tier == "rows"
        assert _planned(rows_by_vector, starter, size=40).tier == "exact"
        assert _planned(rows_by_vector, starter, libraries=False).tier == "exact"
        alone = _planned(rows_by_vector, starter)
        assert alone.recipe in _planned(rows_by_vector, starter, target="openmp").recipe
    with LayeredBook([Book.open(path)]) as own:
        assert _planned(rows_by_vector, own).tier == "exact"
        assert _planned(rows_by_vector, own, exclude=["rows_by_vector"]).tier == "rows"


def test_recurrences_along_rows_run_side_by_side(tmp_path):
    path = fill(tmp_path / "book.db", [record(recurrences, "strip_and_sink L1 64")])
    with LayeredBook([Book.open(path, readonly=True)]) as starter:
        together = _planned(recurrences, starter).recipe
        assert together.splitlines()[0] == "tile L1 8"
        assert "strip_and_sink" not in together
        for options in ({"libraries": False}, {"size": 7}):
            assert _planned(recurrences, starter, **options).recipe == "strip_and_sink L1 64\n"
    with LayeredBook([Book.open(path)]) as own:
        assert _planned(recurrences, own).recipe == "strip_and_sink L1 64\n"


def test_so_do_those_of_which_no_book_knows_anything(tmp_path):
    path = fill(tmp_path / "book.db", [record(rows_by_vector, "interchange L0 L1")])
    with LayeredBook([Book.open(path, readonly=True)]) as starter:
        report = _planned(recurrences, starter)
        assert (report.tier, report.recipe.splitlines()[0]) == ("strips", "tile L1 8")
        assert "tile" not in _planned(recurrences, starter, size=7).recipe
