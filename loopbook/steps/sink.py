from __future__ import annotations

from loopbook.steps.arguments import MAX_SIZE, Loop, VectorSize
from loopbook.steps.base import Step


class Sink(Step):
    """A parallel loop in strips, inside the loops that it held.

    Before ``sink L0 8``::

        for i: S1; for j: S2; S3

    and after it; strips are ``L0``, ``L0.part``…, what is left of ``i`` runs as before::

        for ii by 8:                            # L0.tile
            for i in ii … ii + 8: S1
            for j:
                for i in ii … ii + 8: S2
            for i in ii … ii + 8: S3
        for i …: S1; for j: S2; S3              # L0.rest

    Strips can be vectorised where i is contiguous in memory, or unrolled, so that several
    recurrences over j run at the same time. Scalars that carry values from one strip to the next
    become arrays of a strip's length.
    """

    name = "sink"
    textbook = "strip mining, distribution and interchange with scalar expansion"
    source = "Allen and Kennedy, Optimizing Compilers for Modern Architectures, 2001, chapter 5"
    example = "sink L0 8"
    makes = ("{loop}.tile", "{loop}.part", "*.rest")
    reorders = True
    traits = {"sink": 3.0}

    loop = Loop()
    size = VectorSize(2, MAX_SIZE)
