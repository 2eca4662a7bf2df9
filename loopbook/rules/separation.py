"""Products held together by a temporary: it is expanded, and each gets a loop nest of its own.

A sum that is gathered in a scalar, or in one row for all rows in turn, ties what is done for one
row together. With a place for each row, the statements can be distributed over nests of which the
expensive ones are products of whole matrices.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from loopbook.program.nest import Loop, Nest
from loopbook.rules.bands import Band
from loopbook.rules.base import Steps, TuningContext, reorder, step, tile_all, with_tiles
from loopbook.rules.fission import carried, ends_in_copy
from loopbook.rules.registers import MICRO_TILES, depth
from loopbook.rules.sampled import on_nests, seeds
from loopbook.rules.staircase import related, tiles


@on_nests(1.0)
def separate(nest: Nest, random: Random, context: TuningContext) -> Steps:
    """Expand what holds the nest's products together, distribute, and tile each product."""
    rows, vectors = random.choice(MICRO_TILES)
    columns = vectors * context.lanes
    return separated(nest, _tiles((rows, columns, depth(context, columns, random)), context))


@seeds(1)
def fitted_separations(nest: Nest, context: TuningContext) -> list[Steps]:
    """Two sizes to begin with; none where nothing is to be separated."""
    found: list[Steps] = []
    for rows, vectors, summands in ((4, 4, 256), (8, 3, 256)):
        if steps := separated(nest, _tiles((rows, vectors * context.lanes, summands), context)):
            found.append(steps)
    return found


@dataclass(frozen=True)
class Product:
    """A product that has got loops of its own.

    Attributes:
        row, column, reduction: its loops, as they were.
        order: the three by what they were called, outermost first.
        names: what steps call them now.
    """

    row: Loop
    column: Loop
    reduction: Loop
    order: tuple[str, ...]
    names: dict[str, str]

    @classmethod
    def of(cls, row: Loop, column: Loop, reduction: Loop, names: dict[str, str]) -> Product:
        order = sorted((row, column, reduction), key=lambda loop: loop.depth)
        return cls(row, column, reduction, tuple(loop.name for loop in order), names)


def separated(nest: Nest, optimised: Callable[[Product], Steps]) -> Steps:
    """Expand what holds a nest's products together, and distribute; none where nothing does.

    Args:
        optimised: steps for each of the products.
    """
    for outer, inner in carried(nest):
        if outer.parent >= 0 and nest.children(outer.index) == (inner,):
            top = nest.loops[outer.parent]
            if nest.children(inner.index):
                continue
            if nest.children(top.index) == (outer,):
                return _from_scalar(nest, (top, outer, inner), optimised)
            if steps := _from_scalars(nest, (top, outer, inner), optimised):
                return steps
    for loop in nest.loops:
        if _sets_first(nest, loop):
            return _from_row(nest, loop, optimised)
    return []


def _from_scalar(
    nest: Nest, loops: tuple[Loop, Loop, Loop], optimised: Callable[[Product], Steps]
) -> Steps:
    """The scalar's sum apart from what comes before and after, and from what is pushed on by it."""
    top, outer, inner = loops
    steps = [step("expand", top.name, outer.name)]
    pushes = any(
        access.write
        and nest.containers[access.container].is_array
        and nest.blocks[access.block].parent == inner.index
        for access in nest.accesses
    )
    if pushes:
        steps += [step("distribute", inner.name), step("reorder", f"{inner.name}.part1")]
    steps += [step("distribute", outer.name), step("distribute", top.name)]
    for part in ("", ".part2"):
        name = f"{outer.name}{part}"
        steps += [step("mark_parallel", name), step("vectorize", name)]
    band = Band(nest, loops)
    column = min((outer, top), key=band.innermost_cost)  # rows of the temporary lie along `outer`
    row = outer if column is top else top
    names = {loop.name: f"{loop.name}.part1" for loop in (top, outer)} | {inner.name: inner.name}
    steps += optimised(Product.of(row, column, inner, names))
    if pushes:
        names = {loop.name: f"{loop.name}.part3" for loop in (top, outer)}
        names[inner.name] = f"{inner.name}.part1"
        steps += optimised(Product.of(inner, column, row, names))
    return steps


