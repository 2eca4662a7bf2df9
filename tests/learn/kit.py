"""Made-up measurements for the tests of learning: what is fast follows a simple rule."""

from __future__ import annotations

import math

import numpy as np
from client_kit import nests_of, product, product_transposed, stencil

from loopbook.learn.examples import Example, Examples, Source
from loopbook.recipes import HardwareProfile

MACHINE = HardwareProfile("a CPU", "avx512", 512, 2, 1, 32 << 10, 1 << 20, 32 << 20)

KERNELS = {"product": product, "transposed": product_transposed, "stencil": stencil}


def examples(count: int = 240) -> Examples:
    """Tiles of 2 to 256 for three kernels: the nearer to 32, the faster; half of them ported."""
    nests = {name: nests_of(kernel)[0] for name, kernel in KERNELS.items()}
    rng = np.random.default_rng(0)
    sources = {
        f"r-{name}": Source(
            f"r-{name}", f"donor-{name}", nest.fingerprint, MACHINE.key, "sequential",
            "tile L0 32", 4.0, {"L0": 500, "L1": 500, "L2": 500},
        )
        for name, nest in nests.items()
    }  # fmt: skip
    listed = []
    for number in range(count):
        name = list(KERNELS)[number % 3]
        size = int(2 ** rng.integers(1, 9))
        ported = number % 2 == 0
        listed.append(
            Example(
                program=f"{name}.{number % 10}",
                family=f"{name}{number % 10}",
                fingerprint=nests[name].fingerprint,
                target="sequential",
                hardware=MACHINE.key,
                trips={"L0": 500, "L1": 500, "L2": 500},
                steps=f"tile L0 {size}\n",
                gain=2.0 - abs(math.log2(size) - 5) + 0.05 * rng.normal(),
                best=2.0,
                baseline_s=1e-3,
                donor=f"r-{list(KERNELS)[(number + number // 3) % 3]}" if ported else "",
            )
        )
    return Examples(
        listed, {n.fingerprint: n for n in nests.values()}, {MACHINE.key: MACHINE}, sources
    )
