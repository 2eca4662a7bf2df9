"""The door for SDFGs from outside: what is refused, and what is let in under our own names."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
import untrusted_kit
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sdfg_kit import doubled, matmul, matmul_args, pair, rows, sweep
from sdfg_kit import random as array
from untrusted_kit import MARK, nests

from loopbook.errors import SdfgError
from loopbook.program.nests import read_nests
from loopbook.sdfg import frontend, program
from loopbook.sdfg.untrusted import Limits, admit, expressions
from loopbook.toolchain.sandbox import run_limited

TRACED = [
    frontend.trace(matmul, matmul_args()),
    frontend.trace(sweep, [array(9, 8)]),
    frontend.trace(rows, [array(5, 6), array(6, 6), array(6)]),
    frontend.trace(pair, [3, array(9), array(9)]),
]


def parts(document: Any, kind: str) -> list[dict[str, Any]]:
    """The elements and nodes of a type, in the document's order."""
    found = []
    waiting = [document]
    while waiting:
        value = waiting.pop(0)
        if isinstance(value, dict):
            if value.get("type") == kind:
                found.append(value)
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return found


def fingerprints(document: Any) -> list[str]:
    return [nest.canonical for nest in read_nests(document)]


# -- what is let in ------------------------------------------------------------------------------


@pytest.mark.parametrize("text", TRACED)
def test_the_way_back_is_the_same_program(text: str):
    admitted = admit(text)
    assert admitted.names.restored_program(admitted.document) == json.loads(text)


def test_no_name_of_a_program_is_left():
    named = {"A", "B", "C", "i", "j", "k", "_s0", "_s1", "_s2", "matmul_sdfg"}
    admitted = admit(TRACED[0])
    assert named <= {*admitted.names.own.values(), admitted.names.program}
    assert not any(f'"{name}"' in admitted.text for name in named)


def test_nests_of_the_starter_book_keep_their_fingerprints():
    for text in nests():
        assert fingerprints(dict(admit(text).document)) == fingerprints(json.loads(text))


@pytest.mark.parametrize("text", TRACED)
def test_a_program_is_prepared_as_it_was_before(text: str):
    before = [nest.fingerprint for nest in program.prepare_nests(text)[1]]
    assert [nest.fingerprint for nest in program.prepare_nests(admit(text).text)[1]] == before


def test_names_that_are_derived_come_back_with_what_they_derive_from():
    names = admit(TRACED[0]).names
    fresh = {own: name for name, own in names.own.items()}
    made = {
        "containers": {fresh["i"]: 1, f"{fresh['i']}_tile": 2, f"own_{fresh['A']}_0": 3},
        "root": [f"{fresh['i']}_tile + 4*{fresh['j']}", "And(1 < 2)"],
    }
    assert names.restored(made) == {
        "containers": {"i": 1, "i_tile": 2, "own_A_0": 3},
        "root": ["i_tile + 4*j", "And(1 < 2)"],
    }


def test_a_derived_name_does_not_come_back_as_another_variable():
    document = json.loads(TRACED[0])
    document["containers"]["i_tile"] = document["containers"]["i"]
    names = admit(document).names
    fresh = next(name for name, own in names.own.items() if own == "i")
    restored = names.restored({"containers": {f"{fresh}_tile": {}}})
    assert list(restored["containers"]) == ["i_tile_1"]


def test_what_docc_notes_for_its_client_goes_round_docc():
    document = json.loads(TRACED[0])
    document["metadata"] = {"output_dir": f"/tmp/{MARK}", "loopbook_ordered": "3,17"}
    admitted = admit(document)
    assert admitted.document["metadata"] == {"loopbook_ordered": "3,17"}
    assert admitted.names.restored_program(admitted.document)["metadata"] == document["metadata"]


def test_names_in_any_script_are_let_in():
    document = json.loads(TRACED[1].replace('"A"', '"größe"'))
    assert read_nests(dict(admit(document).document))


def test_sizes_get_the_new_names():
    names = admit(TRACED[0]).names
    fresh = next(name for name, own in names.own.items() if own == "_s1")
    assert names.fresh({"_s1": 7, "other": 8}) == {fresh: 7}


def test_errors_speak_the_authors_names():
    names = admit(TRACED[0]).names
    fresh = next(name for name, own in names.own.items() if own == "_s1")
    with pytest.raises(SdfgError, match="give _s1"), names.in_errors():
        raise SdfgError(f"give {fresh} with --size")


# -- what is refused -----------------------------------------------------------------------------


def refused(document: Any) -> str:
    with pytest.raises(SdfgError) as caught:
        admit(document)
    words = str(caught.value)
    assert words.isascii()
    assert "\n" not in words
    assert len(words) < 300
    return words


@pytest.mark.parametrize(
    "name",
    ["nest$(touch x)", "a\nb", "a{b", "a<b>", "a#b", "a$b", "a b", "../a", "", "a" * 300, "7a", 7],
)
def test_a_name_that_is_none_is_refused(name: Any):
    document = json.loads(TRACED[0])
    assert "is no name" in refused({**document, "name": name})
    if isinstance(name, str):
        document["containers"][name] = document["containers"]["A"]
        assert "is no name" in refused(document)


def test_a_constant_that_is_no_number_is_refused():
    document = json.loads(frontend.trace(doubled, [array(4, 4), array(4, 4)]))
    constant = next(node for node in parts(document, "constant_node") if node["data"] == "2.0")
    for data in (f'[]{{ system("{MARK}"); return 2.0; }}()', "2.0 + x()", "010", "2.0f", "", "nan"):
        constant["data"] = data
        assert "is no constant" in refused(document)


