"""Kinds of vector index behind one interface, :class:`~loopbook.recipes.indexes.kind.Kind`.

Which one a book gets is decided by its size in :mod:`~loopbook.recipes.indexes.choice`, which also
says what was measured.
"""
