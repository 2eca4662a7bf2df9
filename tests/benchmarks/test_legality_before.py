"""What an older code allowed, and today's code asked the same; and programs made for rare steps."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import replace

import pytest

from benchmarks import legality_before, legality_made, legality_programs
from benchmarks.legality_before_table import table
from benchmarks.legality_subject import subject
from loopbook.errors import IllegalStepError
from loopbook.program.tree import Sequence
from loopbook.program.write import write
from loopbook.steps.workbench import Workbench


def packed(document: object) -> str:
    return base64.b85encode(zlib.compress(json.dumps(document).encode())).decode()


def test_sequences_are_asked_again_and_old_results_are_run():
    own = subject(legality_programs.load("mvt"))
    bench = Workbench(own.tree, own.nests[0])
    same = packed(write(bench.program))
    bench.apply("tile", ("L0", 4))
    # The older code may have called the tiles otherwise; and here it lost what it did.
    lost = packed(write(replace(own.tree, body=Sequence())))
    tile, peel = ["tile", "L0", 4], ["peel", "rows"]
    answers = [
        {"nest": 0, "steps": [tile], "loops": ["L0", "L1"], "after": same},
        {"nest": 0, "steps": [tile, peel], "loops": ["strips", "rows", "L1"], "after": lost},
        {"nest": 0, "steps": [["unroll", "L1"]], "loops": ["L0", "L1"], "refused": "so"},
    ]
    said = legality_before.judged("mvt", own.text, answers)
    assert [bool(one["now"]) for one in said] == [False, False, True]
    assert said[0]["fault"] == ""
    assert said[1]["fault"]
    assert said[2]["now"].startswith("unroll | step 1: ")


def test_shares_count_what_was_right():
    tile, peel = ["tile", "L0", 4], ["peel", "L0"]
    refusal = "peel | step 2: 'peel L0' is not known to be legal: the loop over i runs so"
    sequences = [
        {"nest": 0, "steps": [tile], "now": "", "fault": ""},
        {"nest": 0, "steps": [tile, peel], "now": refusal, "fault": ""},
        {"nest": 0, "steps": [tile, peel, peel], "now": refusal, "fault": ""},
        {"nest": 0, "steps": [tile, tile], "now": refusal, "fault": "x[0] differs"},
        {"nest": 0, "steps": [peel], "now": "", "refused": "so"},
        {"nest": -1, "steps": [], "lost": "KernelError"},
    ]
    result = {"name": "p", "nests": ["f"], "sequences": sequences, "recipes": [[0, [tile]]]}
    text = table([result], "Seed 0.")
    assert "4 sequences that the older code allowed: 3 right, 1 wrong (of which 1 are" in text
    assert "1 are still allowed: 33.33 %" in text
    assert "1 were allowed whole and right; 1 still are: 100.00 %" in text
    assert "| peel | 1 | 0 | 0.0 % |" in text  # what follows a refused step says nothing
    assert "| tile | 1 | 1 | 100.0 % |" in text


@pytest.mark.parametrize(
    ("form", "step"),
    [
        ("least", ("if_convert", ("L0",))),
        ("beside", ("fuse", ("L1", "L2"))),
        ("halves", ("join", ("L1", "L2"))),
        ("sums", ("reg2mem", ("L1",))),
        ("products", ("library", ("L0",))),
        ("factors", ("right_looking", ("L0", "L1"))),
        ("steps", ("wavefront", ("L0", 3))),
        ("rows", ("expand", ("L0",))),
        ("switched", ("unswitch", ("L1",))),
    ],
)
def test_programs_are_made_for_steps(form, step):
    def allowed(number: int) -> bool:
        own = subject(legality_programs.load(f"made.{form}.1.{number}"))
        try:
            Workbench(own.tree, own.nests[0]).apply(*step)
        except IllegalStepError:
            return False
        return True

    assert any(allowed(number) for number in range(12))
    assert legality_made.phrases(f"made.{form}.1.0")


def test_forms_take_turns():
    names = legality_made.names(2 * len(legality_made.FORMS), 4)
    assert len(set(names)) == len(names)
    assert {name.split(".")[1] for name in names} == set(legality_made.FORMS)
    assert legality_made.phrases("mixed.4.1") == ()
