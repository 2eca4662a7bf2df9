"""Books that tests of this room look up in."""

from __future__ import annotations

import pytest
from client_kit import blocked, layered, product, record

from loopbook.client.layered import LayeredBook


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> LayeredBook:
    """One good record of the product."""
    return layered(tmp_path_factory.mktemp("good"), record(product, blocked()))