def test_connectors_are_our_own():
    document = json.loads(TRACED[0])
    block = next(one for one in parts(document, "block") if parts(one, "tasklet"))
    tasklet = parts(block, "tasklet")[0]
    evil = 'q=(system("x"),0.0),zz'
    old, tasklet["inputs"][0] = tasklet["inputs"][0], evil
    for edge in block["dataflow"]["edges"]:
        if edge["dst"] == tasklet["element_id"] and edge["dst_conn"] == old:
            edge["dst_conn"] = evil
    assert "is no name" in refused(document)
    admitted = admit(json.loads(json.dumps(document).replace(json.dumps(evil)[1:-1], MARK)))
    assert MARK not in admitted.text


def test_members_metadata_externals_and_initialisers_that_are_not_known_are_refused():
    document = json.loads(TRACED[0])
    assert "member 'includes'" in refused({**document, "includes": ["<x>"]})
    assert "metadata 'flags'" in refused({**document, "metadata": {"flags": "-x"}})
    refused({**document, "externals": [{"name": "system"}]})
    refused({**document, "structures": [{"name": "a;b", "is_packed": False, "members": []}]})
    document["containers"]["A"]["initializer"] = "{0}"
    assert "'{0}'" in refused(document)


def test_unknown_elements_and_library_nodes_are_refused():
    document = json.loads(TRACED[0])
    parts(document, "tasklet")[0]["type"] = "asm"
    assert "type 'asm'" in refused(document)
    document = json.loads(TRACED[0])
    node = parts(document, "tasklet")[0]
    del node["inputs"], node["output"]
    node |= {"type": "library_node", "code": "Call", "implementation_type": "", "callee": "system"}
    assert "'Call'" in refused(document)


def test_what_is_nested_too_deeply_or_too_large_is_refused():
    document = json.loads(TRACED[0])
    inner = document["root"]
    for number in range(3000):
        inner = {**document["root"], "element_id": number, "children": [inner]}
    assert "inside one another" in refused({**document, "root": inner})
    kind: dict[str, Any] = document["containers"]["A"]
    for _ in range(3000):
        kind = {**document["containers"]["A"], "pointee_type": kind}
    assert "nested too deeply" in refused({**document, "return_type": kind})
    with pytest.raises(SdfgError, match="more than 20 elements"):
        admit(TRACED[0], Limits(elements=20))
    with pytest.raises(SdfgError, match="no JSON"):
        admit('{"root":' * 100_000)


@pytest.mark.parametrize("document", [None, [], 7, "", {}, {"name": "a"}, "[1", b"x"])
def test_what_is_no_sdfg_is_refused(document: Any):
    refused(document)


# -- expressions ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "0",
        "j + i*_s0",
        "1 + k + (1 + i)*_s0",
        "And((0 <= a), (b < 2*n))",
        "(True == Or((a < 0), (b != 1)))",
        "idiv(-2 + n, 2) + imod(a, 4)",
        "_s0**2*(-1 + i)",
        "(3.0/4.0)*m*n",
        "n**(-1)",
        "max(a, min(b + 1, -c))",
        "(0.1 < x)",
        "größe + 1",
    ],
)
def test_expressions_that_docc_writes_are_read(text: str):
    read = expressions.read(text)
    assert read.renamed(lambda name: name) == text
    assert "idiv" not in read.names
    assert "True" not in read.names


@pytest.mark.parametrize(
    "text",
    [
        "(_s0+_s1+_s2+1)**60",
        "10**1000000000",
        "((9**8)**8)**8",
        "(((a+b)**8)**8)**8",
        "*".join(["(a + b)"] * 40),
        "*".join(["a**8"] * 40),
        "2**n",
        "a**b**c",
        "1" * 30,
        "(" * 200 + "a" + ")" * 200,
        "-" * 1000 + "a",
        "a" + " + a" * 10_000,
        "system(1)",
        "f(x)",
        "And()",
        "a b",
        "a +",
        "a; b",
        "a[0]",
        "a.b",
        "a->b",
        'a + "x"',
        "a = b",
        "a\n+ b",
        "0x10",
        "1if",
        "lambda: 0",
        "a ? b : c",
        "",
        " ",
    ],
)
def test_other_expressions_are_refused(text: str):
    with pytest.raises(SdfgError):
        expressions.read(text)


def test_an_expression_of_an_undeclared_name_is_refused():
    document = json.loads(TRACED[0])
    parts(document, "for")[0]["init"] = "system"
    assert "'system', which is not declared" in refused(document)


# -- hostile ones --------------------------------------------------------------------------------

HOSTILE = settings(
    deadline=None,
    max_examples=80,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)


@given(st.integers(0, 2**32))
@HOSTILE
def test_no_fragment_gets_in(seed: int):
    numbers = random.Random(seed)
    text = numbers.choice([*nests()[::6], *TRACED])
    document = untrusted_kit.poisoned(text, numbers, numbers.randint(1, 3))
    try:
        admitted = admit(document)
    except SdfgError:
        return
    assert MARK not in admitted.text


def _generated(texts: list[str]) -> list[str]:
    """The C++ of programs; what docc says of those that it cannot read."""
    made = []
    for text in texts:
        try:
            made.append(program.parse(text).to_cpp())
        except SdfgError as error:
            made.append(str(error))
    return made


def test_no_fragment_gets_into_the_code():
    numbers = random.Random(1)
    admitted = []
    while len(admitted) < 60:
        document = untrusted_kit.poisoned(numbers.choice(nests()), numbers)
        try:
            admitted.append(admit(document))
        except SdfgError:
            continue
    assert any(MARK in str(one.names) for one in admitted)
    codes = run_limited(_generated, [one.text for one in admitted], seconds=600)
    assert sum("#include" in code for code in codes) > len(codes) // 2
    assert not any(MARK in code for code in codes)
