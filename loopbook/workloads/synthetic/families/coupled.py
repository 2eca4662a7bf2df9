"""Several fields on staggered grids, each updated from the others, step by step in time.

Leapfrog schemes for electromagnetic and acoustic waves (K. S. Yee, IEEE Trans. Antennas Propag. 14,
1966; J. Virieux, Geophysics 51, 1986), shallow water, reaction and diffusion of two substances.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from loopbook.workloads.synthetic.family import Choice, Family, orders
from loopbook.workloads.synthetic.program import Code, Program, element, extent, plus

STEPS = 10

FLOWS = "UVW"

Statement = tuple[str, str]
"""An array, and what the element at the loops' indices becomes."""


class _Grid:
    """Writes differences of fields at the loops' indices."""

    def __init__(self, choice: Choice) -> None:
        self.dims, self.reach = int(choice["dims"]), int(choice["reach"])
        self.ahead = choice["stagger"] == "ahead"
        self.swapped = choice["operands"] == "swapped"
        self.indices = "ijk"[: self.dims]

    def at(self, field: str, axis: int = 0, step: int = 0) -> str:
        """A field's element, perhaps `step` points along an axis."""
        return element(field, [plus(i, step * (a == axis)) for a, i in enumerate(self.indices)])

    def slope(self, field: str, axis: int, ahead: bool) -> str:
        """The difference between the points on both sides of a half step along an axis."""
        shift = 1 if ahead else 0
        near = f"{self.at(field, axis, shift)} - {self.at(field, axis, shift - 1)}"
        if self.reach == 1:
            return f"({near})"
        wide = f"{self.at(field, axis, shift + 1)} - {self.at(field, axis, shift - 2)}"
        return f"(1.125 * ({near}) - 0.0417 * ({wide}))"

    def spread(self, field: str) -> str:
        """The sum of second differences along all axes."""
        steps = [s for s in range(-self.reach, self.reach + 1) if s]
        others = [self.at(field, axis, s) for axis in range(self.dims) for s in steps]
        if self.swapped:
            others.reverse()
        return f"({' + '.join(others)} - {len(others)}.0 * {self.at(field)})"


def _waves(choice: Choice, grid: _Grid) -> list[list[Statement]]:
    """Flows along the axes from a pressure's slopes, and the pressure from theirs."""
    flows, material = FLOWS[: grid.dims], choice["material"]

    def speed(value: float, field: str) -> str:
        return f"{value} * {grid.at(field)}" if material == "fields" else str(value)

    def kept(field: str) -> str:
        return f"0.995 * {grid.at(field)}" if material == "damped" else grid.at(field)

    vector = [
        (flow, f"{kept(flow)} - {speed(0.3, 'R')} * {grid.slope('P', axis, grid.ahead)}")
        for axis, flow in enumerate(flows)
    ]
    slopes = [grid.slope(flow, axis, not grid.ahead) for axis, flow in enumerate(flows)]
    if grid.swapped:
        slopes.reverse()
    scalar = [("P", f"{kept('P')} - {speed(0.25, 'S')} * ({' + '.join(slopes)})")]
    return [scalar, vector] if choice["first"] == "scalar" else [vector, scalar]


def _water(choice: Choice, grid: _Grid) -> list[list[Statement]]:
    """Velocities from a height's slopes, fluxes from both, the height from the fluxes."""
    drag = "0.99 * " if choice["material"] == "damped" else ""
    floor = f" + {grid.at('R')}" if choice["material"] == "fields" else ""
    flows, fluxes = FLOWS[: grid.dims], "FGH"[: grid.dims]
    back = 1 if grid.ahead else -1
    velocities, products, slopes = [], [], []
    for axis, (flow, flux) in enumerate(zip(flows, fluxes, strict=True)):
        slope = grid.slope("P", axis, grid.ahead)
        velocities.append((flow, f"{drag}{grid.at(flow)} - 0.1 * {slope}"))
        depth = f"({grid.at('P')} + {grid.at('P', axis, back)}{floor})"
        products.append((flux, f"0.5 * {grid.at(flow)} * {depth}"))
        slopes.append(grid.slope(flux, axis, not grid.ahead))
    if grid.swapped:
        slopes.reverse()
    height = [("P", f"{grid.at('P')} - 0.02 * ({' + '.join(slopes)})")]
    if choice["first"] == "scalar":
        return [products, height, velocities]
    return [velocities, products, height]


