"""Files that a command line names for what is to be written."""

from __future__ import annotations

from pathlib import Path

from loopbook.errors import InputError


def check_folder(path: Path) -> None:
    """No folder is made for what a command line may have misspelt.

    Raises:
        InputError: the folder of the file is missing.
    """
    if not path.parent.is_dir():
        raise InputError(f"the folder {path.parent} is missing: make it first")


def check_file(path: Path) -> None:
    """Make sure that a file can be there, before there is anything to write.

    Raises:
        InputError: it is a folder, or its folder is missing.
    """
    if path.is_dir() or not path.parent.is_dir():
        what = "is a folder" if path.is_dir() else "is in no folder that there is"
        raise InputError(f"cannot write {path}: it {what}")


def write(path: Path, text: str) -> None:
    """All of the file or nothing.

    Raises:
        InputError: it cannot be written.
    """
    partial = path.with_name(f".{path.name}.partial")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise InputError(f"cannot write {path}: {error.strerror}") from None
