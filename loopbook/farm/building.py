"""Builders on a cluster's other nodes: a candidate goes to one as a Ray task, and a library comes
back.

Neither is looked at on the way: the first is read in a jail of the node that builds, the second is
loaded in the jail of the node that takes the times.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import ray

from loopbook.errors import JailError
from loopbook.farm.machine import BUILDING, selector_to_build
from loopbook.toolchain.jail import doors
from loopbook.tuner.builders import AWAY_SECONDS, built_elsewhere

MOST = 8
"""Builders elsewhere of one search: one runner times no more than a few candidates a second."""


@contextmanager
def builders_elsewhere(seconds: float = AWAY_SECONDS) -> Iterator[list[int]]:
    """Doors to as many builders as other nodes of the cluster have; to be called in one of its
    tasks.

    Args:
        seconds: that a candidate may take, the wait for a builder included.
    """
    count = min(int(ray.cluster_resources().get(BUILDING, 0)), MOST)
    build = ray.remote(max_retries=0, num_cpus=0)(_build).options(
        resources={BUILDING: 1}, label_selector=selector_to_build()
    )

    def serve(request: bytes) -> bytes | None:
        handle = build.remote(request, seconds)
        try:
            return ray.get(handle, timeout=seconds)
        # A node that died or is not there, in Ray's own classes, or Ray that ends: built here.
        except (Exception, SystemExit):
            if ray.is_initialized():
                ray.cancel(handle)
            return None

    with doors.opened(count, serve) as descriptors:
        yield descriptors


def _build(request: bytes, seconds: float) -> bytes | None:
    try:
        return built_elsewhere(request, seconds=seconds)
    except JailError:
        return None
