"""A region's recipe goes out with the program that docc's client sends."""

from __future__ import annotations

import json

from client_kit import fill
from regions_kit import ROLLED, regional
from sdfg_kit import as_docc_sends, check_library, random

from loopbook.program.nests import read_nests
from loopbook.sdfg.build import build_finished
from loopbook.sdfg.program import prepare_apart
from loopbook.server.settings import Settings
from loopbook.server.work import Work


def two_sweeps(A, T, B):
    for i in range(1, A.shape[0] - 1):
        for j in range(A.shape[1]):
            T[i, j] = A[i - 1, j] + A[i, j] + A[i + 1, j]
    for i in range(2, A.shape[0] - 1):
        for j in range(A.shape[1]):
            A[i, j] = T[i, j] * T[i - 1, j] + B[i, j]


def test_a_region_is_served_as_one_nest(tmp_path):
    args = [random(12, 12), random(12, 12), random(12, 12)]
    sent = as_docc_sends(two_sweeps, args)
    store = fill(tmp_path / "book.db", [regional(3.0, prepare_apart(sent)[0])])
    work = Work(Settings(str(store), starter=False))
    answer = json.loads(work.do("program", json.dumps({"sdfg": json.loads(sent)}).encode()).body)
    (told,) = answer["results"]
    assert (told["tier"], told["recipe"]) == ("exact", ROLLED)
    first = read_nests(json.loads(prepare_apart(sent)[0]))[0].loops[0]
    assert told["element_id"] == first.element_id
    done = json.dumps(answer["sdfg_result"]["sdfg"])
    library = build_finished(done, "sequential", tmp_path / "built", {}, dump=False)
    check_library(two_sweeps, [args], library)
