"""Fingerprints: one hash for all nests that differ only by names and element ids."""

from __future__ import annotations

import hashlib

VERSION = 1
"""Raised when the canonical form changes, so that old and new fingerprints never collide."""


def fingerprint(canonical: str) -> str:
    """32 hexadecimal digits (128 bits of SHA-256) of a nest's canonical text."""
    return hashlib.sha256(f"{VERSION}\n{canonical}".encode()).hexdigest()[:32]
