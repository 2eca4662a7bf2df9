"""Independent statements: one order in every process, right numbers."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
from sdfg_kit import check_recipe, elements, prepared, random, steps

from loopbook.program.canonical_order import in_canonical_order
from loopbook.program.read import read
from loopbook.program.write import write
from loopbook.sdfg import frontend, passes, program
from loopbook.sdfg.transformed import transform

RECIPE = "tile L0 4\npeel L0\nunroll L0*"


def two_products(A, s, q, p, r):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            s[j] = s[j] + r[i] * A[i, j]
            q[i] = q[i] + A[i, j] * p[j]


def product_args(n: int = 9, m: int = 7) -> list[Any]:
    return [random(n, m), np.zeros(m), np.zeros(n), random(m), random(n)]


def dataflows(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [e["dataflow"] for e in elements(document["root"]) if "dataflow" in e]


def test_statements_that_end_in_scalars_come_before_those_that_store():
    text = frontend.trace(two_products, product_args())
    code = transform(text, "sequential", {0: steps(RECIPE)}).sdfg.to_cpp()
    body = code[code.index("for(j") :]
    assert re.search(r"\*>\(q\)\)\[.*=|= .*\*>\(q\)\)", body)
    assert body.index("(q)") < body.index("(s)")
    # Whatever its addresses are, docc has nothing left to choose.
    again = transform(text, "sequential", {0: steps(RECIPE)}).sdfg.to_cpp()
    assert again == code


def test_numbers_stay_right(tmp_path):
    sizes = [product_args(9, 7), product_args(4, 12), product_args(1, 1)]
    check_recipe(two_products, sizes, steps(RECIPE), tmp_path)


def test_blocks_are_cut_and_nothing_is_lost():
    sdfg = passes.finish(prepared(two_products, product_args()), "none")
    document = json.loads(sdfg.to_json())
    before = dataflows(document)
    settled = write(in_canonical_order(read(document)))
    after = dataflows(json.loads(program.parse(json.dumps(settled)).to_json()))
    assert len(after) > len(before)

    def computed(flows: list[dict[str, Any]]) -> list[str]:
        return sorted(str(n.get("code")) for f in flows for n in f["nodes"] if "inputs" in n)

    assert computed(after) == computed(before)
    ids = [n["element_id"] for flow in after for n in flow["nodes"]]
    assert len(ids) == len(set(ids))


def test_what_is_settled_stays_as_it_is():
    scheduled = passes.finish(prepared(two_products, product_args()), "none")
    given = read(json.loads(scheduled.to_json()))
    settled = in_canonical_order(given)
    assert settled is not given
    assert in_canonical_order(settled) is settled


def test_a_statement_that_reads_what_another_writes_stays_with_it():
    document = json.loads(prepared(two_products, product_args()).to_json())
    changed = 0
    for element in elements(document["root"]):
        for node in element.get("dataflow", {}).get("nodes", ()):
            if node.get("data") == "p":  # now q's statement reads what the other one writes
                node["data"], changed = "s", changed + 1
    assert changed
    given = read(document)
    assert in_canonical_order(given) is given
