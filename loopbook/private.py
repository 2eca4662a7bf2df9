"""Folders that nobody else can reach into, for what we build, load and keep, and files that nobody
else can read.

A library is loaded with all our rights, so the folder that it lies in must be ours, and so must be
every folder above it: whoever may rename one of them may put his own in its place. A folder is
trusted if each one on its way from the root belongs to us or to root and is not writable for
others; root's sticky folders, as ``/tmp``, are the exception, since nobody can rename there what is
not his.
"""

from __future__ import annotations

import contextlib
import grp
import os
import pwd
import stat
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

from loopbook.errors import FolderError

ROOT = 0

MODE = 0o700

FILE_MODE = 0o600

_LINKS = 40
"""Symbolic links followed on one way, as many as Linux follows."""


def folder(path: Path) -> Path:
    """Make `path`, with what is missing above it, unless it is there; nobody else can reach into
    it from then on.

    Returns:
        The folder's path without symbolic links.

    Raises:
        FolderError: it or one above it is not to be trusted, or it cannot be made.
    """
    return _walk(path, make=True)


def check(path: Path) -> Path:
    """`folder` for one that is there: it is neither made nor changed, and others may read in it.

    Raises:
        FolderError: it is not there, or it or one above it is not to be trusted.
    """
    return _walk(path, make=False)


def make_folders(path: Path) -> None:
    """Make a folder, with what is missing above it, closed to others; what is there stays as it is.

    Raises:
        OSError: it cannot be made, or is no folder.
    """
    missing = [one for one in (path, *path.parents) if not os.path.lexists(one)]
    for one in reversed(missing):
        with contextlib.suppress(FileExistsError):  # another process was quicker
            one.mkdir(MODE)
    path.mkdir(exist_ok=True)


def new_file(path: Path) -> BinaryIO:
    """A new file to write, which only its owner can read, whatever the umask.

    Raises:
        OSError: there is one already, be it a link that leads nowhere, or it cannot be made.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    return os.fdopen(os.open(path, flags, FILE_MODE), "wb")


def appended(path: Path) -> BinaryIO:
    """A file to read and to write at its end; a new one is closed to others.

    Raises:
        OSError: it cannot be opened.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
    return os.fdopen(os.open(path, flags, FILE_MODE), "a+b")


def is_ours(path: Path) -> bool:
    """Whether nobody else but root can change a file, or put another in its place."""
    try:
        found = _resolved(path.absolute().parent, make=False) / path.name
        status = os.stat(found)
        if os.path.islink(found):
            return is_ours(found.resolve())
    except (FolderError, OSError):
        return False
    return status.st_uid in _trusted_users() and not status.st_mode & 0o022


def place(path: Path) -> Path:
    """A folder to build in: `check`, or `folder` where there is none.

    Raises:
        FolderError: as these.
    """
    return check(path) if path.exists() else folder(path)


def temporary(prefix: str) -> Path:
    """A new folder in the temporary folder.

    Raises:
        FolderError: the temporary folder is not to be trusted, or cannot be written.
    """
    try:
        return Path(tempfile.mkdtemp(prefix=prefix, dir=_resolved(above(), make=False)))
    except FolderError as error:
        raise FolderError(f"{error}; set TMPDIR to a folder of your own") from None
    except OSError as error:
        raise FolderError(f"cannot make a temporary folder: {error.strerror}; set TMPDIR") from None


def above() -> Path:
    """The temporary folder, as ``TMPDIR`` or the system has it; not looked at.

    Raises:
        FolderError: there is none.
    """
    try:
        return Path(tempfile.gettempdir())
    except OSError:
        raise FolderError("there is no temporary folder that can be written; set TMPDIR") from None


def _walk(path: Path, *, make: bool) -> Path:
    found = _resolved(path, make=make)
    status = os.lstat(found)
    if status.st_uid != os.geteuid():
        raise FolderError(f"{found} belongs to somebody else")
    if _open(status):  # a sticky one too
        raise FolderError(f"{found} can be written by others")
    if make and status.st_mode & 0o077:
        os.chmod(found, MODE)
    return found


def _resolved(path: Path, *, make: bool) -> Path:
    """The way to `path`, checked from the root on. No other user can change what has been checked,
    so what comes next is still what it was when it is looked at.

    Raises:
        FolderError: see `folder`.
    """
    waiting = [*reversed(Path(os.path.abspath(path)).parts[1:])]
    at, links = Path("/"), 0
    _check_folder(at, os.lstat(at))
    while waiting:
        part = waiting.pop()
        if part in ("", "."):
            continue
        below = at.parent if part == ".." else at / part
        status = _status(below, make=make)
        if stat.S_ISLNK(status.st_mode):
            links += 1
            if links > _LINKS:
                raise FolderError(f"{path} leads through too many symbolic links")
            if status.st_uid not in _trusted_users():
                raise FolderError(f"{below} is a symbolic link of somebody else's")
            target = os.readlink(below)
            waiting += reversed(target.split("/"))
            at = Path("/") if target.startswith("/") else at
            continue
        _check_folder(below, status)
        at = below
    return at


def _status(path: Path, *, make: bool) -> os.stat_result:
    try:
        if make and not os.path.lexists(path):
            with contextlib.suppress(FileExistsError):  # somebody was quicker: it is looked at
                os.mkdir(path, MODE)
        return os.lstat(path)
    except OSError as error:
        raise FolderError(f"{path} cannot be used: {error.strerror}") from None


def _check_folder(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISDIR(status.st_mode):
        raise FolderError(f"{path} is no folder")
    if status.st_uid not in _trusted_users():
        raise FolderError(f"{path} belongs to somebody else")
    if _open(status) and not status.st_mode & stat.S_ISVTX:
        raise FolderError(f"{path} can be written by others")


def _open(status: os.stat_result) -> bool:
    """Whether others may write in a folder."""
    group = bool(status.st_mode & stat.S_IWGRP) and status.st_gid != _own_group()
    return group or bool(status.st_mode & stat.S_IWOTH)


@lru_cache(maxsize=1)
def _own_group() -> int | None:
    """The group that holds nobody but us, which many systems make for each user, and let write to
    what he makes."""
    try:
        user = pwd.getpwuid(os.geteuid())
        group = grp.getgrgid(user.pw_gid)
    except KeyError:
        return None
    alone = group.gr_name == user.pw_name and not set(group.gr_mem) - {user.pw_name}
    return group.gr_gid if alone else None


def _trusted_users() -> frozenset[int]:
    return _root_users() | {os.geteuid()}


@lru_cache(maxsize=1)
def _root_users() -> frozenset[int]:
    """Who root is. In a user namespace that does not know him, his folders are "nobody's"."""
    try:
        rows = [
            [int(word) for word in line.split()]
            for line in Path("/proc/self/uid_map").read_text().splitlines()
        ]
        nobody = int(Path("/proc/sys/kernel/overflowuid").read_text())
    except OSError:
        return frozenset({ROOT})
    known = any(inside <= ROOT < inside + count for inside, _, count in rows)
    return frozenset({ROOT} if known else {ROOT, nobody})
