"""Settings that all tests share."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# Compiles and forks share the machine with whatever else runs: no test fails for being slow.
settings.register_profile("loopbook", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("loopbook")
