from __future__ import annotations

from loopbook.steps.arguments import MAX_SIZE, Integer, Loop, Threads
from loopbook.steps.base import Step


class Wavefront(Step):
    """Time steps that run at the same time, each some rows behind the one before.

    Before ``wavefront L0 16``, a sweep in place such as Gauss-Seidel's::

        for t: for i: for j: S(t, i, j)

    and after it::

        for tt by 16:                           # L0.tile
            for X:                              # L0.space
                for j:
                    for t in tt … tt + 16: S(t, X - factor*(t - tt), j)

    where the factor is such that rows that meet in one X do not touch each other: the loop over t
    inside is parallel, and runs several of the recurrences over j side by side. With a count and
    rows, so many tiles of time run in parallel threads, each so many rows at a time.
    """

    name = "wavefront"
    textbook = "wavefront method"
    source = "Wolfe, Loop skewing: the wavefront method revisited, IJPP 1986"
    example = "wavefront L0 16"
    makes = ("{time_loop}.tile", "{time_loop}.space", "{time_loop}.wave", "{time_loop}.time")
    reorders = True
    frees = True
    traits = {"time": 3.0, "wavefront": 1.0}

    time_loop = Loop()
    steps = Integer(2, MAX_SIZE)
    at_a_time = Threads(2, MAX_SIZE, optional=True, label="count")
    rows_each = Integer(1, MAX_SIZE, optional=True, label="rows")
