"""The systems that ``benchmarks/peers.py`` compares, each behind the interface of ``base``."""
