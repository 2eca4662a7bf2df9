"""What the server remembers, and what it takes for the same question."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopbook.errors import InputError
from loopbook.server.answers import Answers, Kept, question
from loopbook.server.document import check_nesting
from loopbook.server.latest import Latest, digest
from loopbook.server.settings import Limits

LIMITS = Limits()


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 40)), max_size=60))
def test_memory_has_an_end_and_forgets_what_was_used_least(steps):
    held: Latest[int] = Latest(100)
    model: dict[bytes, int] = {}  # key to cost, used last at the end
    for number, cost in steps:
        key = digest(b"%d" % number)
        if cost <= 25:
            model.pop(key, None)
            model[key] = cost
            while sum(model.values()) > 100:
                model.pop(next(iter(model)))
        held.put(key, cost, cost)
        asked = digest(b"%d" % (number // 2))
        assert held.get(asked) == model.get(asked)
        if asked in model:
            model[asked] = model.pop(asked)
    assert len(held) == len(model)
    held.clear()
    assert len(held) == 0


def test_answers_are_good_until_the_book_changes():
    answers = Answers(1000)
    answers.renew("one")
    answers.put(b"key", Kept(b"answer"), "one")
    answers.put(b"late", Kept(b"from before"), "none")
    assert answers.get(b"key") == Kept(b"answer")
    assert answers.get(b"late") is None
    assert not answers.renew("one")
    assert answers.renew("two")
    assert answers.get(b"key") is None


def test_a_question_is_what_the_answer_depends_on():
    def key(**members) -> bytes:
        return question("program", json.dumps(members).encode(), LIMITS).key

    sdfg = {"root": {"children": []}}
    same = key(sdfg=sdfg, target="openmp")
    assert key(sdfg=sdfg, session_id="x", target="openmp", normalize=False) == same
    assert key(sdfg=sdfg) != same
    assert key(sdfg={"root": {}}, target="openmp") != same
    assert key(sdfg=sdfg, target="openmp", sizes={"n": 1}) != same
    body = json.dumps({"sdfg": sdfg, "target": "openmp"}).encode()
    assert question("nest", body, LIMITS).key != same
    assert json.loads(question("program", body, LIMITS).body) == json.loads(body)
    assert (
        question("program", b"{", LIMITS).body == b"{"
    )  # its error is found where it is worked on


def deepest(value: object) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return max(map(deepest, inner), default=0) + isinstance(value, (dict, list))


TEXTS = st.text(st.sampled_from('[]{}"\\ax\n'), max_size=8)


@given(
    st.recursive(
        TEXTS | st.none(), lambda part: st.lists(part) | st.dictionaries(TEXTS, part), max_leaves=30
    )
)
def test_brackets_are_counted_and_those_in_strings_are_not(value):
    body = json.dumps(value).encode()
    depth = deepest(value)
    check_nesting(body, replace(LIMITS, nesting=depth))
    if depth:
        with pytest.raises(InputError, match="brackets"):
            check_nesting(body, replace(LIMITS, nesting=depth - 1))