def _reaction(choice: Choice, grid: _Grid) -> list[list[Statement]]:
    """Two substances that diffuse and react, by way of new values."""
    kind = choice["material"]
    p, u = grid.at("P"), grid.at("U")
    rate = {"plain": f"0.05 * {p} * {u} * {u}", "damped": f"0.05 * {p} * {u}"}.get(
        kind, f"{grid.at('R')} * 0.05 * {p} * {u}"
    )
    weight = 0.1 / (grid.dims * grid.reach)
    new = [
        ("F", f"{p} + {round(weight, 3)} * {grid.spread('P')} - {rate}"),
        ("G", f"{u} + {round(weight / 2, 3)} * {grid.spread('U')} + {rate} - 0.06 * {u}"),
    ]
    back = [("P", grid.at("F")), ("U", grid.at("G"))]
    return [new[::-1], back[::-1]] if choice["first"] == "scalar" else [new, back]


SYSTEMS = {"waves": _waves, "water": _water, "reaction": _reaction}


def write(choice: Choice) -> Program:
    grid, code = _Grid(choice), Code()
    phases = SYSTEMS[choice["system"]](choice, grid)
    if choice["loops"] == "apart":
        phases = [[statement] for phase in phases for statement in phase]
    used = "".join(value for phase in phases for _, value in phase)
    targets = dict.fromkeys(name for phase in phases for name, _ in phase)
    arrays: dict[str, Sequence[str]] = dict.fromkeys(targets, grid.indices)
    arrays |= {name: grid.indices for name in "RS" if f"{name}[" in used}
    code.loop("t", "n")
    if choice["border"] != "none":
        _border(code, choice, grid, arrays)
    for number, phase in enumerate(phases):
        code.depth = 1
        # Variables of their own: docc 0.8 shares those that several loops use between threads.
        own = {index: f"{index}{number + 1}" for index in grid.indices}
        for index in choice["order"]:
            code.loop(own[index], f"{grid.reach}, {extent(index, arrays)} - {grid.reach}")
        for target, value in phase:
            code.add(_renamed(f"{grid.at(target)} = {value}", own))
    count = sum(map(len, phases))
    return Program(
        arrays=arrays,
        body=code.lines,
        loops=grid.indices,
        cost=0.35 * STEPS * count * (1 + 0.5 * (grid.dims + grid.reach - 2)),
        fixed={"n": STEPS},
        counts=("n",),
    )


def _border(code: Code, choice: Choice, grid: _Grid, arrays: dict[str, Sequence[str]]) -> None:
    """The pressure at the beginning of the first axis: driven from outside, or as next to it."""
    rest = [f"{index}0" for index in grid.indices[1:]]
    if choice["border"] == "driven":
        arrays["f"] = ("n",)
    for axis, index in enumerate(rest, 1):
        code.loop(index, f"P.shape[{axis}]")
    value = "f[t]" if choice["border"] == "driven" else element("P", ["1", *rest])
    code.add(f"{element('P', ['0', *rest])} = {value}")


def _renamed(line: str, own: dict[str, str]) -> str:
    return re.sub(r"\b[ijk]\b", lambda found: own[found.group()], line)


FAMILY = Family(
    name="coupled",
    about="fields that are updated from each other",
    work={
        "dims": ("1", "2", "2", "3"),
        "system": ("waves", "waves", "water", "reaction"),
        "reach": ("1", "1", "2"),
        "stagger": lambda choice: (
            ("back",) if choice["system"] == "reaction" else ("back", "ahead")
        ),
        "material": ("plain", "damped", "fields"),
        "border": ("none", "none", "driven", "mirrored"),
        "first": ("vector", "scalar"),
    },
    writing={
        "loops": ("apart", "joint"),
        "order": lambda choice: orders("ijk"[: int(choice["dims"])]),
        "operands": ("given", "swapped"),
    },
    write=write,
)
