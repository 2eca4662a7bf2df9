"""NPBench's programs, unchanged, through docc, loopbook and others: `benchmarks/npbench.py`."""
