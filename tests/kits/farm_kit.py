"""Nests to tune, for the tests of the farm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from client_kit import text_of

from loopbook.farm.machine import Machine
from loopbook.program.load import load_json
from loopbook.recipes.tasks import REEMBED, TUNE, Ask, Wanted
from loopbook.sdfg.program import cut_from, prepare_apart
from loopbook.sdfg.untrusted import admit

SIZE = 24


def to_tune(kernel: Callable[..., Any], machine: Machine, target: str = "sequential") -> Ask:
    """A task to tune the first nest of a function on a machine, as servers ask for it."""
    text, (nest, *_) = prepare_apart(admit(text_of(kernel)).text)
    wanted = Wanted(cut_from(load_json(text), nest), dict.fromkeys(nest.symbols, SIZE))
    return Ask(TUNE, nest.fingerprint, target, machine.profiles[target].key, "", 1, wanted)


def to_embed(fingerprint: str, encoder: str) -> Ask:
    """A task to make the vectors of a nest."""
    return Ask(REEMBED, fingerprint, "", "", encoder)
