"""Canned answers: JSON files in one folder, found by name or by the program that is asked about.

A file holds ``{"program": digest, "about": words, "answer": {…}}``. Names are plain words: nothing
outside the folder is read, whatever a client asks for.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import uuid
from pathlib import Path
from typing import Any

from loopbook.errors import InputError, LoopbookError
from loopbook.program.nests import read_nests

FOLDER = Path(__file__).resolve().parent / "answers"
"""The answers that come with loopbook."""

MAX_BYTES = 16 << 20
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


class Answers:
    """The answers in a folder.

    Raises:
        InputError: there is no such folder.
    """

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise InputError(f"there is no folder {folder}")
        self._folder = folder.resolve()
        self._by_program: dict[str, str] = {}
        for name in self.names():
            self._by_program[str(self._read(name).get("program"))] = name

    def names(self) -> list[str]:
        """The names of all answers."""
        files = self._folder.glob("*.json")
        names = (path.stem for path in files if path.is_file() and not path.is_symlink())
        return sorted(name for name in names if _NAME.fullmatch(name))

    def named(self, name: str) -> dict[str, Any]:
        """The answer of a name.

        Raises:
            InputError: the name is none, or there is no such answer.
        """
        return self._read(name)["answer"]

    def about(self, sdfg: dict[str, Any]) -> dict[str, Any] | None:
        """The answer about a program; None if there is none."""
        name = self._by_program.get(digest(sdfg) or "none")
        return None if name is None else self.named(name)

    def keep(self, name: str, sdfg: dict[str, Any], answer: dict[str, Any], about: str) -> None:
        """Add an answer, in place of one of that name.

        Raises:
            InputError: the name is none, or the file cannot be written.
        """
        if not _NAME.fullmatch(name):
            raise InputError("an answer's name is made of letters, digits, _ and -")
        told = {"program": digest(sdfg), "about": about, "answer": _anonymous(answer)}
        draft = self._folder / f".{name}.{uuid.uuid4().hex[:8]}.new"
        try:
            draft.write_text(json.dumps(told, separators=(",", ":")) + "\n")
            draft.replace(self._folder / f"{name}.json")
        except OSError as error:
            raise InputError(f"{name} cannot be written: {error.strerror}") from None
        finally:
            draft.unlink(missing_ok=True)
        self._by_program[told["program"]] = name

    def _read(self, name: str) -> dict[str, Any]:
        if not _NAME.fullmatch(name):
            raise InputError("there is no answer of that name")
        try:
            # A link may lead anywhere.
            handle = os.open(self._folder / f"{name}.json", os.O_RDONLY | os.O_NOFOLLOW)
            with os.fdopen(handle, "rb") as file:
                told = json.loads(file.read(MAX_BYTES))
        except (OSError, ValueError, RecursionError):
            raise InputError("there is no answer of that name") from None
        if not isinstance(told, dict) or not isinstance(told.get("answer"), dict):
            raise InputError("that answer is damaged")
        return told


def digest(sdfg: dict[str, Any]) -> str:
    """What names a program: equal wherever its source lies, and in whatever order docc puts
    independent statements; empty for what is no program."""
    try:
        nests = [
            [
                nest.fingerprint,
                [[one.name, one.data] for one in nest.containers],
                [[loop.indvar, loop.init, loop.condition] for loop in nest.loops],
            ]
            for nest in read_nests(sdfg)
        ]
        text = json.dumps([sdfg["name"], sdfg["arguments"], nests])
    except (LoopbookError, KeyError, TypeError, ValueError, AttributeError, RecursionError):
        return ""
    return hashlib.sha256(text.encode()).hexdigest()[:32] if nests else ""


def _anonymous(value: Any) -> Any:
    """An answer without the paths of whoever asked first."""
    if isinstance(value, dict):
        hidden = {"filename": "", "output_dir": ""}
        return {k: hidden[k] if k in hidden else _anonymous(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_anonymous(one) for one in value]
    return value


def in_place_of(sdfg: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    """An answer for a client whose program is `sdfg`: docc builds in the folder that the program
    itself names, and that is the client's own."""
    try:
        folder = sdfg["metadata"]["output_dir"]
        program = answer["sdfg_result"]["sdfg"]
        metadata = program["metadata"] | {"output_dir": folder}
    except (KeyError, TypeError):
        return answer
    return answer | {"sdfg_result": {"sdfg": program | {"metadata": metadata}}}
