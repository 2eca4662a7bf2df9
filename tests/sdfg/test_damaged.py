"""Damaged SDFGs are refused with one clear error; our process never dies of them."""

from __future__ import annotations

import ast
import json
import random as pseudo
from pathlib import Path
from typing import Any

import pytest
from sdfg_kit import matmul, matmul_args, prepared, random, sweep, waves

from loopbook.errors import LoopbookError, RunError, SdfgError
from loopbook.program.load import MAX_TEXT, load_json
from loopbook.program.nests import read_nests
from loopbook.sdfg import frontend, program
from loopbook.toolchain.sandbox import run_limited

DAMAGED = 600
BATCH = 50
ODD_VALUES = (None, True, -1, 0, 10**30, 1.5, "", "i +", "x" * 40, [], {}, [[]], {"a": 1})


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every container of a document with every key or index in it."""
    found = []
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            found.append((value, key))
            found += places(value[key])
    return found


def damaged(text: str, seed: int) -> str:
    """`text` with one to three kinds of damage."""
    chance = pseudo.Random(seed)
    document = json.loads(text)
    for _ in range(chance.randint(1, 3)):
        if not document:
            break
        owner, key = chance.choice(places(document))
        kind = chance.choice(("delete", "copy", "odd", "swap", "number", "deep"))
        if kind == "delete":
            del owner[key]
        elif kind == "copy" and isinstance(owner, list):
            owner.insert(key, json.loads(json.dumps(owner[key])))
        elif kind == "copy":
            owner[f"{key}_copy"] = owner[key]
        elif kind == "odd":
            owner[key] = chance.choice(ODD_VALUES)
        elif kind == "swap":
            other, place = chance.choice(places(document))
            copies = [json.loads(json.dumps(v)) for v in (owner[key], other[place])]
            owner[key], other[place] = copies[1], copies[0]
        elif kind == "number":
            numbers = [
                (o, k) for o, k in places(document) if type(o[k]) is int and "debug" not in str(k)
            ]
            if numbers:
                owner, key = chance.choice(numbers)
                owner[key] = chance.choice((owner[key] + 1, -owner[key], chance.randrange(200)))
        else:
            wrap = chance.choice(("root", "children"))
            for _ in range(chance.choice((5, 200))):
                inner = owner[key] if wrap == "root" else [owner[key]]
                owner[key] = {"type": "sequence", "element_id": 7, wrap: inner}
    changed = json.dumps(document)
    if chance.random() < 0.2:
        start = chance.randrange(len(changed))
        cut = chance.choice((start, start + chance.randrange(1, 40)))
        changed = changed[:start] + (changed[cut:] if cut > start else "")
    return changed


def outcome(text: str, way: str) -> str:
    """What became of one text: "read", or the name of our error; of any other error, all of it."""
    try:
        if way == "docc":
            program.prepare_nests(text)
        else:
            read_nests(load_json(text))
    except LoopbookError as error:
        return type(error).__name__ if "\n" not in str(error) else "several lines"
    except Exception as error:
        return repr(error)
    return "read"


def docc_outcomes(texts: list[str], told: Path) -> None:
    """The outcomes of docc's way, one a line, for a child process that docc may take with it."""
    with told.open("w", buffering=1) as lines:
        for text in texts:
            lines.write(f"{outcome(text, 'docc')!r}\n")


@pytest.fixture(scope="module")
def texts() -> list[str]:
    sources = [
        frontend.trace(matmul, matmul_args()),
        prepared(matmul, matmul_args()).to_json(),
        prepared(sweep, [random(6, 6)]).to_json(),
        frontend.trace(waves, [3, random(9), random(9)]),
    ]
    return [damaged(sources[seed % len(sources)], seed) for seed in range(DAMAGED)]


def test_the_reader_refuses_damage_with_our_errors_only(texts: list[str]):
    seen = [outcome(text, "reader") for text in texts]
    assert set(seen) == {"read", "SdfgError"}
    assert seen.count("SdfgError") > DAMAGED / 4


def test_docc_behind_the_sandbox_refuses_damage_with_our_errors_only(texts, tmp_path):
    """docc's C++ may crash on some texts: then the child is lost, and we get an error for it."""
    told = tmp_path / "told"
    seen: list[str] = []
    while len(seen) < DAMAGED:
        error = ""
        try:
            run_limited(docc_outcomes, texts[len(seen) : len(seen) + BATCH], told, seconds=600)
        except RunError as caught:
            error = type(caught).__name__
        seen += [ast.literal_eval(line) for line in told.read_text().splitlines()]
        seen += [error] if error else []  # of the text that took the child with it
    assert len(seen) == DAMAGED
    assert set(seen) <= {"read", "SdfgError", "KernelError"}
    assert seen.count("SdfgError") > DAMAGED / 4
    assert seen.count("KernelError") < DAMAGED / 20


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no json",
        "[1, 2]",
        "3",
        "null",
        "{}",
        '{"root": 1}',
        '{"root": {}, "containers": {}, "arguments": []}',
        '{"root": [], "containers": [], "arguments": 3}',
        "[" * 100_000,
        '{"root":' * 50_000,
        '{"a": 1e999999}',
        "\ud800",
    ],
    ids=lambda text: repr(text[:20]),
)
def test_text_that_is_no_sdfg(text: str):
    with pytest.raises(SdfgError):
        program.prepare(text)


@pytest.mark.parametrize("part", ["nodes", "edges"])
def test_dataflow_that_would_crash_docc_does_not_reach_it(part: str):
    text = prepared(matmul, matmul_args()).to_json()
    document = json.loads(text)
    flows = [owner[key] for owner, key in places(document) if key == "dataflow"]
    flows[-1].pop(part)
    with pytest.raises(SdfgError, match="incomplete"):
        program.prepare(json.dumps(document))
    document = json.loads(text)
    flow = next(owner[key] for owner, key in places(document) if key == "dataflow")
    flow["edges"][0]["src"] = 12345
    with pytest.raises(SdfgError, match="edge without a node"):
        program.prepare(json.dumps(document))


def test_text_that_is_too_long():
    with pytest.raises(SdfgError, match="MiB"):
        load_json(" " * (MAX_TEXT + 1))


def test_an_sdfg_without_loops_has_no_nests():
    def plain(A):
        A[0] = A[1] + 1.0

    assert program.nests(program.prepare(frontend.trace(plain, [random(4)]))) == []
