"""Compilers and processes: clang and its linker, children with limits, jails, timers. Nothing here
imports docc, nor knows what is compiled.
"""
