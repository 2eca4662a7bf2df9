"""Finds recipes by measuring."""
