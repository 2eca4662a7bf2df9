"""Programs to tune and to measure: workload files, PolyBench, and what docc makes of it."""
