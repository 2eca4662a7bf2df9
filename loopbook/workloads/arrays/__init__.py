"""NumPy-style programs, made at random: chains of 2 to 10 array statements, no two alike."""

from loopbook.workloads.arrays.generate import ArrayProgram, generate

__all__ = ["ArrayProgram", "generate"]
