"""How one function is run for one case of arguments: compiled, merged, on copies, as Python.

A case is what a compiled program may depend on (see `loopbook.client.variants.case`). What was
compiled for one case is never run for another.
"""
