"""Array programs of what docc's front end reads, made at random: chains of statements with
temporaries, slices, products with vectors, updates in place, loops over rows and over time."""

from __future__ import annotations

import random
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np

MATRICES, VECTORS = ("A", "B", "C"), ("x", "y")


class _Maker:
    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._matrices, self._vectors = list(MATRICES), list(VECTORS)
        self._count = 0
        self.lines: list[str] = []

    def program(self) -> str:
        for _ in range(self._random.randint(3, 8)):
            self._random.choice(
                (
                    self._temporary,
                    self._temporary,
                    self._stored,
                    self._shifted,
                    self._stencil,
                    self._product,
                    self._product,
                    self._vector,
                    self._rows,
                    self._steps,
                    self._chosen,
                )
            )()
        body = textwrap.indent("\n".join(self.lines), "    ")
        return f"def kernel(A, B, C, x, y, s):\n{body}\n"

    def _any(self, names: list[str]) -> str:
        return self._random.choice(names)

    def _new(self, names: list[str]) -> str:
        self._count += 1
        names.append(f"t{self._count}")
        return names[-1]

    def _say(self, line: str) -> None:
        self.lines.append(line)

    def _value(self, names: list[str]) -> str:
        one, two = self._any(names), self._any(names)
        number = self._random.choice(("s", "2.0", "0.5"))
        return self._random.choice(
            (f"{number} * {one} + {two}", f"{one} - {two}", f"{one} * {two}", f"{number} * {one}")
        )

    def _temporary(self) -> None:
        value = self._value(self._matrices)
        self._say(f"{self._new(self._matrices)} = {value}")

    def _stored(self) -> None:
        self._say(f"{self._any(list(MATRICES))}[:] = {self._value(self._matrices)}")

    def _shifted(self) -> None:
        name, out = self._any(self._matrices), self._any(list(MATRICES))
        self._say(f"{out}[1:, :] = {name}[:-1, :] * 0.5 + {name}[1:, :]")

    def _stencil(self) -> None:
        name, out = self._any(self._matrices), self._any(list(MATRICES))
        self._say(
            f"{out}[1:-1, 1:-1] = 0.2 * ({name}[1:-1, 1:-1] + {name}[1:-1, :-2] + "
            f"{name}[1:-1, 2:] + {name}[2:, 1:-1] + {name}[:-2, 1:-1])"
        )

    def _product(self) -> None:
        matrix, vector = self._any(self._matrices), self._any(self._vectors)
        value = self._random.choice((f"{matrix} @ {vector}", f"s * {matrix} @ {vector}"))
        if self._random.random() < 0.5:
            self._say(f"{self._any(list(VECTORS))}[:] = {value}")
        else:
            self._say(f"{self._new(self._vectors)} = {value}")

    def _vector(self) -> None:
        value = self._value(self._vectors)
        if self._random.random() < 0.5:
            self._say(f"{self._any(list(VECTORS))}[:] = {value}")
        else:
            self._say(f"{self._new(self._vectors)} = {value}")

    def _rows(self) -> None:
        out, name = self._any(list(MATRICES)), self._any(self._matrices)
        step = self._random.choice(
            (
                f"{out}[i, :i] *= s",
                f"{out}[i, :i + 1] += 0.1 * {name}[i, :i + 1]",
                f"{out}[i, :] = {name}[i, :] * 0.5 + {out}[i, :]",
                f"{out}[i, :i + 1] += s * {name}[:i + 1, 1]",
            )
        )
        self._say(f"for i in range({out}.shape[0]):\n    {step}")

    def _steps(self) -> None:
        out, name = self._any(list(MATRICES)), self._any(list(MATRICES))
        self._say(
            f"for t in range(3):\n"
            f"    {out}[1:-1, :] = 0.5 * ({name}[:-2, :] + {name}[2:, :])\n"
            f"    {name}[:, 1:-1] = 0.3 * ({out}[:, :-2] + {out}[:, 2:])"
        )

    def _chosen(self) -> None:
        one, two = self._any(self._matrices), self._any(self._matrices)
        made = f"np.maximum({one}, {two} * 0.5)"
        if self._random.random() < 0.5:
            made = f"np.where({one} > 0.3, {two}, {one} * 0.5)"
        self._say(f"{self._new(self._matrices)} = {made}")


def source_of(seed: int) -> str:
    """The program of a seed, a function of three square matrices, two vectors and a number."""
    maker = _Maker(seed)
    text = maker.program()
    made = [line.split(" = ")[0] for line in maker.lines if line.startswith("t")]
    result = random.Random(seed).choice([*made[-2:], "x * 2.0"])
    return f"{text}    return {result}\n"


def function_of(source: str, folder: Any) -> Callable[..., Any]:
    """The function, from a file: docc reads the source of what it compiles."""
    from importlib.util import module_from_spec, spec_from_file_location

    file = folder / "program.py"
    file.write_text(f"import numpy as np\n\n\n{source}")
    spec = spec_from_file_location("program", file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.kernel


def arguments_of(n: int, seed: int) -> list[Any]:
    """Fresh arguments of a size."""
    made = np.random.default_rng(seed)
    matrices = [made.uniform(-1, 1, (n, n)) for _ in MATRICES]
    return [*matrices, *(made.uniform(-1, 1, n) for _ in VECTORS), 0.7]
