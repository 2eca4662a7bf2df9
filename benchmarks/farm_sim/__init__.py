"""A simulation of the whole learning loop: asks, misses, tasks, nodes, records, what they load."""
