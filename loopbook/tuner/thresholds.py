"""The numbers that decide what is searched, measured and kept.

All were chosen, none was varied by itself: how they do together is in
``benchmarks/results/strategies.md`` (searches) and ``benchmarks/throughput.py`` (candidates a
minute).
"""

from __future__ import annotations

# -- what is searched, and where ----------------------------------------------------------------

WORTH_TUNING = 0.02
"""Nests that take a smaller share of their program's time are left to docc."""

LONG_ENOUGH = 0.004
"""A program is searched at the smallest preset at which docc's own schedule takes this many
seconds."""

TOO_LONG = 20.0
"""A size at which it takes longer than this is not used to confirm."""

REFINE_SECONDS = 45.0
"""Refining measures fewer candidates where they would take longer than this."""

# -- how long a candidate is measured -----------------------------------------------------------

SLOW_REFERENCE = 1.5
"""A prepared program this many times slower than docc's own compile is not run again and again."""

DISTURBED = 1.2
"""A reference that takes more than this many times longer than it ever did was disturbed: that is
not put down to the candidate's merits."""

LOST = 0.6
"""A candidate that cannot be faster than this share of the best one is not measured any further."""

ONE_RUN = 2.0
"""A trusted program that runs for more seconds than this need not do so twice."""

# -- what is kept -------------------------------------------------------------------------------

WORTH_A_TRY = 1.02
"""A recipe with a smaller speedup is not confirmed."""

PLACES = 3
"""Recipes of every nest that are confirmed."""

BETTER = 1.03
"""A recipe has to be this many times faster than another one to be chosen instead of it."""
