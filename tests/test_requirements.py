"""What setup installs is named exactly, and nothing new comes by itself."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]

LOCK = (ROOT / "requirements.lock").read_text()

INSTALLED = ("train", "torch", "plot", "ui", "tune", "corpus", "server", "farm", "docs", "dev")
"""The extras that setup installs."""

UNLOCKED = {"torch"}
"""Which build of it comes depends on the machine; its version is exact all the same."""


def wanted() -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    texts = project["dependencies"] + [text for name in INSTALLED for text in extras[name]]
    return [Requirement(text) for text in texts]


def locked() -> dict[str, list[tuple[Requirement, int]]]:
    """Package to its entries, each with the number of its hashes."""
    found: dict[str, list[tuple[Requirement, int]]] = {}
    for block in re.split(r"\n(?=[a-zA-Z])", LOCK):
        lines = [line for line in block.splitlines() if line and line.lstrip()[0] != "#"]
        if not lines:
            continue
        requirement = Requirement(lines[0].removesuffix("\\").strip())
        hashes = [line for line in lines[1:] if re.search(r"--hash=sha256:[0-9a-f]{64}\b", line)]
        assert len(hashes) == len(lines) - 1, block[:200]
        found.setdefault(canonicalize_name(requirement.name), []).append((requirement, len(hashes)))
    return found


@pytest.mark.parametrize("requirement", wanted(), ids=lambda one: one.name)
def test_what_we_depend_on_has_an_upper_bound_and_is_locked(requirement):
    assert any(one.operator in ("<", "==", "~=") for one in requirement.specifier)
    name = canonicalize_name(requirement.name)
    if name in UNLOCKED:
        assert name not in locked()
        return
    for entry, _ in locked()[name]:
        (version,) = entry.specifier
        assert version.operator == "=="
        assert version.version in requirement.specifier


def test_each_package_is_locked_by_hash():
    entries = [entry for several in locked().values() for entry in several]
    assert len(entries) > 80
    assert all(str(one.specifier).startswith("==") and hashes for one, hashes in entries)


def test_the_lock_names_no_hosts_and_no_builds_for_gpus():
    assert not re.search(r"://|^\s*-(?!-hash=)", LOCK, re.MULTILINE)
    assert not [name for name in locked() if re.match(r"(nvidia|cuda|triton)\b", name)]
