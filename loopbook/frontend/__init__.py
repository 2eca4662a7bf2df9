"""NumPy as people write it, as explicit loops, which docc translates right and the book knows.

`lower` is the way in; see `loopbook.frontend.lowered.Lowered` for what it gives, and `check` for
how it is compared with the function before it is compiled. `refusals` lists what keeps a function
from it, `lint` what of that is certain for the functions of a file that is not run.
"""

from loopbook.frontend.check import check
from loopbook.frontend.lint import lint
from loopbook.frontend.lower import lower, refusals
from loopbook.frontend.lowered import Lowered

__all__ = ["Lowered", "check", "lint", "lower", "refusals"]
