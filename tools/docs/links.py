"""Brings what lies outside of ``docs`` into the site, or leaves it out (a hook of MkDocs).

Pages link to files of the repository, for who reads them there. Of these, results of benchmarks
become pages of the site; a link to any other file becomes its text, since the site has no sources.
A link to a file that does not exist is a warning, and so an error of ``mkdocs build --strict``.
"""

from __future__ import annotations

import logging
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
RESULTS = "benchmarks/results"
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
FENCE = re.compile(r"^(```.*?^```|~~~.*?^~~~)$", re.MULTILINE | re.DOTALL)

log = logging.getLogger("mkdocs.plugins.links")


def on_files(files: Files, config: Any) -> Files:
    """Adds the results, and a page that lists them."""
    titles = {}
    for path in sorted((ROOT / RESULTS).iterdir()):
        if path.suffix not in (".md", ".png", ".json"):
            continue
        uri = f"results/{path.name}"
        files.append(File.generated(config, uri, abs_src_path=str(path)))
        if path.suffix == ".md":
            titles[path.name] = _title(path)
    rows = [f"- [{title}]({name})" for name, title in titles.items()]
    text = "\n".join(["# Results of benchmarks", "", *rows, ""])
    files.append(File.generated(config, "results/index.md", content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    source = page.file.abs_src_path
    if source is None or not Path(source).is_relative_to(ROOT):
        return markdown
    folder = Path(source).parent.relative_to(ROOT).as_posix()
    here = posixpath.dirname(page.file.src_uri)

    def linked(match: re.Match[str]) -> str:
        mark, text, address = match.groups()
        if re.match(r"[a-z]+:|#", address):
            return match[0]
        target, _, anchor = address.partition("#")
        path = posixpath.normpath(posixpath.join(folder, target))
        if not (ROOT / path).exists():
            log.warning("%s: %s does not exist", page.file.src_uri, path)
            return match[0]
        uri = site_uri(path)
        if uri is None:
            return text
        new = posixpath.relpath(uri, here or ".")
        return f"{mark}[{text}]({new}{'#' + anchor if anchor else ''})"

    parts = FENCE.split(markdown)
    return "".join(
        part if part.startswith(("```", "~~~")) else LINK.sub(linked, part) for part in parts
    )


def site_uri(path: str) -> str | None:
    """Where a file of the repository is on the site; None if it is not there."""
    if path == RESULTS:
        return "results/index.md"
    for place, name in (("docs", ""), (RESULTS, "results")):
        if path.startswith(f"{place}/"):
            return posixpath.join(name, path.removeprefix(f"{place}/"))
    return None


def _title(path: Path) -> str:
    """The name of the file, and what its first line calls it if that is a heading."""
    first = path.read_text().partition("\n")[0]
    told = f": {first.removeprefix('# ')}" if first.startswith("# ") else ""
    return f"{path.stem}{told}"
