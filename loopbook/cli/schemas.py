"""``loopbook schema``: what every command prints with ``--json``."""

from __future__ import annotations

import json as jsons
from collections.abc import Callable, Mapping
from functools import cache
from typing import Annotated, Any

import typer

from loopbook.cli import options, style
from loopbook.cli.answers import answers, schema_of, write
from loopbook.errors import InputError
from loopbook.printable import one_line, show


@answers(dict[str, Any])
def schema(
    command: Annotated[
        list[str] | None, typer.Argument(help="such as: book list; default a list of all")
    ] = None,
    json: options.Json = False,
) -> None:
    """Print the JSON schema of what a command prints with --json."""
    known = commands()
    if command:
        name = " ".join(command)
        if name not in known:
            words = one_line(name, 60)
            raise InputError(f"no command {words!r} has --json: 'loopbook schema' lists those")
        told = schema_of(known[name], name)
        if json:
            write(dict[str, Any], told)
        else:
            show(jsons.dumps(told, indent=2))
        return
    if json:
        write(dict[str, Any], {name: schema_of(one, name) for name, one in known.items()})
        return
    rows = style.table("command", "prints with --json", cut=["prints with --json"])
    alike: dict[tuple[str, str], list[str]] = {}
    for name, one in known.items():
        group, _, rest = name.rpartition(" ")
        alike.setdefault((group, brief(schema_of(one, name))), []).append(rest)
    for (group, what), names in alike.items():
        style.add(rows, f"{group} {', '.join(names)}".strip(), what)
    style.tell(rows, "'loopbook schema COMMAND' prints a schema, --json all of them")


@cache
def commands() -> dict[str, Callable[..., Any]]:
    """All commands with ``--json``, by their names, such as ``book list``."""
    from loopbook.cli.app import app

    found: dict[str, Callable[..., Any]] = {}
    todo: list[tuple[str, Any]] = [("", typer.main.get_command(app))]
    while todo:
        name, one = todo.pop()
        parts: Mapping[str, Any] = getattr(one, "commands", {})
        todo += [(f"{name} {part}".strip(), each) for part, each in parts.items()]
        if any("--json" in getattr(option, "opts", ()) for option in one.params):
            found[name] = one.callback
    return dict(sorted(found.items()))


def brief(schema: Mapping[str, Any]) -> str:
    """What a schema's document is, on one line."""
    return _brief(schema, schema.get("$defs", {}))


def _brief(schema: Mapping[str, Any], parts: Mapping[str, Any]) -> str:
    """The same of a part of a schema, which may refer to others."""
    if "anyOf" in schema:
        return ", or ".join(_brief(one, parts) for one in schema["anyOf"])
    if "$ref" in schema:
        return _brief(parts[schema["$ref"].rpartition("/")[2]], parts)
    if schema.get("type") == "array":
        return f"a list: {_brief(schema['items'], parts)}"
    return schema.get("description", "an object").partition(".")[0].replace("`", "'")


def page() -> str:
    """All schemas, as a page in Markdown."""
    parts = []
    for name, command in commands().items():
        told = schema_of(command, name)
        text = jsons.dumps(told, indent=2)
        parts.append(f"## {name}\n\n{brief(told)}.\n\n```json\n{text}\n```")
    return "\n\n".join(parts)
