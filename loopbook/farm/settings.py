"""How a farm works, in one place."""

from __future__ import annotations

from dataclasses import dataclass

AWAY_S = 5.0
"""Between two tries to reach a database that does not answer."""


@dataclass(frozen=True)
class FarmSettings:
    """How tasks are done.

    Attributes:
        trials: candidates to measure for each nest.
        seed: of the searches.
        builders: processes that compile while one takes times; 0 is one a core.
        search_s: what a search may take, jail and all; one that takes longer is given up.
        lease_s: how long a worker that has fallen silent keeps its task. While it lives, it extends
            its lease three times as often.
        pause_s: before a task that has failed is tried again; four times as long after each further
            failure.
        poll_s: between two looks at a queue that had nothing to do.
        orphan_s: how long a task waits that no machine of the farm can take before it is given up.
    """

    trials: int = 24
    seed: int = 0
    builders: int = 0
    search_s: float = 900.0
    lease_s: float = 60.0
    pause_s: float = 30.0
    poll_s: float = 0.5
    orphan_s: float = 7 * 86400.0
