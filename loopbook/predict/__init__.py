"""How fast a recipe would make a nest: features of the transformed nest, and the model on them.

Nothing here asks a compiler, and nothing needs more than NumPy: the client ranks recipes with it.
"""
