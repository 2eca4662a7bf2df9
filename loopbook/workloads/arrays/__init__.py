"""NumPy-style programs, made at random: chains of 2 to 10 array statements, no two alike.

`generate` makes the program of a seed, `load` the workload of a name, `draw` workloads to tune.
"""

from loopbook.workloads.arrays.generate import ArrayProgram, generate
from loopbook.workloads.arrays.suite import PRESETS, draw, load

__all__ = ["PRESETS", "ArrayProgram", "draw", "generate", "load"]
