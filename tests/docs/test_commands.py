"""Every command that the documentation shows is run, or it is said why not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.command_lines import fault
from tests.docs.console import DOCS, PAGES, TUTORIAL, Block, blocks, mentions
from tests.docs.shell import Shell, missing, programs

COMMAND = re.compile(r"^(?:\$ )?(?:loopbook|make|pip|python|docker|kubectl|export) ", re.MULTILINE)


def _run(pages: list[Path]) -> list[Block]:
    found = [block for page in pages for block in blocks(page)]
    return [one for one in found if (one.kind == "console" and not one.reason) or one.title]


STORIES = {"tutorial": TUTORIAL} | {
    str(page.relative_to(DOCS)): [page]
    for page in PAGES
    if page.is_relative_to(DOCS) and page not in TUTORIAL and _run([page])
}

TYPED = {command.bare for block in _run(TUTORIAL) for command in block.commands}
"""What the tutorial runs is not run again where other pages tell it."""

SKIPPED = [
    block for page in PAGES for block in blocks(page) if block.kind == "console" and block.reason
]


@pytest.fixture(scope="module")
def loopbook(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with programs(tmp_path_factory.mktemp("programs")) as folder:
        yield folder


@pytest.fixture
def shell(tmp_path: Path, loopbook: Path) -> Iterator[Shell]:
    """With the tutorial's kernel at hand, of which the other pages speak."""
    made = Shell(tmp_path, loopbook)
    made.write(next(block for block in blocks(TUTORIAL[0]) if block.title == "kernel.py"))
    yield made
    made.end()


@pytest.mark.long
@pytest.mark.parametrize("story", STORIES)
def test_what_a_page_has_one_type_works(story: str, shell: Shell):
    for block in _run(STORIES[story]):
        if block.title:
            shell.write(block)
        for command in block.commands if block.kind == "console" else ():
            if story != "tutorial" and command.bare in TYPED:
                continue
            code, printed = shell.type(command)
            assert code == 0, f"{command.place}: {command.line}\n{printed}"
            assert not missing(command.shown, printed), f"{command.place}:\n{printed}"


@pytest.mark.parametrize("block", SKIPPED, ids=lambda block: block.place)
def test_it_is_said_why_a_command_is_not_run(block: Block, record_property):
    assert len(block.reason) > 10
    assert block.commands
    for command in block.commands:
        record_property("not run", f"{command.place}: {command.line.strip()}: {block.reason}")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_that_are_named_exist(page: Path):
    assert [problem for _, line in mentions(page) if (problem := fault(line))] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_stand_where_they_are_found(page: Path):
    others = [block for block in blocks(page) if block.kind != "console"]
    assert [one.place for one in others if COMMAND.search(one.body)] == []
    assert page.read_text().count("<!-- not run") == sum(bool(one.reason) for one in blocks(page))


def test_what_is_wrong_with_a_command_is_seen():
    assert fault("loopbook nearest kernel.py -k 3 --json") == ""
    assert fault("loopbook queue list|show|raise ID") == ""
    assert "no --loud" in fault("loopbook bench kernel.py --loud")
    assert "no bake" in fault("loopbook book bake")


def test_shown_lines_have_to_be_printed():
    assert missing(("took 3.2 s", "…", "right"), "took  12 s\nnoise\nright\n") == ""
    assert missing(("right", "took 3.2 s"), "took 12 s\nright\n") == "took 3.2 s"
