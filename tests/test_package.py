"""What people install: wheel and source are fit for an index, and the wheel works by itself."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest
from cli_kit import PRODUCT, surroundings

from benchmarks import newcomer

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.long


def ran(*words: object, **options: object) -> str:
    """Standard output of a program, after checking that all went well."""
    command = [str(word) for word in words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The wheel and the source package."""
    folder = tmp_path_factory.mktemp("dist")
    ran(sys.executable, "-m", "hatchling", "build", "-d", folder, cwd=ROOT)
    (wheel,) = folder.glob("*.whl")
    (source,) = folder.glob("*.tar.gz")
    return wheel, source


@pytest.fixture(scope="module")
def python(packages: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter of an environment with the wheel in it; what it depends on is found where
    these tests have it, so that nothing is fetched."""
    folder = tmp_path_factory.mktemp("environment")
    ran(sys.executable, "-m", "venv", "--without-pip", folder)
    python = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check"]
    ran(*pip, "install", "--quiet", "--no-deps", "--no-index", packages[0])
    where = ran(python, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])").strip()
    ours = {sysconfig.get_paths()[kind] for kind in ("purelib", "platlib")}
    Path(where, "dependencies.pth").write_text("\n".join(sorted(ours)))
    return python


def test_an_index_would_take_them(packages: tuple[Path, Path]):
    pytest.importorskip("twine")
    assert ran(sys.executable, "-m", "twine", "check", "--strict", *packages).count("PASSED") == 2


def test_its_description_has_links_to_addresses_only(packages: tuple[Path, Path]):
    with zipfile.ZipFile(packages[0]) as wheel:
        (name,) = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
        description = wheel.read(name).decode().partition("\n\n")[2]
    assert "# loopbook" in description
    addresses = re.findall(r"\]\(([^)]*)\)", description)
    assert addresses
    assert [one for one in addresses if not one.startswith("https://")] == []
    assert "![" not in description


def test_they_hold_what_they_should(packages: tuple[Path, Path]):
    pages = {f"loopbook/explorer/static/{name}" for name in ("report.html", "assets/app.js")}
    with zipfile.ZipFile(packages[0]) as wheel:
        tops = {name.partition("/")[0] for name in wheel.namelist()}
        assert tops == {"loopbook", "loopbook-0.1.0.dist-info"}
        assert "loopbook/data/starter.book" in wheel.namelist()
        assert {"loopbook/explorer/static/index.html", *pages} <= set(wheel.namelist())
        unwanted = ("/corpus/", ".pyc", "node_modules", "explorer/web/")
        assert not [name for name in wheel.namelist() if any(one in name for one in unwanted)]
    with tarfile.open(packages[1]) as source:
        names = {name.partition("/")[2] for name in source.getnames()}
    assert {"hatch_build.py", "loopbook/explorer/web/package-lock.json", *pages} <= names
    assert not [name for name in names if "node_modules" in name]
    assert {"README.md", "CHANGELOG.md", "mkdocs.yml", "docs/index.md", "LICENSE"} <= names


def test_the_wheel_works_in_an_environment_of_its_own(python: Path, tmp_path: Path):
    environment = {**os.environ, **surroundings(tmp_path)}
    for name in ("PYTHONPATH", "LOOPBOOK_STARTER", "LOOPBOOK_BOOK"):
        environment.pop(name, None)
    (tmp_path / "kernel.py").write_text(PRODUCT)
    command = python.with_name("loopbook")
    options = {"cwd": tmp_path, "env": environment}
    where = ran(python, "-c", "import loopbook; print(loopbook.__file__)", **options)
    assert Path(where.strip()).is_relative_to(python.parents[1])
    assert "tile LOOP SIZE" in ran(command, "steps", "tile", **options)
    assert "away" in ran(command, "nearest", "kernel.py", **options)
    compiled = "import numpy, loopbook, kernel; f = loopbook.native(strict=True)(kernel.kernel)\n"
    compiled += "a = kernel.initialize(24); f(*a.values())\n"
    compiled += "print(numpy.allclose(a['out'], a['left'] @ a['right']))"
    assert ran(python, "-c", compiled, **options).strip() == "True"


def test_a_newcomer_gets_through_the_first_minutes(python: Path, tmp_path: Path):
    """Times are for ``benchmarks/newcomer.py`` to tell, on a machine that does nothing else."""
    path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
    terminal = newcomer.Terminal(tmp_path / "work", {"PATH": path})
    try:
        every, page = newcomer.visit(terminal, tmp_path / "work")
        for told in every:
            assert told.good, f"{told.code}, {told.lines} lines:\n{newcomer.plain(told.text)}"
        failed = terminal.type("loopbook bench nothing.py")
    finally:
        terminal.close()
    assert (failed.code, failed.lines) == (2, 1), failed
    if newcomer.chromium() is None:
        pytest.skip("there is no Chromium: 'make setup' installs one")
    told = newcomer.plain(page)
    assert re.search(r"\d records? . read-only", told), "the book's name stands at the top"
    assert "Map of the book" in told, told


def test_rows_of_a_terminal_are_counted():
    assert newcomer.lines("one\r\n\x1b[32mtwo\x1b[0m\r\n") == 2
    assert newcomer.lines("x" * 81 + "\r\n") == 2
    assert newcomer.lines("bar\r\n\x1b[1A\x1b[2Kdone\r\n") == 1
    assert newcomer.plain("10 %\r20 %\r\n") == "20 %\n"
