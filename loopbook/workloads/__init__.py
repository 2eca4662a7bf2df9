"""Programs to tune and to measure: workload files, PolyBench, synthetic ones, and what docc makes
of them."""
