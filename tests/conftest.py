"""Settings that all tests share."""

from __future__ import annotations

from hypothesis import settings

# Compiles and forks share the machine with whatever else runs: no test fails for being slow.
settings.register_profile("loopbook", deadline=None)
settings.load_profile("loopbook")
