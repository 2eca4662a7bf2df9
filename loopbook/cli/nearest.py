"""The command that shows what a book has near to a program's nests."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from loopbook.cli import style
from loopbook.cli.answers import Answer, answers, write
from loopbook.cli.plans import some_nests
from loopbook.cli.query import Query, asking

NESTS = 5
"""Nests of a program that are shown."""


class Near(Answer):
    """A record near to a nest.

    Attributes:
        record: its id.
        nest: that it is about.
        kernel: the program that this is in.
        distance: of the two nests' embeddings.
        hardware_distance: of the two machines; 0 for the same class.
        speedup: what was measured there.
        hardware: the processor.
        recipe: its steps, a line each.
    """

    record: str
    nest: str
    kernel: str
    distance: float
    hardware_distance: float
    speedup: float
    hardware: str
    recipe: str


class Nest(Answer):
    """A nest of the program.

    Attributes:
        position: in the prepared program.
        loops: as the program calls them.
        fingerprint: the same however variables are named.
        neighbours: the nearest first.
    """

    position: int
    loops: list[str]
    fingerprint: str
    neighbours: list[Near]


class Nearest(Answer):
    """What a book has near to a program's nests."""

    program: str
    target: str
    nests: list[Nest]


@answers(Nearest)
@asking
def nearest(
    query: Query,
    k: Annotated[int, typer.Option("-k", help="how many", min=1, max=1000)] = 5,
    whole: Annotated[bool, typer.Option("--all", help="show all nests of the program")] = False,
) -> None:
    """Show the nearest records for each nest of a program."""
    found = query.run(_nearest, k)
    if query.json:
        name = query.source.name
        write(Nearest, {"program": name, "target": query.target, "nests": found})
        return
    shown = found if whole else found[:NESTS]
    for nest in shown:
        style.tell(style.heading(f"nest {nest['position']}", "loops " + " ".join(nest["loops"])))
        if nest["neighbours"]:
            style.tell(_table(_merged(nest["neighbours"])))
        else:
            style.tell("nothing in the book")
        style.tell("")
    if len(shown) < len(found):
        style.tell(f"{len(found) - len(shown)} more nests: --all shows them")
    if any(nest["neighbours"] for nest in shown):
        style.tell("loopbook book show RECORD tells all of one")


def _nearest(query: Query, k: int) -> list[dict[str, Any]]:
    from loopbook.client.opening import open_book
    from loopbook.sdfg import program

    nests = some_nests(program.prepare_nests(query.source.text)[1], query.source.name)
    with open_book(query.book) as layered:
        return [
            {
                "position": nest.position,
                "loops": query.source.told([loop.indvar for loop in nest.loops]),
                "fingerprint": nest.fingerprint,
                "neighbours": [
                    {
                        "record": near.record.id,
                        "nest": near.record.nest,
                        "kernel": near.record.kernel,
                        "distance": round(near.distance, 5),
                        "hardware_distance": round(near.hardware_distance, 4),
                        "speedup": round(near.speedup, 3),
                        "hardware": near.record.hardware.cpu or near.record.hardware.isa,
                        "recipe": near.record.recipe.text(),
                    }
                    for near in layered.nearest(nest, k, target=query.target, exclude=query.exclude)
                ],
            }
            for nest in nests
        ]


def _merged(neighbours: list[dict[str, Any]]) -> list[tuple[dict[str, Any], int]]:
    """The nearest of those that are equally far and have the same recipe, and how many they are."""
    groups: dict[tuple[float, str], list[dict[str, Any]]] = {}
    for near in neighbours:
        groups.setdefault((near["distance"], near["recipe"]), []).append(near)
    return [(group[0], len(group)) for group in groups.values()]


def _table(merged: list[tuple[dict[str, Any], int]]) -> Any:
    made = style.table(
        "record", "nest", "away", "machine", "gain", "recipe", right=["away", "gain"],
        cut=["nest", "recipe"],
    )  # fmt: skip
    for near, count in merged:
        style.add(
            made,
            near["record"][: style.ID],
            near["nest"] + (f" and {count - 1} more" if count > 1 else ""),
            f"{near['distance']:.3f}",
            "same" if near["hardware_distance"] == 0 else f"{near['hardware_distance']:.2f}",
            style.gain(near["speedup"]),
            style.recipe(near["recipe"], 2),
        )
    return made
