"""What results were measured on."""

from __future__ import annotations

import platform
import time

from loopbook.client.hardware import local_profile
from loopbook.toolchain.compiler import find_compiler


def provenance() -> str:
    """This machine, its compiler, Python and the date, as a sentence for a table.

    Raises:
        CompilerError: there is no C++ compiler.
    """
    machine = local_profile(measured=False)
    return (
        f"{machine.cpu}, {machine.isa}, caches {machine.l1d_bytes >> 10} KiB, "
        f"{machine.l2_bytes >> 10} KiB and {machine.l3_bytes >> 20} MiB; "
        f"{find_compiler().version}; Python {platform.python_version()}; "
        f"{time.strftime('%Y-%m-%d')}."
    )
