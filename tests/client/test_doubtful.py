"""Records of one's own that gained too little to be used for code that is mended last."""

from __future__ import annotations

import pytest
from client_kit import ARGUMENTS, SIMPLE, fill, product, record, text_of

from loopbook.client.opening import open_book
from loopbook.client.plan import make_plan
from loopbook.sdfg import frontend


@pytest.mark.parametrize(
    ("speedup", "libraries", "used"),
    [(1.1, True, False), (1.1, False, True), (1.5, True, True)],
)
def test_small_gains_of_docc_s_code(speedup, libraries, used, tmp_path, monkeypatch):
    monkeypatch.setattr("loopbook.client.planner.product_calls", lambda *_: [])
    path = fill(tmp_path / "own.db", [record(product, SIMPLE, speedup=speedup)])
    sizes = frontend.size_symbols(product, ARGUMENTS[product]())
    with open_book(path, starter=False) as book:
        plan = make_plan(text_of(product), "sequential", book, sizes=sizes, libraries=libraries)
    assert (plan.nests[0].tier == "exact") is used
