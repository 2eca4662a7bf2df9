"""The only code that imports docc: compiler, parse, prepare, apply, compile, run."""

from loopbook.sdfg import traces

traces.shorten()  # before anything imports docc
