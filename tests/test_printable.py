"""What is printed of others' text."""

from __future__ import annotations

import ast
import io
import json
import unicodedata
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import loopbook.cli
from loopbook.cli import answers
from loopbook.printable import one_line, printable, show

OBEYED = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Controls, formats (such as what turns the direction of writing), halves of pairs, breaks."""


@given(st.text() | st.text(st.characters(categories=["Cc", "Cf", "Cs", "Zl", "Zp"])))
def test_nothing_is_left_that_a_terminal_obeys(text):
    for character in printable(text):
        assert character in "\n\t" or unicodedata.category(character) not in OBEYED
    assert "\n" not in one_line(text)
    assert "\t" not in one_line(text)


def test_text_stays_and_escapes_are_shown():
    assert printable("größer → 2× 行列\n\tλ") == "größer → 2× 行列\n\tλ"
    assert printable("\x1b[2J\u202egnp\x7f") == "\\x1b[2J\\u202egnp\\x7f"
    out = io.StringIO()
    show("a\x07", 3, sep="-", file=out)
    assert out.getvalue() == "a\\x07-3\n"


def test_json_stays_json(capsys):
    value = {"a\x7f\x1b": "\u202e\x9b\ud800"}
    answers.write(Any, value)
    text = capsys.readouterr().out
    assert text.isascii()
    assert text.strip().isprintable()
    assert json.loads(text) == value


def test_the_command_line_prints_by_no_other_way():
    files = Path(loopbook.cli.__file__).parent.glob("*.py")
    for file in (one for one in files if one.name != "style.py"):  # its words are made fit before
        names = [
            node.func.id
            for node in ast.walk(ast.parse(file.read_text()))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        ]
        assert "print" not in names, file.name
