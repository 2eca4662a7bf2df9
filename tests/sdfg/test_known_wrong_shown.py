"""What an SDFG shows of docc having misunderstood its function, and what it does not."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sdfg_kit import as_docc_sends

from loopbook.sdfg.known_wrong import shown
from loopbook.sdfg.untrusted import admit

from . import known_wrong_programs as programs

pytestmark = pytest.mark.apart

WORDS = {
    "product_over_its_operand": "a product is written over its operand 'x'",
    "product_over_an_argument": "a product is written over its operand 'b'",
    "overlapping_slices": "the assignment to a slice of 'a' reads what it has written",
    "every_other_element": "the assignment to a slice of 'a' with a step goes on behind its end",
}


@pytest.mark.parametrize("name", WORDS)
def test_a_program_that_docc_misunderstood_shows_it(name):
    func, make, _ = programs.REFUSED[name]
    text = as_docc_sends(func, make())
    assert shown(json.loads(text)) == WORDS[name]
    admitted = admit(text)  # under other names
    assert shown(admitted.document, admitted.names.own) == WORDS[name]


def slices(a, b):
    a[:, 1:-1] = b[:, :-2]
    b[:-1, :] = b[1:, :]
    a[1:, 2:] += a[:-1, :-2]
    a[:, :2] = b[:, 2:4]


def second_rows(a, b):
    for i in range(3):
        a[2 * i, 1:] = b[i, :-1]


def in_place(a, b):
    for i in range(1, a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] = a[i - 1, j] + b[i, 0]


@pytest.mark.parametrize("func", [slices, second_rows, in_place])
def test_a_program_that_docc_understood_does_not(func):
    text = as_docc_sends(func, [np.ones((6, 7)), np.ones((6, 7))])
    assert shown(json.loads(text)) == ""


def test_no_guess_is_made_about_what_may_have_been_meant():
    """A sum that docc's simplification has lost before its client sends the program."""
    func, make = programs.MENDED["sum_after_another_update"]
    assert shown(json.loads(as_docc_sends(func, make()))) == ""
