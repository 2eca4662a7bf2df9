"""The sizes that a farm measures at: small enough to search at, and those that were asked for."""

from __future__ import annotations

import pytest
from client_kit import product
from farm_kit import to_tune

from loopbook.farm.carry import read
from loopbook.farm.machine import Machine
from loopbook.farm.order import Order, _sizes
from loopbook.program.trips import iterations, trip_counts
from loopbook.recipes.hardware import HardwareProfile

HERE = HardwareProfile(isa="avx2")


@pytest.mark.parametrize(
    ("asked", "smaller"),
    [(24, []), (200, [2e6]), (400, [2e6, 2e7]), (2000, [2e6, 2e7, 1e9])],
)
def test_sizes_that_take_long_come_with_smaller_ones(asked, smaller):
    wanted = to_tune(product, Machine("here", {"sequential": HERE}))
    document, nest = wanted.wanted.document, read(wanted.wanted.document)
    sizes = {str(name): int(asked) for name in wanted.wanted.sizes}
    order = Order(document, nest.fingerprint, "sequential", [sizes], HERE.to_json(), [], 1, 0)
    *others, last = _sizes(order, document)
    assert last == sizes, "what was asked for is always there"
    often = [iterations(nest, trip_counts(nest, one)) for one in others]
    assert often == [pytest.approx(few, rel=0.05) for few in smaller]
