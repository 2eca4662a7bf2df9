"""Measuring the machine: plausible figures, and clear errors where that is not possible."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from loopbook.errors import CompilerError, KernelError
from loopbook.recipes import hardware
from loopbook.recipes import measure as measuring
from loopbook.recipes.measure import measure

COMPILER = next((found for n in range(25, 16, -1) if (found := shutil.which(f"clang++-{n}"))), None)


@pytest.mark.skipif(COMPILER is None, reason="no clang++ of version 17 or newer")
def test_figures_are_filled_in_and_nothing_else_changes(monkeypatch):
    monkeypatch.setattr(measuring, "_RUN_LIMIT_S", 300.0)
    before = hardware.read()
    after = measure(before, Path(str(COMPILER)))
    assert after.peak_gflops > 0.1
    assert after.bandwidth_gbs > 0.1
    assert after.key == before.key
    assert before.peak_gflops == 0


def test_no_compiler_is_one_clear_line(tmp_path):
    with pytest.raises(CompilerError, match="can't be run: No such file"):
        measure(hardware.read(), tmp_path / "clang++")


def test_a_compiler_that_refuses_is_one_clear_line(tmp_path):
    compiler = tmp_path / "clang++"
    compiler.write_text("#!/bin/sh\necho 'error: no OpenMP here' >&2\necho more >&2\nexit 1\n")
    compiler.chmod(0o755)
    with pytest.raises(CompilerError, match=r"measuring kernels: error: no OpenMP here$"):
        measure(hardware.read(), compiler)


def test_a_kernel_that_crashes_is_one_clear_line(tmp_path):
    compiler = tmp_path / "clang++"
    compiler.write_text(
        "#!/bin/sh\nfor last; do :; done\n"
        "printf '#!/bin/sh\\nkill -SEGV $$\\n' > $last\nchmod +x $last\n"
    )
    compiler.chmod(0o755)
    with pytest.raises(KernelError, match="measuring the machine failed: exit code -11"):
        measure(hardware.read(), compiler)
