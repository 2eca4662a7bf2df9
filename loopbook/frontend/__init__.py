"""NumPy as people write it, as explicit loops, which docc translates right and the book knows.

`translated` is the way in; see `loopbook.frontend.lowered.Lowered` for what it gives. It is made by
`lower`, and compared with the function by `check` before anything is compiled. `refusals` lists
what keeps a function from it, `lint` what of that is certain for the functions of a file that is
not run.
"""

from loopbook.frontend.check import check
from loopbook.frontend.lint import lint
from loopbook.frontend.lower import lower, refusals
from loopbook.frontend.lowered import Lowered
from loopbook.frontend.translated import translated

__all__ = ["Lowered", "check", "lint", "lower", "refusals", "translated"]
