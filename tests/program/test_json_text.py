"""Documents to text and back, as `json` does it."""

from __future__ import annotations

import json
import math

import pytest

from loopbook.program.json_text import dumped, dumped_bytes, loaded

DOCUMENT = {"a": [1, -2.5, None, True], "ü": {"": '\u2028 "/\n'}, "large": 1 << 70, "e": 1e16}


def test_there_and_back():
    assert loaded(dumped(DOCUMENT)) == DOCUMENT == json.loads(dumped(DOCUMENT))
    assert loaded(json.dumps(DOCUMENT)) == DOCUMENT
    assert list(loaded(dumped(DOCUMENT))) == list(DOCUMENT)
    assert dumped_bytes(DOCUMENT).decode() == dumped(DOCUMENT)


@pytest.mark.parametrize("odd", ["\ud800", {"\udfff": 1}])
def test_half_a_surrogate_pair_is_written_as_json_does(odd):
    assert json.loads(dumped(odd)) == odd == loaded(json.dumps(odd))


def test_what_json_takes_is_taken():
    assert loaded("1e400") == math.inf
    assert math.isnan(loaded("NaN"))


@pytest.mark.parametrize("text", ["", "[1,]", "{", "\ufeff{}", "[" * 100_000])
def test_errors_are_those_of_json(text):
    with pytest.raises((ValueError, RecursionError)) as expected:
        json.loads(text)
    with pytest.raises(type(expected.value)) as found:
        loaded(text)
    assert str(found.value)[:30] == str(expected.value)[:30]