def _from_scalars(
    nest: Nest, loops: tuple[Loop, Loop, Loop], optimised: Callable[[Product], Steps]
) -> Steps:
    """The sums of one row, each gathered in a scalar and put into a temporary that is a row, apart
    from what is done with them, and from what the row pushes on; none if more than that is done.

    Before and after, ``L0`` over rows, with the products for all rows in loops of their own::

        for i:
            for j, k: C[k, j] += …
            for j: s = 0; (for k: s += …); t[j] = s
            for j: C[i, j] += t[j]

        for i, j: t[i, j] = 0
        for i, j, k: t[i, j] += …
        for i, j: C[i, j] += t[i, j]
        for i, j, k: C[k, j] += …

    A sum of which something is computed before it is put there has a temporary of its own.
    """
    top, outer, inner = loops
    children = nest.children(top.index)
    if len(children) != sum(parent == ("loop", top.index) for parent, _ in nest.contains):
        return []
    pushed = [child for child in children[: children.index(outer)] if nest.children(child.index)]
    bands = [Band(nest, (top, child, *nest.children(child.index))) for child in pushed]
    if any(len(band.loops) != 3 or band.moves_output(top) for band in bands):
        return []
    copied = ends_in_copy(nest, outer)
    steps = [step("reg2mem" if copied else "expand", outer.name), step("distribute", outer.name)]
    steps += [step("reorder", child.name) for child in pushed]
    steps += [step("expand", top.name)] * (1 if copied else 2) + [step("distribute", top.name)]
    steps += [step("vectorize", f"{outer.name}{part}") for part in ("", ".part2")[: 2 - copied]]
    order = [child for child in children if child not in pushed]
    place = order.index(outer) + 1
    names = {top.name: f"{top.name}.part{place}", outer.name: f"{outer.name}.part1"}
    names[inner.name] = inner.name
    steps += optimised(Product.of(top, outer, inner, names))
    for place, band in enumerate(bands, start=len(order) + 2 - copied):
        column = min(band.loops[1:], key=band.innermost_cost)
        (row,) = (loop for loop in band.loops[1:] if loop is not column)
        names = {name: name for name in band.names} | {top.name: f"{top.name}.part{place}"}
        steps += optimised(Product.of(row, column, top, names))
    return steps


def _sets_first(nest: Nest, loop: Loop) -> bool:
    """Whether each iteration begins with setting an array that all iterations share."""
    children = nest.children(loop.index)
    if len(children) < 2 or nest.children(children[0].index):
        return False
    first = children[0]
    return any(
        access.write
        and nest.containers[access.container].is_array
        and nest.blocks[access.block].parent == first.index
        and access.subset == (first.indvar,)
        for access in nest.accesses
    )


def _from_row(nest: Nest, loop: Loop, optimised: Callable[[Product], Steps]) -> Steps:
    """A product for all of the loop's iterations in the place of one for each."""
    steps = [step("expand", loop.name), step("distribute", loop.name)]
    for number, child in enumerate(nest.children(loop.index)):
        held = list(nest.children(child.index))
        if not held:
            steps.append(step("vectorize", child.name))
            continue
        inner = held[0]
        if len(held) > 1 or nest.children(inner.index):
            continue
        band = Band(nest, (loop, child, inner))
        moving = [o for o in (child, inner) if band.moves_output(o)]
        if len(moving) != 1:
            continue
        (column,) = moving
        reduction = inner if column is child else child
        if reduction.kind == "reduce":
            steps.append(step("serialize", reduction.name))
        names = {name: name for name in band.names}
        names[loop.name] = f"{loop.name}.part{number}" if number else loop.name
        steps += optimised(Product.of(loop, column, reduction, names))
    return steps


def _tiles(sizes: tuple[int, int, int], context: TuningContext) -> Callable[[Product], Steps]:
    """Register tiles for products: rows, columns, and summands of a packed panel."""

    def tiled(product: Product) -> Steps:
        shared = [step("parallel", f"{product.names[product.column.name]}.tile")]
        steps = _tiled(product, sizes, threads=context.parallel)
        return steps + shared if context.parallel else steps

    return tiled


def _tiled(product: Product, sizes: tuple[int, int, int], *, threads: bool) -> Steps:
    rows, columns, summands = sizes
    order, names = product.order, product.names
    roles = product.row, product.column, product.reduction
    found = related(order, *roles)
    if found is not None:
        return tiles(found.renamed(names), rows, columns, summands, threads=threads)
    row, column, reduction = (names[loop.name] for loop in roles)
    order = tuple(names[name] for name in order)
    lengths = {row: rows, column: columns, reduction: summands}
    tiled = sorted(lengths, key=order.index)
    final = [f"{column}.tile", f"{reduction}.tile", f"{row}.tile", reduction, row, column]
    return [
        *tile_all({name: lengths[name] for name in tiled}),
        *reorder(with_tiles(order, tiled), final),
        *([step("mark_parallel", f"{column}.tile")] if threads else []),
        step("buffer", f"{row}.tile", reduction, column),
        step("mark_parallel", row),
        step("mark_parallel", column),
        step("buffer", reduction, row, column),
        step("pad", column),
        step("peel", row),
        step("vectorize", f"{column}*"),
        step("unroll", f"{row}*"),
    ]
