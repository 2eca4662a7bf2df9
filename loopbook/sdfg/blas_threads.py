"""How many threads a BLAS may use in a compiled program: as many as the program's target.

OpenBLAS takes all processors unless somebody tells it otherwise, for the whole process. So the
program does as long as it runs, and puts back what was. Another BLAS is left as it is.
"""

from __future__ import annotations

import re

from loopbook.targets import named

_TOLD = """\
extern "C" {
__attribute__((weak)) void openblas_set_num_threads(int);
__attribute__((weak)) int openblas_get_num_threads(void);
}
%sstruct loopbook_blas_threads {
    int before = openblas_get_num_threads ? openblas_get_num_threads() : 0;
    explicit loopbook_blas_threads(int wanted) {
        if (openblas_set_num_threads && before != wanted) openblas_set_num_threads(wanted);
    }
    ~loopbook_blas_threads() {
        if (openblas_set_num_threads) openblas_set_num_threads(before);
    }
};
"""

OPENING = re.compile(r"^extern \"C\" [^;{]*\)\n\{\n", re.MULTILINE)
"""What the function that a program is begins with."""


def with_blas_threads(code: str, target: str) -> str:
    """C++ that calls a BLAS with the target's threads; itself if it calls none."""
    found = OPENING.search(code)
    if "cblas_" not in code or found is None:
        return code
    parallel = named(target).parallel
    wanted = "omp_get_max_threads()" if parallel else "1"
    said = _TOLD % ("#include <omp.h>\n" if parallel else "")
    inside = f"    loopbook_blas_threads loopbook_threads({wanted});\n"
    return code[: found.start()] + said + found[0] + inside + code[found.end() :]
