"""The README: short, with a picture of what was measured, and links that lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys

from tests.docs.console import ROOT

README = (ROOT / "README.md").read_text()


def test_it_is_one_screen_or_little_more():
    assert len(README.splitlines()) <= 60
    assert max(map(len, README.splitlines())) <= 140


def test_its_links_lead_somewhere():
    addresses = re.findall(r"\]\(([^)]*)\)", README)
    assert len(addresses) > 10
    assert [a for a in addresses if "://" not in a and not (ROOT / a).exists()] == []


def test_its_picture_and_figures_are_those_of_the_results():
    command = [sys.executable, "tools/headline.py", "--check"]
    assert subprocess.run(command, cwd=ROOT, check=False).returncode == 0, "run tools/headline.py"
    results = ROOT / "benchmarks" / "results"
    for figure, page in (("5.51×", "peers.md"), ("1.33×", "peers.md"), ("9.0×", "npbench.md")):
        assert figure in README
        shown = (results / page).read_text()
        assert figure in shown or figure.replace("×", "") in shown, f"{figure} is not in {page}"
